// Verifier rules of writers' ops.
#include "dialect/tile/Tile.h"

using namespace mlir;
using namespace mlir::tile;

LogicalResult AppendOp::verify() {
  int64_t elements = getElements(), width = 0;
  if (elements != 4 && elements != 8 && elements != 16)
    return emitOpError() << "gives a thread " << elements << " elements; 4, 8 or 16 [append-elements]";
  for (Value source : getSources()) {
    auto type = cast<mla::BufferType>(source.getType());
    if (type.getWidth() % elements)
      return emitOpError() << "has a source " << type.getWidth() << " wide, which is no multiple of " << elements
                           << " elements [append-width]";
    if (!getRounded() && (type.getElementType() != getCache().getType().getElementType() || getDivisor()))
      return emitOpError() << "copies " << type << " to a cache of " << getCache().getType().getElementType()
                           << "; what is divided or of another type is rounded [append-storage]";
    width += type.getWidth();
  }
  if (width != getCache().getType().getWidth())
    return emitOpError() << "writes rows of " << width << " to a cache of " << getCache().getType().getWidth()
                         << " [append-width]";
  return success();
}

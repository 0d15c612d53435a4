// Verifier rules of writers' ops.
#include "dialect/mla/MLA.h"

using namespace mlir;
using namespace mlir::mla;

static ArrayRef<int64_t> shapeOf(Type type) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return buffer.getShape();
  return cast<RowsType>(type).getShape();
}

static Type elementOf(Type type) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return buffer.getElementType();
  return cast<RowsType>(type).getElementType();
}

LogicalResult ConcatOp::verify() {
  ArrayRef<int64_t> left = shapeOf(getLeft().getType()), right = shapeOf(getRight().getType());
  if (left.size() != 1 || right.size() != 1)
    return emitOpError() << "joins rows with heads [concat-rows]";
  Type element = elementOf(getLeft().getType());
  if (element != elementOf(getRight().getType()))
    element = Float32Type::get(getContext());
  if (getResult().getType() != RowsType::get(getContext(), {left[0] + right[0]}, element))
    return emitOpError() << "must give " << element << " rows of " << left[0] + right[0] << " [concat-rows]";
  return success();
}

LogicalResult DivideOp::verify() {
  Type f32 = Float32Type::get(getContext());
  if (getResult().getType() != RowsType::get(getContext(), shapeOf(getSource().getType()), f32))
    return emitOpError() << "must give f32 rows of its source's shape [divide-rows]";
  return success();
}

LogicalResult QuantOp::verify() {
  if (getResult().getType().getShape() != shapeOf(getSource().getType()))
    return emitOpError() << "changes the row's shape [quant-shape]";
  return success();
}

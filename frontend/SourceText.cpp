// Line table and encoding check.
#include "frontend/SourceText.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/ConvertUTF.h"

#include <algorithm>

using namespace llvm;
using namespace mlac;

SourceText::SourceText(StringRef text, StringRef name, mlir::MLIRContext *context)
    : contents(text), file(mlir::StringAttr::get(context, name)), lineStarts{0} {
  for (size_t at = text.find('\n'); at != StringRef::npos; at = text.find('\n', at + 1))
    lineStarts.push_back(at + 1);
}

mlir::Location SourceText::locate(SMLoc position) const {
  size_t offset = position.getPointer() - contents.data();
  auto next = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
  size_t line = next - lineStarts.begin();
  return mlir::FileLineColLoc::get(file, line, offset - lineStarts[line - 1] + 1);
}

std::optional<SMLoc> SourceText::firstBadByte() const {
  const auto *at = reinterpret_cast<const UTF8 *>(contents.data()), *end = at + contents.size();
  while (at != end) {
    unsigned length = getNumBytesForUTF8(*at);
    if (*at == 0 || length > size_t(end - at) || !isLegalUTF8Sequence(at, end))
      return SMLoc::getFromPointer(reinterpret_cast<const char *>(at));
    at += length;
  }
  return std::nullopt;
}

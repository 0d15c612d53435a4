// The text of one source file and its positions.
#pragma once

#include "mlir/IR/Location.h"
#include "llvm/Support/SMLoc.h"

#include <optional>
#include <vector>

namespace mlac {

/// Maps pointers into the text to line and column. Lines are found once, so that a position costs a binary
/// search even in a file that is one line of 10 MB.
class SourceText {
public:
  SourceText(llvm::StringRef text, llvm::StringRef name, mlir::MLIRContext *context);

  llvm::StringRef text() const { return contents; }

  /// The MLIR location of a position; columns count bytes from 1.
  mlir::Location locate(llvm::SMLoc position) const;

  /// First position that is not UTF-8 text: a NUL byte or an ill-formed sequence.
  std::optional<llvm::SMLoc> firstBadByte() const;

private:
  llvm::StringRef contents;
  mlir::StringAttr file;
  std::vector<size_t> lineStarts;
};

} // namespace mlac

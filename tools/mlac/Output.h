// Writing a command's output.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace mlac {

/// Writes all of `contents` to the file, or nothing: a temporary file is renamed once it is complete. `-` is
/// standard output. Prints an error and returns false if it cannot.
bool writeOutput(llvm::StringRef path, llvm::StringRef contents);

} // namespace mlac

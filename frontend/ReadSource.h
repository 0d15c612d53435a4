// Reading a source file, or standard input.
#pragma once

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"

namespace mlac {

/// All of a file's text (`-` is standard input); an error says why it cannot be read. Reads no more than the
/// largest source, so that a stream without an end is an error, too.
llvm::Expected<llvm::SmallString<0>> readSource(llvm::StringRef path);

} // namespace mlac

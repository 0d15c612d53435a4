// "did you mean": the known name closest to an unknown one.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace mlac {

/// The candidate that `name` is probably a slip of, if one is close enough.
std::optional<llvm::StringRef> closestName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

/// `a, b or c`; for messages that list what is possible.
std::string listNames(llvm::ArrayRef<llvm::StringRef> names);

/// The way out for an unknown name: the closest candidate, or all of them.
std::string suggestName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace mlac

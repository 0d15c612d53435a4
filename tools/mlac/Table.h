// Text in columns.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace mlac {

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows{};

  /// Columns as wide as they need, two spaces apart, without spaces at line ends.
  void print(llvm::raw_ostream &os) const;
};

} // namespace mlac

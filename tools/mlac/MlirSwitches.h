// MLIR's own command-line switches.
#pragma once

#include <string>
#include <vector>

namespace mlac {

/// Registers and applies MLIR's switches (printing, timing, crash reproducers); to be called before a context
/// is made. A pass manager takes them up with mlir::applyPassManagerCLOptions and
/// mlir::applyDefaultTimingPassManagerCLOptions. Prints an error and returns false if one is malformed.
bool applyMlirSwitches(const std::vector<std::string> &switches);

} // namespace mlac

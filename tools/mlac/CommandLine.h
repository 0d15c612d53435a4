// argv to a Command.
#pragma once

#include "tools/mlac/Options.h"

#include <variant>

namespace mlac {

/// Exit status of a command line that makes no sense; that of a program that does not compile is 1.
inline constexpr int kUsageError = 2;

/// The command, or the status to exit with: help and version were printed, or what is wrong.
std::variant<Command, int> parseCommandLine(int argc, char **argv);

} // namespace mlac

// argv to a Command.
#pragma once

#include "tools/mlac/Options.h"

#include <variant>

namespace mlac {

/// The command, or the status to exit with: help and version were printed, or what is wrong.
std::variant<Command, int> parseCommandLine(int argc, char **argv);

} // namespace mlac

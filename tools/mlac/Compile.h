// The stages of `mlac compile`, for the commands that need their output.
#pragma once

#include "codegen/Compiler.h"
#include "tools/mlac/Options.h"
#include "tools/mlac/Session.h"

namespace mlac {

/// The compiler's options from the command's; MLIR's own switches apply to every pass manager.
CompilerOptions compilerOptions(Session &session, const TargetNames &target, const DeploymentOptions &deployment);

/// Sets whose tuned schedules are taken: `tuned` is a device's name, `here`, or empty. False after an error, which was printed.
bool resolveTuned(const std::string &tuned, CompilerOptions &options);

/// The program at the level asked for, as text (cubin: as bytes); empty after errors, which were printed.
std::optional<std::string> compile(Session &session, const CompileOptions &options);

} // namespace mlac

// Target, profile and PTX version as users name them, resolved against the target model with located errors.
#pragma once

#include "codegen/Target.h"
#include "mlir/IR/Location.h"

namespace mlac {

struct TargetChoice {
  Target target;
  Profile profile;
  int ptx;
};

/// Empty `profile` and `ptx` mean the target's own profile and the lowest PTX version that it takes.
mlir::FailureOr<TargetChoice> resolveTarget(mlir::Location loc, llvm::StringRef target, llvm::StringRef profile,
                                            llvm::StringRef ptx);

} // namespace mlac

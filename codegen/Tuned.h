// Schedules that `mlac tune --save` stored, for kernels that are about to be scheduled.
#pragma once

#include "dialect/tile/Tile.h"
#include "passes/TargetOptions.h"
#include "runtime/cache/TunedStore.h"

namespace mlac {

/// The key of an unscheduled kernel: its IR without names and locations, so that renaming changes nothing and
/// any other edit does.
mla::TunedKey tunedKey(mlir::tile::KernelOp kernel, const TargetChoice &choice, llvm::StringRef device);

/// Gives every kernel that has a record the attribute `tile.tuned`; a warning tells of those that have none
/// [schedule-tuned]. An empty `directory` is the default cache.
void takeTuned(mlir::ModuleOp module, const TargetChoice &choice, llvm::StringRef device,
               llvm::StringRef directory = "");

} // namespace mlac

// The foreign dialects that the buffer cast analysis understands.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace mlac {

/// Registers func, memref, tensor, linalg, arith, math, scf, cf, affine, vector, gpu, bufferization and ub.
void registerForeignDialects(mlir::DialectRegistry &registry);

} // namespace mlac

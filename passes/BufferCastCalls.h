// Who calls whom: the edges along which buffers pass between functions.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

namespace mlac {

/// The calls of a module that can be resolved in it: func.call and everything else with MLIR's call
/// interface, and gpu.launch_func.
class BufferCastCalls {
public:
  explicit BufferCastCalls(mlir::ModuleOp module);

  /// The function with a body that the op calls; null if it calls none or one that is only declared.
  mlir::FunctionOpInterface callee(mlir::Operation *call) const;
  llvm::ArrayRef<mlir::Operation *> callers(mlir::Operation *function) const;

  /// What the call hands to the function's arguments, in their order.
  static mlir::OperandRange arguments(mlir::Operation *call);

private:
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> callees;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 2>> callSites;
};

} // namespace mlac

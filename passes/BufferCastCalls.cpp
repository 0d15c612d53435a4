// The call edges of a module.
#include "passes/BufferCastCalls.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;

namespace mlac {

/// The op that the call names, with or without a body; null if it names none.
static Operation *resolve(Operation *call, SymbolTableCollection &symbols) {
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(call))
    return symbols.lookupNearestSymbolFrom(call, launch.getKernelAttr());
  auto interface = dyn_cast<CallOpInterface>(call);
  return interface ? interface.resolveCallableInTable(&symbols) : nullptr;
}

BufferCastCalls::BufferCastCalls(ModuleOp module) {
  SymbolTableCollection symbols;
  module.walk([&](Operation *op) {
    auto function = dyn_cast_or_null<FunctionOpInterface>(resolve(op, symbols));
    if (!function || function.isExternal() || function.getNumArguments() < arguments(op).size())
      return;
    callees[op] = function;
    callSites[function].push_back(op);
  });
}

FunctionOpInterface BufferCastCalls::callee(Operation *call) const {
  return cast_or_null<FunctionOpInterface>(callees.lookup(call));
}

ArrayRef<Operation *> BufferCastCalls::callers(Operation *function) const {
  auto found = callSites.find(function);
  return found == callSites.end() ? ArrayRef<Operation *>() : ArrayRef<Operation *>(found->second);
}

OperandRange BufferCastCalls::arguments(Operation *call) {
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(call))
    return launch.getKernelOperands();
  return cast<CallOpInterface>(call).getArgOperands();
}

} // namespace mlac

// MLIR's LLVM dialect to LLVM IR, and LLVM's optimiser.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace mlac {

/// Null after diagnostics.
std::unique_ptr<llvm::Module> translateToLLVM(mlir::ModuleOp module, llvm::LLVMContext &context);

/// LLVM's default pipeline at -O3 for this machine.
void optimise(llvm::Module &module, llvm::TargetMachine *machine);

} // namespace mlac

// The MLIR context and the source of one command, with its diagnostics on standard error.
#pragma once

#include "frontend/DiagnosticPrinter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "tools/mlac/Options.h"
#include "llvm/Support/SourceMgr.h"

namespace mlac {

struct Session {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  llvm::SourceMgr sources;
  DiagnosticPrinter printer;

  Session();

  /// The program as mla IR; null after errors.
  mlir::OwningOpRef<mlir::ModuleOp> load(const SourceOptions &options);
};

/// Keeps the kernel of this name alone (all, if the name is empty); an error names those there are.
mlir::LogicalResult selectKernel(mlir::ModuleOp module, llvm::StringRef name);

/// Keeps one kernel and gives its name: that of this name, or if the name is empty the only one; an error names those there are.
mlir::FailureOr<std::string> chooseKernel(mlir::ModuleOp module, llvm::StringRef name);

} // namespace mlac

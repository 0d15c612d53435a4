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

/// A program of one kernel.
struct LoadedKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string name;
};

/// Loads a program and keeps one kernel: that of this name, or if the name is empty the only one; an error names those there are.
/// Nothing after errors.
std::optional<LoadedKernel> loadKernel(Session &session, const SourceOptions &options, llvm::StringRef name);

} // namespace mlac

// Prints diagnostics as `file:line:column: error: ...` with the source excerpt and a caret.
#pragma once

#include "mlir/IR/Diagnostics.h"

namespace mlac {

/// Installed for its lifetime. Prints excerpts with llvm::SourceMgr, except those of lines that are too long
/// to read or would control the terminal.
class DiagnosticPrinter : public mlir::SourceMgrDiagnosticHandler {
public:
  static constexpr size_t kLongestExcerpt = 300;

  DiagnosticPrinter(llvm::SourceMgr &sources, mlir::MLIRContext *context, llvm::raw_ostream &os);

  /// Whether remarks, such as the schedule that was chosen, are printed.
  bool showsRemarks = false;

private:
  void print(mlir::Diagnostic &diagnostic);
  void print(mlir::Diagnostic &diagnostic, bool wantsExcerpt);
  bool hasReadableLine(mlir::Location location);
};

} // namespace mlac

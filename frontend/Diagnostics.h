// Errors and warnings of the frontend: a rule id in each, notes at the second culprit, and the way out.
#pragma once

#include "frontend/SourceText.h"
#include "mlir/IR/Diagnostics.h"

namespace mlac {

/// One diagnostic in the making; emitted when it goes out of scope. Silent if the limit on errors is reached.
class Report {
public:
  Report(const SourceText &source, std::optional<mlir::InFlightDiagnostic> diagnostic)
      : source(source), diagnostic(std::move(diagnostic)) {}

  /// Points at a second culprit, such as the declaration.
  Report &note(llvm::SMLoc position, const llvm::Twine &message);

  /// Says how the program is to be written instead.
  Report &fix(const llvm::Twine &message);

private:
  const SourceText &source;
  std::optional<mlir::InFlightDiagnostic> diagnostic; // empty beyond the limit
};

/// Reports through MLIR's diagnostic engine and counts.
class Diagnostics {
public:
  static constexpr unsigned kErrorLimit = 20;

  Diagnostics(const SourceText &source, mlir::MLIRContext *context) : source(source), context(context) {}

  /// `message [rule]` at a position.
  Report error(llvm::SMLoc position, llvm::StringRef rule, const llvm::Twine &message);
  Report warning(llvm::SMLoc position, llvm::StringRef rule, const llvm::Twine &message);

  /// `message [rule]` without a position, for what is wrong outside the text.
  Report error(llvm::StringRef rule, const llvm::Twine &message);

  /// While one lives, errors note the call.
  class InCall {
  public:
    InCall(Diagnostics &diagnostics, llvm::SMLoc call, llvm::StringRef name) : diagnostics(diagnostics) {
      diagnostics.calls.push_back({call, name});
    }
    ~InCall() { diagnostics.calls.pop_back(); }
    InCall(const InCall &) = delete;

  private:
    Diagnostics &diagnostics;
  };

  /// Reported so far.
  unsigned count() const { return errors; }

  bool hasErrors() const { return errors > 0; }

  /// True once no further error will be shown: it is then no use to go on.
  bool full() const { return errors > kErrorLimit; }

private:
  Report errorAt(mlir::Location location, llvm::StringRef rule, const llvm::Twine &message);

  const SourceText &source;
  mlir::MLIRContext *context;
  unsigned errors = 0;
  llvm::SmallVector<std::pair<llvm::SMLoc, llvm::StringRef>> calls; // the innermost last
};

} // namespace mlac

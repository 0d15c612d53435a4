// Reports with rule ids, and the limit on errors.
#include "frontend/Diagnostics.h"

using namespace llvm;
using namespace mlac;

Report &Report::note(SMLoc position, const Twine &message) {
  if (diagnostic)
    diagnostic->attachNote(source.locate(position)) << message;
  return *this;
}

Report &Report::fix(const Twine &message) {
  // At the diagnostic's own position, so that the excerpt is not printed again.
  if (diagnostic)
    diagnostic->attachNote(diagnostic->getUnderlyingDiagnostic()->getLocation()) << message;
  return *this;
}

Report Diagnostics::error(SMLoc position, StringRef rule, const Twine &message) {
  return errorAt(source.locate(position), rule, message);
}

Report Diagnostics::error(StringRef rule, const Twine &message) {
  return errorAt(mlir::UnknownLoc::get(context), rule, message);
}

Report Diagnostics::warning(SMLoc position, StringRef rule, const Twine &message) {
  return Report(source, mlir::emitWarning(source.locate(position)) << message << " [" << rule << "]");
}

Report Diagnostics::errorAt(mlir::Location location, StringRef rule, const Twine &message) {
  ++errors;
  if (errors <= kErrorLimit) {
    Report report(source, mlir::emitError(location) << message << " [" << rule << "]");
    for (auto [call, name] : llvm::reverse(calls))
      report.note(call, "in this call of '" + name + "'");
    return report;
  }
  if (errors == kErrorLimit + 1)
    mlir::emitError(mlir::UnknownLoc::get(context))
        << "too many errors; only the first " << kErrorLimit << " are shown";
  return Report(source, std::nullopt);
}

// `mlac compile`: source to any level.
#include "tools/mlac/Compile.h"

#include "tools/mlac/Commands.h"
#include "tools/mlac/MlirSwitches.h"
#include "tools/mlac/Output.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlac;

static std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module << '\n';
  return text;
}

std::optional<std::string> mlac::compile(Session &session, const CompileOptions &options) {
  mlir::OwningOpRef<mlir::ModuleOp> module = session.load(options.source);
  if (!module || failed(selectKernel(*module, options.kernel)))
    return std::nullopt;
  if (options.emit == Level::Mla)
    return print(*module);
  mlir::emitError(mlir::UnknownLoc::get(&session.context)) << "this build emits mla alone; use --emit=mla";
  return std::nullopt;
}

int mlac::runCompile(const CompileOptions &options) {
  if (!applyMlirSwitches(options.mlirSwitches))
    return kUsageError;
  Session session;
  std::optional<std::string> text = compile(session, options);
  return text && writeOutput(options.output, *text) ? 0 : 1;
}

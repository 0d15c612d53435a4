// `mlac run`: a program on a device, from random operands to a verdict.
#include "runtime/emulator/Emulator.h"
#include "tools/mlac/Commands.h"
#include "tools/mlac/Compile.h"
#include "tools/mlac/Execute.h"
#include "tools/mlac/MlirSwitches.h"

using namespace mlac;

static mlir::FailureOr<std::unique_ptr<HostCode>> compileForEmulator(Compiler &compiler) {
  std::vector<HostCode::Symbol> symbols;
  for (const mla::emulator::Hook &hook : mla::emulator::hooks())
    symbols.push_back({hook.symbol, hook.address});
  return compiler.host(symbols);
}

int mlac::runRun(const RunOptions &options) {
  if (!applyMlirSwitches({}))
    return kUsageError;
  Session session;
  std::optional<LoadedKernel> kernel = loadKernel(session, options.source, options.kernel);
  if (!kernel)
    return 1;
  CompilerOptions compilerOptions = mlac::compilerOptions(session, options.target, {});
  if (!resolveTuned(options.tuned, compilerOptions))
    return 1;
  mlir::FailureOr<Compiler> compiler = Compiler::create(*kernel->module, compilerOptions);
  if (failed(compiler) || failed(compiler->lowerToTiles()) || failed(compiler->schedule()) ||
      failed(compiler->lowerToLLVM()))
    return 1;
  mlir::FailureOr<std::string> artefact = compiler->artefact();
  if (failed(artefact))
    return 1;
  if (options.device == "cuda")
    return execute(*artefact, kernel->name, options, nullptr);
  mlir::FailureOr<std::unique_ptr<HostCode>> host = compileForEmulator(*compiler);
  if (failed(host))
    return 1;
  return execute(*artefact, kernel->name, options, [&](const std::string &entry) { return (*host)->find(entry); });
}

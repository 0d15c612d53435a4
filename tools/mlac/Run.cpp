// `mlac run`: a program on a device, from random operands to a verdict.
#include "dialect/mla/MLA.h"
#include "runtime/emulator/Emulator.h"
#include "tools/mlac/Commands.h"
#include "tools/mlac/Compile.h"
#include "tools/mlac/Execute.h"
#include "tools/mlac/MlirSwitches.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlac;

/// The kernel to run: the one named, or the only one.
static mlir::FailureOr<std::string> chooseKernel(mlir::ModuleOp module, llvm::StringRef name) {
  if (failed(selectKernel(module, name)))
    return mlir::failure();
  llvm::SmallVector<llvm::StringRef> names;
  for (auto kernel : module.getOps<mlir::mla::KernelOp>())
    names.push_back(kernel.getSymName());
  if (names.size() == 1)
    return names.front().str();
  return mlir::emitError(module.getLoc()) << "the program has " << names.size() << " kernels; choose one with --kernel: "
                                          << llvm::join(names, ", ") << " [kernel-ambiguous]",
         mlir::failure();
}

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
  mlir::OwningOpRef<mlir::ModuleOp> module = session.load(options.source);
  if (!module)
    return 1;
  mlir::FailureOr<std::string> name = chooseKernel(*module, options.kernel);
  if (failed(name))
    return 1;
  mlir::FailureOr<Compiler> compiler = Compiler::create(*module, compilerOptions(session, options.target, {}));
  if (failed(compiler) || failed(compiler->lowerToTiles()) || failed(compiler->schedule()) ||
      failed(compiler->lowerToLLVM()))
    return 1;
  mlir::FailureOr<std::string> artefact = compiler->artefact();
  if (failed(artefact))
    return 1;
  if (options.device == "cuda")
    return execute(*artefact, *name, options, nullptr);
  mlir::FailureOr<std::unique_ptr<HostCode>> host = compileForEmulator(*compiler);
  if (failed(host))
    return 1;
  return execute(*artefact, *name, options, [&](const std::string &entry) { return (*host)->find(entry); });
}

// `mlac compile`: source to any level.
#include "tools/mlac/Compile.h"

#include "tools/mlac/Commands.h"
#include "tools/mlac/Execute.h"
#include "tools/mlac/MlirSwitches.h"
#include "tools/mlac/Output.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlac;

static std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module << '\n';
  return text;
}

static std::optional<std::string> toOptional(mlir::FailureOr<std::string> text) {
  return succeeded(text) ? std::optional<std::string>(std::move(*text)) : std::nullopt;
}

/// Hash of the program as the frontend understood it and of all that decides what becomes of it.
static std::string hashOf(Session &session, const TargetNames &target) {
  std::string text = "mlac " MLAC_VERSION "\n" + target.target + "\n" + target.profile + "\n" + target.ptx + "\n";
  for (unsigned id = 1; id <= session.sources.getNumBuffers(); ++id)
    text += session.sources.getMemoryBuffer(id)->getBuffer();
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)), /*LowerCase=*/true);
}

CompilerOptions mlac::compilerOptions(Session &session, const TargetNames &target,
                                      const DeploymentOptions &deployment) {
  CompilerOptions options;
  options.target = target.target;
  options.profile = target.profile;
  options.ptx = target.ptx;
  options.layers = deployment.layers;
  options.poolTokens = deployment.poolTokens;
  options.sourceHash = hashOf(session, target);
  options.configure = [](mlir::PassManager &manager) {
    mlir::applyDefaultTimingPassManagerCLOptions(manager);
    return mlir::applyPassManagerCLOptions(manager);
  };
  return options;
}

bool mlac::resolveTuned(const std::string &tuned, CompilerOptions &options) {
  options.tunedDevice = tuned;
  if (tuned != "here")
    return true;
  std::string problem;
  std::optional<std::string> present = presentDevice(problem);
  if (present)
    options.tunedDevice = *present;
  else
    llvm::WithColor::error() << "--tuned here: " << problem << "; name the device, as --tuned 'NVIDIA H200'\n";
  return present.has_value();
}

static std::optional<BatchLengths> lengthsOf(const BatchOptions &batch) {
  if (batch.kvLens.empty())
    return std::nullopt;
  return BatchLengths{batch.qLens, batch.kvLens, batch.pageSize};
}

/// Lowers step by step to the level asked for and prints it.
static std::optional<std::string> lower(Compiler &compiler, mlir::ModuleOp module, const CompileOptions &options) {
  Level level = options.emit;
  if (failed(compiler.lowerToTiles()) || failed(compiler.schedule()))
    return std::nullopt;
  if (level == Level::Tile)
    return print(module);
  if (failed(compiler.lowerToLLVM()))
    return std::nullopt;
  switch (level) {
  case Level::Nvvm:
    return print(module);
  case Level::Llvm:
    return toOptional(compiler.llvmText());
  case Level::Cubin:
    return toOptional(compiler.cubin());
  case Level::Report:
    return toOptional(compiler.report(lengthsOf(options.batch)));
  default:
    return toOptional(compiler.artefact());
  }
}

std::optional<std::string> mlac::compile(Session &session, const CompileOptions &options) {
  mlir::OwningOpRef<mlir::ModuleOp> module = session.load(options.source);
  if (!module || failed(selectKernel(*module, options.kernel)))
    return std::nullopt;
  if (options.emit == Level::Mla)
    return print(*module);
  CompilerOptions compilerOptions = mlac::compilerOptions(session, options.target, options.deployment);
  if (!resolveTuned(options.tuned, compilerOptions))
    return std::nullopt;
  mlir::FailureOr<Compiler> compiler = Compiler::create(*module, compilerOptions);
  return succeeded(compiler) ? lower(*compiler, *module, options) : std::nullopt;
}

int mlac::runCompile(const CompileOptions &options) {
  if (!applyMlirSwitches(options.mlirSwitches))
    return kUsageError;
  Session session;
  session.printer.showsRemarks = options.remarks;
  std::optional<std::string> text = compile(session, options);
  return text && writeOutput(options.output, *text) ? 0 : 1;
}

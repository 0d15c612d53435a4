#include "runtime/jit/Compile.h"

#include "codegen/Compiler.h"
#include "frontend/DiagnosticPrinter.h"
#include "frontend/Frontend.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/emulator/Emulator.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace mla::jit {

static mlac::CompilerOptions optionsOf(const CompileRequest &request) {
  mlac::CompilerOptions options;
  options.target = request.target;
  options.profile = request.profile;
  options.ptx = request.ptx;
  options.sourceHash = request.sourceHash;
  options.tunedDevice = request.tunedDevice;
  options.tunedDirectory = request.tunedDirectory;
  return options;
}

static bool compileHost(mlac::Compiler &compiler, CompileResult &result) {
  std::vector<mlac::HostCode::Symbol> symbols;
  for (const emulator::Hook &hook : emulator::hooks())
    symbols.push_back({hook.symbol, hook.address});
  mlir::FailureOr<std::unique_ptr<mlac::HostCode>> host = compiler.host(symbols);
  if (failed(host))
    return false;
  std::shared_ptr<mlac::HostCode> code = std::move(*host);
  result.host = [code](const std::string &name) { return code->find(name); };
  return true;
}

static bool lower(mlir::ModuleOp module, const CompileRequest &request, CompileResult &result) {
  mlir::FailureOr<mlac::Compiler> compiler = mlac::Compiler::create(module, optionsOf(request));
  if (failed(compiler) || failed(compiler->lowerToTiles()) || failed(compiler->schedule()) ||
      failed(compiler->lowerToLLVM()))
    return false;
  mlir::FailureOr<std::string> artefact = compiler->artefact();
  if (failed(artefact))
    return false;
  result.artefact = std::move(*artefact);
  return !request.host || compileHost(*compiler, result);
}

CompileResult compileSource(const CompileRequest &request) {
  CompileResult result;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  llvm::raw_string_ostream text(result.diagnostics);
  mlac::DiagnosticPrinter printer(sources, &context, text);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlac::parseSource(request.source, "<source>", sources, &context, {.defines = request.defines});
  result.ok = module && lower(*module, request, result);
  text.flush();
  return result;
}

} // namespace mla::jit

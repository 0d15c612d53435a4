#include "test/unit/pipeline/Program.h"

#include "codegen/Compiler.h"
#include "frontend/DiagnosticPrinter.h"
#include "frontend/Frontend.h"
#include "runtime/emulator/Emulator.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace mlac::test {

struct Program::Impl {
  explicit Impl(std::string &messages) : stream(messages), printer(sources, &context, stream) {
    context.printOpOnDiagnostic(false);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  llvm::SourceMgr sources;
  llvm::raw_string_ostream stream;
  DiagnosticPrinter printer;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<Compiler> compiler;
  std::unique_ptr<HostCode> host;
};

Program::Program(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Program::~Program() = default;

std::unique_ptr<Program> Program::compile(const std::string &text, const TargetNames &target,
                                          std::string &messages) {
  auto impl = std::make_unique<Impl>(messages);
  impl->module = parseSource(text, "test.mla", impl->sources, &impl->context, {});
  if (!impl->module)
    return nullptr;
  CompilerOptions options;
  options.target = target.target;
  options.profile = target.profile;
  mlir::FailureOr<Compiler> compiler = Compiler::create(*impl->module, std::move(options));
  if (failed(compiler))
    return nullptr;
  impl->compiler.emplace(std::move(*compiler));
  std::unique_ptr<Program> program(new Program(std::move(impl)));
  return program->lower() ? std::move(program) : nullptr;
}

bool Program::lower() {
  Compiler &compiler = *impl->compiler;
  if (failed(compiler.lowerToTiles()) || failed(compiler.schedule()))
    return false;
  for (const ScheduledFacts &facts : collectFacts(*impl->module))
    allocationList.insert(allocationList.end(), facts.allocations.begin(), facts.allocations.end());
  if (failed(compiler.lowerToLLVM()))
    return false;
  manifestText = mla::toJson(compiler.manifest());
  return true;
}

std::string Program::artefact() const {
  mlir::FailureOr<std::string> text = impl->compiler->artefact();
  return succeeded(text) ? *text : std::string();
}

Program::Entry Program::find(const std::string &name) {
  if (!impl->host) {
    std::vector<HostCode::Symbol> symbols;
    for (const mla::emulator::Hook &hook : mla::emulator::hooks())
      symbols.push_back({hook.symbol, hook.address});
    mlir::FailureOr<std::unique_ptr<HostCode>> host = impl->compiler->host(symbols);
    if (failed(host))
      return nullptr;
    impl->host = std::move(*host);
  }
  return impl->host->find(name);
}

} // namespace mlac::test

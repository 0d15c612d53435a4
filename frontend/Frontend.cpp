// Reading, and the stages in their order.
#include "frontend/Frontend.h"

#include "frontend/Builder.h"
#include "frontend/Checker.h"
#include "frontend/Parser.h"
#include "frontend/ReadSource.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;
using namespace mlac;

using Kernels = mlir::OwningOpRef<mlir::ModuleOp>;

static Kernels build(const Program &program, const SourceText &source, mlir::MLIRContext *context) {
  context->getOrLoadDialect<mlir::mla::MLADialect>();
  context->getOrLoadDialect<mlir::arith::ArithDialect>();
  context->getOrLoadDialect<mlir::math::MathDialect>();
  Kernels kernels = buildModule(program, source, context);
  return succeeded(mlir::verify(*kernels)) ? std::move(kernels) : Kernels();
}

static Kernels compile(StringRef text, StringRef name, mlir::MLIRContext *context,
                       const FrontendOptions &options) {
  SourceText source(text, name, context);
  Diagnostics diagnostics(source, context);
  if (std::optional<SMLoc> bad = source.firstBadByte()) {
    diagnostics.error(*bad, "source-encoding",
                      "byte 0x" + utohexstr(uint8_t(*bad->getPointer())) + " is not UTF-8 text");
    return {};
  }
  Program program = Parser(source, diagnostics).parse();
  checkProgram(program, diagnostics, options.defines);
  if (program.kernels.empty() && !diagnostics.hasErrors())
    diagnostics.error("no-kernel", "'" + name + "' defines no kernel");
  return diagnostics.hasErrors() ? Kernels() : build(program, source, context);
}

Kernels mlac::parseSource(StringRef text, StringRef name, SourceMgr &sources, mlir::MLIRContext *context,
                          const FrontendOptions &options) {
  unsigned id = sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, name), SMLoc());
  return compile(sources.getMemoryBuffer(id)->getBuffer(), name, context, options);
}

Kernels mlac::parseFile(StringRef path, SourceMgr &sources, mlir::MLIRContext *context,
                        const FrontendOptions &options) {
  if (Expected<SmallString<0>> text = readSource(path))
    return parseSource(*text, path == "-" ? "<stdin>" : path, sources, context, options);
  else
    mlir::emitError(mlir::UnknownLoc::get(context))
        << "cannot read '" << path << "': " << toString(text.takeError()) << " [source-file]";
  return {};
}

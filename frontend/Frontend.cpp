// Reading, and the stages in their order.
#include "frontend/Frontend.h"

#include "frontend/Builder.h"
#include "frontend/Checker.h"
#include "frontend/Parser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;
using namespace mlac;

using Kernels = mlir::OwningOpRef<mlir::ModuleOp>;

static Kernels build(const Program &program, const SourceText &source, mlir::MLIRContext *context) {
  context->getOrLoadDialect<mlir::mla::MLADialect>();
  context->getOrLoadDialect<mlir::arith::ArithDialect>();
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

/// Reports why a file is not read.
static Kernels unreadable(StringRef path, const Twine &reason, mlir::MLIRContext *context) {
  mlir::emitError(mlir::UnknownLoc::get(context))
      << "cannot read '" << path << "': " << reason << " [source-file]";
  return {};
}

Kernels mlac::parseSource(StringRef text, StringRef name, SourceMgr &sources, mlir::MLIRContext *context,
                          const FrontendOptions &options) {
  unsigned id = sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, name), SMLoc());
  return compile(sources.getMemoryBuffer(id)->getBuffer(), name, context, options);
}

Kernels mlac::parseFile(StringRef path, SourceMgr &sources, mlir::MLIRContext *context,
                        const FrontendOptions &options) {
  sys::fs::file_status status;
  if (path != "-") {
    if (std::error_code error = sys::fs::status(path, status))
      return unreadable(path, error.message(), context);
    if (is_directory(status))
      return unreadable(path, "it is a directory", context);
    if (status.type() != sys::fs::file_type::regular_file && status.type() != sys::fs::file_type::fifo_file)
      return unreadable(path, "it is not a file", context);
    if (is_regular_file(status) && status.getSize() > kLargestSource)
      return unreadable(path, "it is larger than 64 MiB", context);
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return unreadable(path, buffer.getError().message(), context);
  StringRef name = path == "-" ? "<stdin>" : path;
  return parseSource((*buffer)->getBuffer(), name, sources, context, options);
}

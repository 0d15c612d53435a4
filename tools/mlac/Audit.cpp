// `mlac audit`: what kernels store, where they convert it, and what whole-buffer casts cost.
#include "dialect/tile/Tile.h"
#include "mlir/Parser/Parser.h"
#include "passes/BufferCastDialects.h"
#include "tools/mlac/AuditReport.h"
#include "tools/mlac/Commands.h"
#include "tools/mlac/Output.h"
#include "tools/mlac/Session.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"

using namespace mlac;

/// Modules of others: their dialects are known, and what else is in them is skipped.
static void acceptForeign(mlir::MLIRContext &context) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::mla::MLADialect, mlir::tile::TileDialect>();
  registerForeignDialects(registry);
  context.appendDialectRegistry(registry);
  context.allowUnregisteredDialects();
}

static mlir::OwningOpRef<mlir::ModuleOp> loadForeign(Session &session, const std::string &file) {
  acceptForeign(session.context);
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer) {
    llvm::WithColor::error() << "cannot read " << file << ": " << buffer.getError().message() << '\n';
    return {};
  }
  session.sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  return mlir::parseSourceFile<mlir::ModuleOp>(session.sources, &session.context);
}

static mlir::OwningOpRef<mlir::ModuleOp> load(Session &session, const std::string &file,
                                              const AuditOptions &options) {
  llvm::StringRef extension = llvm::sys::path::extension(file);
  if (extension == ".mla")
    return session.load({file, options.defines});
  if (extension == ".mlir")
    return loadForeign(session, file);
  llvm::WithColor::error() << "cannot read " << file << ": the name ends neither in .mla nor in .mlir\n";
  return {};
}

static bool addFile(AuditReport &report, const std::string &file, const AuditOptions &options) {
  Session session;
  mlir::OwningOpRef<mlir::ModuleOp> module = load(session, file, options);
  if (!module)
    return false;
  addModule(report, *module, options);
  return true;
}

static std::string print(const AuditReport &report, const AuditOptions &options) {
  switch (options.format) {
  case AuditFormat::Json:
    return auditJson(report, options);
  case AuditFormat::Sarif:
    return auditSarif(report, options);
  case AuditFormat::Text:
    break;
  }
  return auditText(report, options);
}

int mlac::runAudit(const AuditOptions &options) {
  AuditReport report;
  bool isComplete = true;
  for (const std::string &file : options.files)
    isComplete &= addFile(report, file, options);
  if (!options.trace.empty())
    isComplete &= addTrace(report, options.trace);
  if (!writeOutput("-", print(report, options)) || !isComplete)
    return kUsageError;
  bool isClean = report.findings.empty() && (!report.trace || report.trace->countMismatched() == 0);
  return isClean ? 0 : 1;
}

// Excerpts with llvm::SourceMgr, of lines that can be read.
#include "frontend/DiagnosticPrinter.h"

#include "llvm/Support/SourceMgr.h"

using namespace llvm;
using namespace mlac;

DiagnosticPrinter::DiagnosticPrinter(SourceMgr &sources, mlir::MLIRContext *context, raw_ostream &os)
    : SourceMgrDiagnosticHandler(sources, context, os) {
  setHandler([this](mlir::Diagnostic &diagnostic) { print(diagnostic); });
}

void DiagnosticPrinter::print(mlir::Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark && !showsRemarks)
    return;
  print(diagnostic, /*wantsExcerpt=*/true);
  SmallVector<mlir::Location> shown{diagnostic.getLocation()};
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    print(note, /*wantsExcerpt=*/!is_contained(shown, note.getLocation()));
    shown.push_back(note.getLocation());
  }
}

static SourceMgr::DiagKind kindOf(const mlir::Diagnostic &diagnostic) {
  switch (diagnostic.getSeverity()) {
  case mlir::DiagnosticSeverity::Error:
    return SourceMgr::DK_Error;
  case mlir::DiagnosticSeverity::Warning:
    return SourceMgr::DK_Warning;
  case mlir::DiagnosticSeverity::Note:
    return SourceMgr::DK_Note;
  case mlir::DiagnosticSeverity::Remark:
    return SourceMgr::DK_Remark;
  }
  llvm_unreachable("every severity is listed");
}

void DiagnosticPrinter::print(mlir::Diagnostic &diagnostic, bool wantsExcerpt) {
  mlir::Location location = diagnostic.getLocation();
  if (isa<mlir::UnknownLoc>(location)) // about no place in particular: without "<unknown>"
    return SMDiagnostic("", kindOf(diagnostic), diagnostic.str()).print(nullptr, os);
  emitDiagnostic(location, diagnostic.str(), diagnostic.getSeverity(),
                 wantsExcerpt && hasReadableLine(location));
}

bool DiagnosticPrinter::hasReadableLine(mlir::Location location) {
  auto position = location->findInstanceOf<mlir::FileLineColLoc>();
  const MemoryBuffer *buffer = position ? getBufferForFile(position.getFilename().getValue()) : nullptr;
  if (!buffer || position.getLine() == 0)
    return false;
  unsigned id = 1;
  while (id <= mgr.getNumBuffers() && mgr.getMemoryBuffer(id) != buffer)
    ++id;
  SMLoc start = mgr.FindLocForLineAndColumn(id, position.getLine(), 1);
  if (!start.isValid())
    return false;
  StringRef rest(start.getPointer(), buffer->getBufferEnd() - start.getPointer());
  StringRef line = rest.take_until([](char c) { return c == '\n'; });
  return line.size() <= kLongestExcerpt &&
         none_of(line.rtrim('\r'), [](unsigned char c) { return c != '\t' && (c < ' ' || c == 0x7f); });
}

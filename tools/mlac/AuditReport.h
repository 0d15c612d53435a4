// What `mlac audit` found, as plain data that each output format prints.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "passes/BufferCastAnalysis.h"
#include "tools/mlac/Options.h"

namespace mlac {

struct AuditPlace {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;

  /// `kernel.mla:12`, with the file's name alone.
  std::string brief() const;
  /// `dir/kernel.mla:12:3`.
  std::string full() const;
};

struct AuditNote {
  AuditPlace place;
  std::string text;
};

/// What one reading of a buffer, or one cast of it, moves. Unknown without --pool-tokens, unless sizes are
/// constants.
struct AuditTraffic {
  int64_t bytesPerToken = 0;
  std::optional<double> bytesPerLayer;
  std::optional<double> bytesPerStep; // over all layers
  std::optional<double> milliseconds; // of a step, or of a layer where their number is not given
};

struct AuditOperand {
  std::string kernel;
  std::string name;
  std::string role; // query, cache, output or buffer
  std::string storage;
  std::string compute; // `-` if nothing is computed in another type
  AuditPlace place;
  std::vector<AuditPlace> dequantised; // in tiles
  std::vector<AuditPlace> cast;        // as a whole
  AuditTraffic traffic;                // of reading every cached token once
};

struct AuditFinding {
  std::string kernel;
  std::string operand;
  std::string from;
  std::string to;
  AuditPlace place;
  std::string message;
  std::vector<AuditNote> notes; // the buffer, then each hop
  std::string fix;
  AuditTraffic traffic;
};

/// Element types as a trace names them.
struct TracedTypes {
  std::string query, storage, compute;
};

/// One call of plan() or run(), as runtime/Trace.h wrote it.
struct TracedCall {
  unsigned line = 0; // of the log
  std::string kind;  // plan or run
  int64_t number = 0;
  std::string kernel;
  TracedTypes given;
  TracedTypes declared;
  std::vector<std::string> mismatches; // empty: the call is as declared
};

struct AuditTrace {
  std::string path;
  std::vector<TracedCall> calls;
  unsigned otherLines = 0; // of other writers

  size_t countMismatched() const;
};

struct AuditReport {
  std::vector<AuditOperand> operands;
  std::vector<AuditFinding> findings;
  std::vector<AuditNote> skipped; // dialects that are not followed
  std::optional<AuditTrace> trace;
  int64_t ops = 0;
  int64_t visits = 0;
};

/// Adds what is in the module.
void addModule(AuditReport &report, mlir::ModuleOp module, const AuditOptions &options);

/// Reads a log of calls and compares each with what it says is declared, and with the report's kernel of its
/// name. Prints an error and returns false if the log cannot be read.
bool addTrace(AuditReport &report, llvm::StringRef path);

/// e4m3 for f8E4M3FN: as the language spells it.
std::string storageName(mlir::Type type);

/// The report in each format, to be written as it is.
std::string auditText(const AuditReport &report, const AuditOptions &options);
std::string auditJson(const AuditReport &report, const AuditOptions &options);
std::string auditSarif(const AuditReport &report, const AuditOptions &options);

} // namespace mlac

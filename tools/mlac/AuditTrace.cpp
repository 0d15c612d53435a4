// Reading and checking a log of calls.
#include "tools/mlac/AuditReport.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

using namespace mlac;
namespace json = llvm::json;

size_t AuditTrace::countMismatched() const {
  return llvm::count_if(calls, [](const TracedCall &call) { return !call.mismatches.empty(); });
}

/// What the language calls a type of the runtime.
static std::string spelling(llvm::StringRef dtype) {
  return (dtype == "s8" ? "int8" : dtype == "u8" ? "record" : dtype).str();
}

namespace mlac {
static bool fromJSON(const json::Value &value, TracedTypes &types, json::Path path) {
  json::ObjectMapper mapper(value, path);
  if (!mapper || !mapper.map("query", types.query) || !mapper.map("storage", types.storage) ||
      !mapper.map("compute", types.compute))
    return false;
  types.storage = spelling(types.storage);
  return true;
}

static bool fromJSON(const json::Value &value, TracedCall &call, json::Path path) {
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("mlac", call.kind) && mapper.map("call", call.number) &&
         mapper.map("kernel", call.kernel) && mapper.map("declared", call.declared) &&
         fromJSON(value, call.given, path);
}
} // namespace mlac

//===-- Checks
//-------------------------------------------------------------------------------------------===//

static void compare(TracedCall &call, llvm::StringRef what, llvm::StringRef given, llvm::StringRef expected,
                    llvm::StringRef by) {
  if (given != expected)
    call.mismatches.push_back((what + " is " + given + ", " + by + " " + expected).str());
}

static void checkDeclared(TracedCall &call) {
  compare(call, "query", call.given.query, call.declared.query, "declared");
  compare(call, "storage", call.given.storage, call.declared.storage, "declared");
  compare(call, "compute", call.given.compute, call.declared.compute, "declared");
}

/// What ran may come from another source than the one that is audited.
static void checkSource(TracedCall &call, const AuditReport &report) {
  for (const AuditOperand &operand : report.operands) {
    if (operand.kernel != call.kernel || operand.role == "buffer" || operand.role == "output")
      continue;
    bool isQuery = operand.role == "query";
    compare(call, isQuery ? "declared query" : "declared storage",
            isQuery ? call.declared.query : call.declared.storage, operand.storage, "in the source");
    if (!isQuery)
      compare(call, "declared compute", call.declared.compute, operand.compute, "in the source");
  }
}

//===-- Reading
//------------------------------------------------------------------------------------------===//

static bool reportLine(llvm::StringRef path, int64_t line, llvm::StringRef problem) {
  llvm::WithColor::error() << path << ':' << line << ": " << problem << '\n';
  return false;
}

/// One line of the trace. Lines that do not start as ours are those of other writers.
static bool readLine(AuditTrace &trace, llvm::StringRef text, int64_t number) {
  if (!text.starts_with("{\"mlac\":")) {
    ++trace.otherLines;
    return true;
  }
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return reportLine(trace.path, number,
                      "not a whole line of a trace: " + llvm::toString(value.takeError()));
  TracedCall call;
  json::Path::Root root;
  if (!fromJSON(*value, call, root))
    return reportLine(trace.path, number, "not a call of a trace: " + llvm::toString(root.getError()));
  call.line = number;
  trace.calls.push_back(std::move(call));
  return true;
}

bool mlac::addTrace(AuditReport &report, llvm::StringRef path) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer) {
    llvm::WithColor::error() << "cannot read " << path << ": " << buffer.getError().message() << '\n';
    return false;
  }
  AuditTrace trace{path.str(), {}, 0};
  for (llvm::line_iterator line(**buffer); !line.is_at_eof(); ++line)
    if (!readLine(trace, line->trim(), line.line_number()))
      return false;
  for (TracedCall &call : trace.calls) {
    checkDeclared(call);
    checkSource(call, report);
  }
  report.trace = std::move(trace);
  return true;
}

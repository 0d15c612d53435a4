// The audit as a table and a list, for people.
#include "passes/BufferCastMessage.h"
#include "tools/mlac/AuditReport.h"
#include "tools/mlac/Table.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlac;

static std::string bytesOr(const std::optional<double> &bytes) { return bytes ? readableBytes(*bytes) : "-"; }

/// The places, of which the table shows three.
static std::string join(llvm::ArrayRef<AuditPlace> places, llvm::StringRef prefix) {
  constexpr size_t kShown = 3;
  std::string text;
  for (const AuditPlace &place : places.take_front(kShown))
    text += (text.empty() ? "" : " ") + (prefix + place.brief()).str();
  if (places.size() > kShown)
    text += " +" + std::to_string(places.size() - kShown);
  return text;
}

static std::string placesOf(const AuditOperand &operand) {
  std::string tiles = join(operand.dequantised, ""), whole = join(operand.cast, "WHOLE:");
  if (tiles.empty() && whole.empty())
    return "-";
  return tiles + (tiles.empty() || whole.empty() ? "" : " ") + whole;
}

static Table makeTable(const AuditReport &report) {
  Table table{
      {"kernel", "operand", "role", "storage", "compute", "dequantised at", "B/token", "a layer", "a step"}};
  for (const AuditOperand &operand : report.operands)
    table.rows.push_back({operand.kernel, operand.name, operand.role, operand.storage, operand.compute,
                          placesOf(operand), withThousands(operand.traffic.bytesPerToken),
                          bytesOr(operand.traffic.bytesPerLayer), bytesOr(operand.traffic.bytesPerStep)});
  return table;
}

/// `855 MB a layer, 66.7 GB a step of 78 layers: 37.3 ms at 1.79 TB/s`, as far as it is known.
static std::string costOf(const AuditTraffic &traffic, const AuditOptions &options) {
  if (!traffic.bytesPerLayer)
    return llvm::formatv("{0} bytes for every token of the pool in every layer; --pool-tokens gives the time",
                         withThousands(traffic.bytesPerToken));
  std::string text = readableBytes(*traffic.bytesPerLayer) + " a layer";
  if (traffic.bytesPerStep)
    text += llvm::formatv(", {0} a step of {1} layers", readableBytes(*traffic.bytesPerStep),
                          options.deployment.layers);
  return text +
         llvm::formatv(": {0:F1} ms at {1:F2} TB/s", *traffic.milliseconds, options.bandwidth / 1e12).str();
}

static void printFinding(llvm::raw_ostream &os, const AuditFinding &finding, const AuditOptions &options) {
  os << finding.place.full() << ": " << finding.message << '\n';
  os << "    " << finding.kernel << ", " << finding.operand << ": " << finding.from << " to " << finding.to
     << ": " << costOf(finding.traffic, options) << '\n';
  for (const AuditNote &note : finding.notes)
    os << "    " << note.place.full() << ": " << note.text << '\n';
  os << "    " << finding.fix << '\n';
}

/// What all findings cost together.
static void printTotal(llvm::raw_ostream &os, const AuditReport &report) {
  double milliseconds = 0;
  for (const AuditFinding &finding : report.findings)
    milliseconds += finding.traffic.milliseconds.value_or(0);
  os << report.findings.size()
     << (report.findings.size() == 1 ? " whole-buffer cast" : " whole-buffer casts");
  if (milliseconds > 0)
    os << llvm::formatv(": {0:F1} ms", milliseconds);
  os << '\n';
}

static std::string typesOf(const TracedTypes &types) {
  return types.query + "/" + types.storage + "/" + types.compute;
}

/// Every call, and what is wrong with it.
static void printTrace(llvm::raw_ostream &os, const AuditTrace &trace) {
  Table table{{"line", "call", "kernel", "query/storage/compute", "declared", "check"}};
  for (const TracedCall &call : trace.calls)
    table.rows.push_back({std::to_string(call.line), call.kind + " " + std::to_string(call.number),
                          call.kernel, typesOf(call.given), typesOf(call.declared),
                          call.mismatches.empty() ? "ok" : "MISMATCH: " + llvm::join(call.mismatches, "; ")});
  table.print(os);
  os << '\n' << trace.calls.size() << " calls, " << trace.countMismatched() << " not as declared";
  if (trace.otherLines)
    os << "; " << trace.otherLines << " other lines";
  os << '\n';
}

std::string mlac::auditText(const AuditReport &report, const AuditOptions &options) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (report.trace)
    printTrace(os, *report.trace);
  if (report.operands.empty() && report.trace)
    return text;
  makeTable(report).print(os);
  os << '\n';
  for (const AuditFinding &finding : report.findings)
    printFinding(os, finding, options);
  for (const AuditNote &note : report.skipped)
    os << note.place.full() << ": " << note.text << '\n';
  printTotal(os, report);
  return text;
}

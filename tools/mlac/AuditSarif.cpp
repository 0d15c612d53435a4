// The audit as SARIF 2.1.0, for code-review tools.
#include "tools/mlac/AuditReport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlac;
namespace json = llvm::json;

static constexpr llvm::StringLiteral kRule = "buffer-cast";
static constexpr llvm::StringLiteral kUnknownRule = "buffer-cast-unknown";
static constexpr llvm::StringLiteral kTraceRule = "call-mismatch";

static std::string utf8(llvm::StringRef text) {
  return json::isUTF8(text) ? text.str() : json::fixUTF8(text);
}

static json::Object message(llvm::StringRef text) { return json::Object{{"text", utf8(text)}}; }

/// A path as a URI reference: what RFC 3986 does not allow in a path is escaped.
static std::string toUri(llvm::StringRef path) {
  std::string uri;
  for (unsigned char c : path) {
    if (llvm::isAlnum(c) || llvm::StringRef("/-._~").contains(c))
      uri += c;
    else
      uri += "%" + llvm::utohexstr(c, /*LowerCase=*/false, /*Width=*/2);
  }
  return uri;
}

/// SARIF counts from 1 and allows a location without a region.
static json::Object physicalLocation(const AuditPlace &place) {
  json::Object physical{{"artifactLocation", json::Object{{"uri", toUri(place.file)}}}};
  if (place.line > 0)
    physical["region"] = json::Object{{"startLine", place.line}, {"startColumn", std::max(place.column, 1u)}};
  return json::Object{{"physicalLocation", std::move(physical)}};
}

static json::Object rule(llvm::StringRef id, llvm::StringRef text, llvm::StringRef help,
                         llvm::StringRef level) {
  return json::Object{{"id", id},
                      {"shortDescription", message(text)},
                      {"help", message(help)},
                      {"defaultConfiguration", json::Object{{"level", level}}}};
}

static json::Object driver() {
  return json::Object{
      {"name", "mlac"},
      {"version", MLAC_VERSION},
      {"rules",
       json::Array{
           rule(kRule, "a converted copy of a whole buffer is stored",
                "Keep the buffer as it is stored and convert each tile after it is loaded.", "error"),
           rule(kUnknownRule, "ops of a dialect that is not followed",
                "Buffers that pass through these ops are not checked; audit the module before them too.",
                "note"),
           rule(kTraceRule, "a call whose types are not those that the kernel declares",
                "Pass operands as the kernel declares them, or compile a kernel for these.", "error")}}};
}

static json::Object relatedLocation(const AuditNote &note, size_t id) {
  json::Object location = physicalLocation(note.place);
  location["id"] = int64_t(id);
  location["message"] = message(note.text);
  return location;
}

static json::Object result(const AuditFinding &finding) {
  json::Array related;
  for (const AuditNote &note : finding.notes)
    related.push_back(relatedLocation(note, related.size()));
  json::Object properties{{"kernel", utf8(finding.kernel)},
                          {"operand", utf8(finding.operand)},
                          {"bytesPerToken", finding.traffic.bytesPerToken}};
  if (finding.traffic.bytesPerStep)
    properties["bytesPerStep"] = *finding.traffic.bytesPerStep;
  if (finding.traffic.milliseconds)
    properties["milliseconds"] = *finding.traffic.milliseconds;
  return json::Object{{"ruleId", kRule},
                      {"ruleIndex", 0},
                      {"level", "error"},
                      {"message", message(finding.message + ". " + finding.fix)},
                      {"locations", json::Array{physicalLocation(finding.place)}},
                      {"relatedLocations", std::move(related)},
                      {"properties", std::move(properties)}};
}

static json::Object result(const AuditNote &skipped) {
  return json::Object{{"ruleId", kUnknownRule},
                      {"ruleIndex", 1},
                      {"level", "note"},
                      {"message", message(skipped.text)},
                      {"locations", json::Array{physicalLocation(skipped.place)}}};
}

static json::Object result(const TracedCall &call, const std::string &path) {
  std::string text = call.kind + " call " + std::to_string(call.number) + " of " + call.kernel + ": " +
                     llvm::join(call.mismatches, "; ");
  return json::Object{{"ruleId", kTraceRule},
                      {"ruleIndex", 2},
                      {"level", "error"},
                      {"message", message(text)},
                      {"locations", json::Array{physicalLocation({path, call.line, 1})}}};
}

std::string mlac::auditSarif(const AuditReport &report, const AuditOptions &options) {
  json::Array results;
  for (const AuditFinding &finding : report.findings)
    results.push_back(result(finding));
  for (const AuditNote &skipped : report.skipped)
    results.push_back(result(skipped));
  if (report.trace)
    for (const TracedCall &call : report.trace->calls)
      if (!call.mismatches.empty())
        results.push_back(result(call, report.trace->path));
  json::Object run{{"tool", json::Object{{"driver", driver()}}}, {"results", std::move(results)}};
  json::Object log{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                   {"version", "2.1.0"},
                   {"runs", json::Array{std::move(run)}}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", json::Value(std::move(log)));
  return text;
}

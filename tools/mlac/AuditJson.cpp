// The audit as one JSON object, for programs.
#include "tools/mlac/AuditReport.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlac;
namespace json = llvm::json;

/// Files and names may hold any bytes.
static std::string utf8(llvm::StringRef text) {
  return json::isUTF8(text) ? text.str() : json::fixUTF8(text);
}

static json::Object toJson(const AuditPlace &place) {
  return json::Object{{"file", utf8(place.file)}, {"line", place.line}, {"column", place.column}};
}

static json::Value toJson(const std::optional<double> &number) {
  return number ? json::Value(*number) : nullptr;
}

static void addTraffic(json::Object &object, const AuditTraffic &traffic) {
  object["bytesPerToken"] = traffic.bytesPerToken;
  object["bytesPerLayer"] = toJson(traffic.bytesPerLayer);
  object["bytesPerStep"] = toJson(traffic.bytesPerStep);
  object["milliseconds"] = toJson(traffic.milliseconds);
}

static json::Array toJson(const std::vector<AuditPlace> &places) {
  json::Array array;
  for (const AuditPlace &place : places)
    array.push_back(toJson(place));
  return array;
}

static json::Object toJson(const AuditOperand &operand) {
  json::Object object{{"kernel", utf8(operand.kernel)},
                      {"operand", utf8(operand.name)},
                      {"role", operand.role},
                      {"storage", operand.storage},
                      {"compute", operand.compute},
                      {"place", toJson(operand.place)},
                      {"dequantised", toJson(operand.dequantised)},
                      {"cast", toJson(operand.cast)}};
  addTraffic(object, operand.traffic);
  return object;
}

static json::Object toJson(const AuditNote &note) {
  return json::Object{{"place", toJson(note.place)}, {"text", utf8(note.text)}};
}

static json::Array toJson(const std::vector<AuditNote> &notes) {
  json::Array array;
  for (const AuditNote &note : notes)
    array.push_back(toJson(note));
  return array;
}

static json::Object toJson(const AuditFinding &finding) {
  json::Object object{{"kernel", utf8(finding.kernel)}, {"operand", utf8(finding.operand)},
                      {"from", finding.from},           {"to", finding.to},
                      {"place", toJson(finding.place)}, {"message", utf8(finding.message)},
                      {"notes", toJson(finding.notes)}, {"fix", utf8(finding.fix)}};
  addTraffic(object, finding.traffic);
  return object;
}

static json::Object toJson(const TracedTypes &types) {
  return json::Object{
      {"query", utf8(types.query)}, {"storage", utf8(types.storage)}, {"compute", utf8(types.compute)}};
}

static json::Object toJson(const TracedCall &call) {
  json::Array mismatches;
  for (const std::string &mismatch : call.mismatches)
    mismatches.push_back(utf8(mismatch));
  return json::Object{{"line", call.line},
                      {"kind", call.kind},
                      {"call", call.number},
                      {"kernel", utf8(call.kernel)},
                      {"given", toJson(call.given)},
                      {"declared", toJson(call.declared)},
                      {"mismatches", std::move(mismatches)}};
}

template <typename T>
static json::Array toArray(const std::vector<T> &items) {
  json::Array array;
  for (const T &item : items)
    array.push_back(toJson(item));
  return array;
}

std::string mlac::auditJson(const AuditReport &report, const AuditOptions &options) {
  json::Object object{{"version", 1},
                      {"layers", options.deployment.layers},
                      {"poolTokens", options.deployment.poolTokens},
                      {"bandwidth", options.bandwidth},
                      {"operands", toArray(report.operands)},
                      {"findings", toArray(report.findings)},
                      {"skipped", toJson(report.skipped)},
                      {"ops", report.ops},
                      {"visits", report.visits}};
  if (report.trace)
    object["trace"] = json::Object{{"file", utf8(report.trace->path)},
                                   {"otherLines", report.trace->otherLines},
                                   {"calls", toArray(report.trace->calls)}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", json::Value(std::move(object)));
  return text;
}

#include "runtime/Error.h"

#include <fmt/format.h>

#include <utility>

namespace mla {

static std::string sentence(const std::string &field, const std::string &value, const std::string &allowed,
                            const std::string &wayOut) {
  std::string text = field;
  if (!value.empty())
    text += fmt::format(" is {}", value);
  if (!allowed.empty())
    text += fmt::format("{} must be {}", value.empty() ? "" : ";", allowed);
  if (!wayOut.empty())
    text += fmt::format("; {}", wayOut);
  return text;
}

Error::Error(Code code, std::string field, std::string value, std::string allowed, std::string wayOut)
    : std::runtime_error(sentence(field, value, allowed, wayOut)), code(code), field(std::move(field)),
      value(std::move(value)), allowed(std::move(allowed)), wayOut(std::move(wayOut)) {}

std::string_view name(Error::Code code) {
  using Code = Error::Code;
  static constexpr std::pair<Code, std::string_view> names[] = {
      {Code::artefactMissing, "artefactMissing"},
      {Code::artefactTruncated, "artefactTruncated"},
      {Code::artefactDamaged, "artefactDamaged"},
      {Code::artefactNewer, "artefactNewer"},
      {Code::manifestInvalid, "manifestInvalid"},
      {Code::indptrSize, "indptrSize"},
      {Code::indptrStart, "indptrStart"},
      {Code::indptrOrder, "indptrOrder"},
      {Code::indptrEnd, "indptrEnd"},
      {Code::kvLenSize, "kvLenSize"},
      {Code::kvLenNegative, "kvLenNegative"},
      {Code::kvLenBeyondTable, "kvLenBeyondTable"},
      {Code::kvLenMismatch, "kvLenMismatch"},
      {Code::pageSize, "pageSize"},
      {Code::tableGeometry, "tableGeometry"},
      {Code::poolSize, "poolSize"},
      {Code::slot, "slot"},
      {Code::pageEntry, "pageEntry"},
      {Code::blockCount, "blockCount"},
      {Code::tooLarge, "tooLarge"},
      {Code::unknownParameter, "unknownParameter"},
      {Code::missingOperand, "missingOperand"},
      {Code::operandMismatch, "operandMismatch"},
      {Code::noDriver, "noDriver"},
      {Code::noDevice, "noDevice"},
      {Code::driverFailure, "driverFailure"},
      {Code::imageRefused, "imageRefused"},
      {Code::entryMissing, "entryMissing"},
      {Code::sharedMemory, "sharedMemory"},
      {Code::outOfMemory, "outOfMemory"},
      {Code::kernelUnknown, "kernelUnknown"},
      {Code::configMismatch, "configMismatch"},
      {Code::capacityMissing, "capacityMissing"},
      {Code::capacityExceeded, "capacityExceeded"},
      {Code::workspaceSize, "workspaceSize"},
      {Code::workspaceAlignment, "workspaceAlignment"},
      {Code::streamCapturing, "streamCapturing"},
      {Code::notPlanned, "notPlanned"},
      {Code::operandNull, "operandNull"},
      {Code::operandAlignment, "operandAlignment"},
      {Code::scaleValue, "scaleValue"},
      {Code::mergeCount, "mergeCount"},
      {Code::sourceRefused, "sourceRefused"},
      {Code::targetUnknown, "targetUnknown"},
      {Code::driverTooOld, "driverTooOld"},
      {Code::cacheFailure, "cacheFailure"},
      {Code::badArgument, "badArgument"},
      {Code::internal, "internal"},
  };
  for (const auto &[known, text] : names)
    if (known == code)
      return text;
  return "unknown";
}

} // namespace mla

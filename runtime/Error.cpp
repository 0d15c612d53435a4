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
  switch (code) {
  case Code::artefactMissing:
    return "artefactMissing";
  case Code::artefactTruncated:
    return "artefactTruncated";
  case Code::artefactDamaged:
    return "artefactDamaged";
  case Code::artefactNewer:
    return "artefactNewer";
  case Code::manifestInvalid:
    return "manifestInvalid";
  case Code::indptrSize:
    return "indptrSize";
  case Code::indptrStart:
    return "indptrStart";
  case Code::indptrOrder:
    return "indptrOrder";
  case Code::indptrEnd:
    return "indptrEnd";
  case Code::kvLenSize:
    return "kvLenSize";
  case Code::kvLenNegative:
    return "kvLenNegative";
  case Code::kvLenBeyondTable:
    return "kvLenBeyondTable";
  case Code::kvLenMismatch:
    return "kvLenMismatch";
  case Code::pageSize:
    return "pageSize";
  case Code::tableGeometry:
    return "tableGeometry";
  case Code::poolSize:
    return "poolSize";
  case Code::pageEntry:
    return "pageEntry";
  case Code::blockCount:
    return "blockCount";
  case Code::tooLarge:
    return "tooLarge";
  case Code::unknownParameter:
    return "unknownParameter";
  case Code::missingOperand:
    return "missingOperand";
  case Code::operandMismatch:
    return "operandMismatch";
  case Code::noDriver:
    return "noDriver";
  case Code::noDevice:
    return "noDevice";
  case Code::driverFailure:
    return "driverFailure";
  case Code::imageRefused:
    return "imageRefused";
  case Code::entryMissing:
    return "entryMissing";
  case Code::sharedMemory:
    return "sharedMemory";
  case Code::outOfMemory:
    return "outOfMemory";
  }
  return "unknown";
}

} // namespace mla

// The typed error of the runtime: what was wrong, what is allowed, and the way out.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace mla {

/// Thrown by every function of the runtime that refuses its input or that a driver refuses.
///
/// `what()` is one sentence made of the parts below; the parts are there so that a caller can react to a
/// particular error without reading text.
struct Error : std::runtime_error {
  enum class Code {
    // Artefacts.
    artefactMissing,   ///< the text carries no manifest at all
    artefactTruncated, ///< the text ends before the manifest or the PTX does
    artefactDamaged,   ///< a checksum, a length or the framing is wrong
    artefactNewer,     ///< written by a compiler with a newer manifest version
    manifestInvalid,   ///< the JSON is intact but says something impossible
    // Plans.
    indptrSize,
    indptrStart,
    indptrOrder,
    indptrEnd,
    kvLenSize,
    kvLenNegative,
    kvLenBeyondTable,
    kvLenMismatch, ///< kv_len and the ragged cache's indptr disagree
    pageSize,
    tableGeometry,
    poolSize,
    pageEntry, ///< a used page-table entry names no page of the pool
    blockCount,
    tooLarge, ///< a size does not fit the 32-bit fields of the work list
    // Launches.
    unknownParameter,
    missingOperand,
    operandMismatch,
    // Devices.
    noDriver,
    noDevice,
    driverFailure,
    imageRefused,
    entryMissing,
    sharedMemory,
    outOfMemory,
  };

  Error(Code code, std::string field, std::string value, std::string allowed, std::string wayOut = "");

  Code code;
  std::string field;   ///< the argument or JSON field at fault, e.g. "kv_len[3]"
  std::string value;   ///< what it was
  std::string allowed; ///< what it must be
  std::string wayOut;  ///< what to do about it; may be empty
};

/// The enumerator's name, e.g. "kvLenNegative": stable, for logs and JSON.
std::string_view name(Error::Code code);

} // namespace mla

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
    slot,      ///< a new row's slot lies outside of the pool
    pageEntry, ///< a used page-table entry names no page of the pool
    blockCount,
    tooLarge, ///< a size does not fit the 32-bit fields of the work list
    // Configurations and capacities.
    kernelUnknown,   ///< the artefact has no kernel of that name, or several and none was named
    configMismatch,  ///< the kernel was compiled for something else than the configuration says
    capacityMissing, ///< a capacity that must be given is not
    capacityExceeded,
    workspaceSize,      ///< the workspace is smaller than workspaceSize() says
    workspaceAlignment, ///< the workspace's address is not aligned
    streamCapturing,    ///< the call cannot be part of a graph
    notPlanned,         ///< run() before plan()
    // Launches.
    unknownParameter,
    missingOperand,
    operandMismatch, ///< dtype, heads, dims, rows, pages or strides other than planned
    operandNull,     ///< a null address where there is work
    operandAlignment,
    scaleValue, ///< a scale that is not finite and above 0
    mergeCount, ///< fewer than 1 or more states than a merge takes
    // Devices.
    noDriver,
    noDevice,
    driverFailure,
    imageRefused,
    entryMissing,
    sharedMemory,
    outOfMemory,
    // The compiler and its cache.
    sourceRefused, ///< the program does not compile; the text holds the diagnostics
    targetUnknown, ///< the compiler has no such target, or none for the device
    driverTooOld,  ///< the driver takes no PTX version that the target needs
    cacheFailure,
    badArgument, ///< the C API was given a null handle or a structure of unknown size
    internal,
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

// The trace of plan() and run(): one line of JSON a call, with the types that the caller has and those that
// the kernel declares. `mlac audit --trace FILE` reads it and lists every call and every mismatch.
//
//   {"mlac":"plan","call":1,"time":1767225600.25,"pid":17,"kernel":"glm5_decode","query":"bf16","storage":"e4m3",
//    "compute":"f16","declared":{"query":"bf16","storage":"e4m3","compute":"f16"},"requests":3,"queryTokens":3,
//    "cachedTokens":4096}
//
// Off by default, and then a call costs one relaxed load. The environment turns it on: MLAC_TRACE=FILE
// appends to a file, MLAC_LOG=off|plan|run chooses what is traced (`run` is everything, and what MLAC_TRACE
// alone means). With MLAC_LOG alone the lines go to standard error. A line is written at once and whole:
// threads and processes may share a file.
#pragma once

#include "runtime/Manifest.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace mla {

/// Each level includes those before it.
enum class TraceLevel { off, plan, run };

/// Element types of one kernel's operands and arithmetic.
struct TraceTypes {
  DType query = DType::f32;
  DType storage = DType::f32; ///< of the cache, or the key
  DType compute = DType::f32;

  bool operator==(const TraceTypes &) const = default;
};

/// What a kernel declares: of its first query, its first cache, and its matrix products.
TraceTypes declaredTypes(const KernelInfo &kernel);

/// One call. `given` is what the caller passed, before any check; sizes below 0 are not known and left out.
struct TraceCall {
  std::string_view kernel;
  TraceTypes given;
  TraceTypes declared;
  int64_t requests = -1;
  int64_t queryTokens = -1;
  int64_t cachedTokens = -1;
};

/// Whether calls of this level are traced; cheap enough for every call.
bool isTraced(TraceLevel level) noexcept;

/// Writes one line if calls of this level are traced. Never fails: a trace that cannot be written is dropped.
void traceCall(TraceLevel level, const TraceCall &call) noexcept;

/// Sets what the environment would; an empty path is standard error. False if the file cannot be opened for
/// appending: the trace is then off.
bool setTrace(TraceLevel level, const std::string &path) noexcept;

} // namespace mla

// New rows through a writer on a device, from random rows to a verdict: what `mlac run` and the numeric tests are made of.
#pragma once

#include "runtime/Measure.h"
#include "runtime/Runner.h"
#include "runtime/reference/Writer.h"

namespace mla {

struct WriterReport {
  std::string device, writer;
  int64_t rows = 0;         ///< of one append
  int64_t bytesRead = 0;    ///< of the new rows
  int64_t bytesWritten = 0; ///< to the cache
  Measured time;            ///< of an append by slots

  // Of all appends that were compared: by slots of either width, with every seventh row skipped, and by request lists.
  int64_t appends = 0;
  int64_t elements = 0;    ///< that should have been written
  int64_t badElements = 0; ///< of those; the codes must be the same, a NaN any NaN
  bool canariesIntact = true; ///< no other byte of the cache changed
  std::string firstBad;       ///< "row 3, element 17: 0x7f instead of 0x7e"

  bool passed() const { return badElements == 0 && canariesIntact; }
  std::string toJson() const;
  std::string toText() const;
};

/// `config.qLens` new rows for each request, whose cached tokens they then end. Throws Error from the operands, the launch and the
/// device.
WriterReport runAndCheck(Device &device, Module &module, const WriterInfo &writer, const RunConfig &config);

} // namespace mla

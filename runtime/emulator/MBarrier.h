//===- MBarrier.h - mbarriers and copies that complete on them --*- C++ -*-===//
#ifndef MLAC_RUNTIME_EMULATOR_MBARRIER_H
#define MLAC_RUNTIME_EMULATOR_MBARRIER_H

#include "runtime/emulator/Clock.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mla::emulator {

/// An arrival that takes place when copies have landed.
struct CopyArrival {
  ThreadClock clock; ///< Of the thread when it asked; holds a reference.
  uint64_t upTo;     ///< All copies that the thread had issued by then: this many.
  const char *site;
};

/// The state of an mbarrier object.
struct MBarrier {
  uint32_t offset = 0;   ///< Where in shared memory.
  uint32_t expected = 0; ///< Arrivals each phase takes.
  uint32_t pending = 0;  ///< Arrivals this phase still takes.
  int64_t bytes = 0;     ///< Bytes this phase still takes; copies may come before they are expected.
  uint32_t phase = 0;    ///< Completed phases.
  std::vector<ThreadClock> arrivals;     ///< Of this phase. Each holds a reference to its Clock.
  std::vector<uint32_t> waiters;         ///< Threads that wait for this phase.
  std::vector<CopyArrival> copyArrivals; ///< Not counted yet.
  Clock *completed = nullptr;            ///< What a thread knows that saw the last completed phase.
  Clock *joinedFrom = nullptr;           ///< What the last waiter knew before,
  Clock *joinedTo = nullptr;             ///< and after. Most waiters knew the same, and share the result.
};

/// A cp.async.bulk that has not landed.
struct BulkCopy {
  std::byte *dst;
  const std::byte *src;
  uint32_t bytes;
  uint32_t mbarrier; ///< Its index.
  const char *site;
};

} // namespace mla::emulator

#endif // MLAC_RUNTIME_EMULATOR_MBARRIER_H

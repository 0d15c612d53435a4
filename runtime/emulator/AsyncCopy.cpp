//===- AsyncCopy.cpp - cp.async, which lands at the wait ------------------===//

#include "runtime/emulator/Executor.h"

#include <cstring>
#include <fmt/format.h>

using namespace mla::emulator;

void Executor::checkCopy(uintptr_t dst, uintptr_t src, uint32_t alignment, const char *site) {
  if (!shared.owns(dst))
    fail(site, fmt::format("the destination {:#x} of an asynchronous copy is not in shared memory", dst));
  checkAlignment(dst, alignment, site);
  checkAlignment(src, alignment, site);
}

void Executor::copyAsync(void *dst, const void *src, uint32_t bytes, uint32_t srcBytes, const char *site) {
  if (bytes != 4 && bytes != 8 && bytes != 16)
    fail(site, fmt::format("cp.async of {} bytes; 4, 8 and 16 are possible", bytes));
  if (srcBytes > bytes)
    fail(site, fmt::format("cp.async of {} bytes reads {}", bytes, srcBytes));
  auto to = reinterpret_cast<uintptr_t>(dst), from = reinterpret_cast<uintptr_t>(src);
  checkCopy(to, from, bytes, site);
  if (srcBytes)
    globalRange(from, srcBytes, site).traffic.read += srcBytes;
  shared.issueCopy(running->clock, to, bytes, site);
  running->copies.push_back(
      {static_cast<std::byte *>(dst), static_cast<const std::byte *>(src), bytes, srcBytes, site, 0});
}

void Executor::copyCommit() { running->groupEnds.push_back(running->copies.size()); }

/// Does nothing when the copy has landed already, on behalf of an mbarrier.
void Executor::land(Copy &copy, const Thread &thread) {
  if (!copy.bytes)
    return;
  ThreadClock writer = thread.clock;
  if (copy.attachTime) // The arrival that follows it releases nothing later.
    writer.time = copy.attachTime;
  std::byte data[16] = {};
  if (copy.srcBytes == sizeof(data)) [[likely]]
    std::memcpy(data, copy.src, sizeof(data));
  else if (copy.srcBytes)
    std::memcpy(data, copy.src, copy.srcBytes);
  std::memcpy(copy.dst, data, copy.bytes);
  shared.landCopy(writer, reinterpret_cast<uintptr_t>(copy.dst), copy.bytes, copy.site);
  copy.bytes = 0;
}

/// Removes the first `count` copies, which have landed.
void Executor::dropLanded(Thread &thread, uint32_t count) {
  thread.copies.erase(thread.copies.begin(), thread.copies.begin() + count);
  thread.dropped += count;
  for (uint32_t &end : thread.groupEnds)
    end -= count;
}

void Executor::copyWait(uint32_t pending) {
  Thread &self = *running;
  if (self.groupEnds.size() <= pending)
    return;
  uint32_t groups = self.groupEnds.size() - pending;
  uint32_t count = self.groupEnds[groups - 1];
  for (uint32_t i = 0; i < count; ++i)
    land(self.copies[i], self);
  self.groupEnds.erase(self.groupEnds.begin(), self.groupEnds.begin() + groups);
  dropLanded(self, count);
}

void Executor::failInFlight(const Copy &copy, const char *when) {
  fail(copy.site,
       fmt::format("this copy of {} bytes to shared byte {} is in flight when the {} ends: no wait covers it",
                   copy.bytes, shared.offset(reinterpret_cast<uintptr_t>(copy.dst)), when));
}

void Executor::checkNothingInFlight(Thread &thread) {
  for (const Copy &copy : thread.copies) {
    if (copy.bytes && !copy.attachTime)
      failInFlight(copy, "thread");
  }
}

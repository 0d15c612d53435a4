//===- MBarrier.cpp - mbarriers and the copies that complete on them ------===//
//
// The asynchronous writers are threads of their own in vector time: number i, counted from the end of the
// block's threads, writes what completes on the mbarriers i, i + 32, ... . Its time is the phase, so exactly
// those who saw the phase complete see the data; the thread that issued the copy does not just because it
// issued it.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Executor.h"
#include "runtime/emulator/Text.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace mla::emulator;

uintptr_t Executor::mbarrierAddress(void *p, const char *site) {
  auto address = reinterpret_cast<uintptr_t>(p);
  if (!shared.owns(address))
    fail(site, fmt::format("the mbarrier at {:#x} is not in shared memory", address));
  checkAlignment(address, 8, site);
  return address;
}

void Executor::mbarrierInit(void *p, uint32_t count, const char *site) {
  constexpr uint32_t limit = (1u << 20) - 1;
  uintptr_t address = mbarrierAddress(p, site);
  if (count == 0 || count > limit)
    fail(site, fmt::format("an mbarrier for {} arrivals; 1 to {} are possible", count, limit));
  shared.makeBarrier(running->clock, address, site);
  MBarrier barrier;
  barrier.offset = shared.offset(address);
  barrier.expected = barrier.pending = count;
  mbarriers.push_back(std::move(barrier));
}

MBarrier &Executor::findMBarrier(void *p, const char *site) {
  uintptr_t address = mbarrierAddress(p, site);
  shared.useBarrier(running->clock, address, site);
  uint32_t offset = shared.offset(address);
  for (MBarrier &barrier : mbarriers) {
    if (barrier.offset == offset)
      return barrier;
  }
  fail(site, fmt::format("shared byte {} is inside of an mbarrier, not its start", offset));
}

/// The asynchronous writer of the barrier's current phase.
ThreadClock Executor::asyncClock(const MBarrier &barrier) const {
  uint32_t writer = warpCount * warpSize + mbarrierIndex(barrier) % warpSize;
  return {writer, barrier.phase + 1, nothing};
}

void Executor::countArrival(MBarrier &barrier, const ThreadClock &clock, const char *site) {
  if (barrier.pending == 0)
    fail(site, fmt::format("the mbarrier at shared byte {} gets more than its {} arrivals in phase {}",
                           barrier.offset, barrier.expected, barrier.phase));
  --barrier.pending;
  clocks.share(clock.seen);
  barrier.arrivals.push_back(clock);
}

/// The thread learns what those knew who completed the last phase.
void Executor::acquire(Thread &thread, MBarrier &barrier) {
  Clock *&seen = thread.clock.seen;
  if (!barrier.completed)
    return;
  if (seen != barrier.joinedFrom) {
    forgetJoined(barrier);
    barrier.joinedFrom = clocks.share(seen);
    barrier.joinedTo = clocks.join(seen, barrier.completed);
  }
  clocks.drop(seen);
  seen = clocks.share(barrier.joinedTo);
}

void Executor::forgetJoined(MBarrier &barrier) {
  if (!barrier.joinedFrom)
    return;
  clocks.drop(barrier.joinedFrom);
  clocks.drop(barrier.joinedTo);
  barrier.joinedFrom = barrier.joinedTo = nullptr;
}

void Executor::completePhaseIfDone(MBarrier &barrier) {
  if (barrier.pending || barrier.bytes)
    return;
  barrier.arrivals.push_back(asyncClock(barrier));
  clocks.share(nothing);
  Clock *seen = clocks.join(barrier.arrivals);
  for (const ThreadClock &arrival : barrier.arrivals)
    clocks.drop(arrival.seen);
  if (barrier.completed)
    clocks.drop(barrier.completed);
  forgetJoined(barrier);
  barrier.completed = seen;
  barrier.arrivals.clear();
  barrier.pending = barrier.expected;
  ++barrier.phase;
  wakeWaiters(barrier);
}

void Executor::wakeWaiters(MBarrier &barrier) {
  for (uint32_t id : barrier.waiters) {
    acquire(threads[id], barrier);
    wake(id / warpSize, 1u << id % warpSize);
  }
  barrier.waiters.clear();
  idleSteps = 0;
}

void Executor::mbarrierArrive(void *p, uint32_t bytes, const char *site) {
  MBarrier &barrier = findMBarrier(p, site);
  barrier.bytes += bytes;
  countArrival(barrier, running->clock, site);
  ++running->clock.time;
  completePhaseIfDone(barrier);
}

void Executor::mbarrierWait(void *p, uint32_t parity, const char *site) {
  MBarrier &barrier = findMBarrier(p, site);
  if ((barrier.phase & 1) != (parity & 1))
    return acquire(*running, barrier);
  running->wait = {Op::MBarrier, parity, barrier.offset, site, nullptr};
  barrier.waiters.push_back(running->clock.id);
  sleep();
}

void Executor::copyBulk(void *dst, const void *src, uint32_t bytes, void *mbar, const char *site) {
  MBarrier &barrier = findMBarrier(mbar, site);
  auto to = reinterpret_cast<uintptr_t>(dst), from = reinterpret_cast<uintptr_t>(src);
  if (bytes == 0 || bytes % 16)
    fail(site, fmt::format("cp.async.bulk of {} bytes, which is not a positive multiple of 16", bytes));
  checkCopy(to, from, 16, site);
  globalRange(from, bytes, site).traffic.read += bytes;
  shared.issueCopy(running->clock, to, bytes, site);
  bulkCopies.push_back({static_cast<std::byte *>(dst), static_cast<const std::byte *>(src), bytes,
                        mbarrierIndex(barrier), site});
}

void Executor::mbarrierArriveAfterCopies(void *p, const char *site) {
  MBarrier &barrier = findMBarrier(p, site);
  Thread &self = *running;
  for (Copy &copy : self.copies) {
    if (!copy.attachTime)
      copy.attachTime = self.clock.time;
  }
  clocks.share(self.clock.seen);
  barrier.copyArrivals.push_back({self.clock, self.dropped + self.copies.size(), site});
  ++self.clock.time;
}

//===----------------------------------------------------------------------===//
// Landing
//===----------------------------------------------------------------------===//

bool Executor::landBulk(MBarrier &barrier) {
  auto ours = [&](const BulkCopy &copy) { return copy.mbarrier == mbarrierIndex(barrier); };
  auto found = std::find_if(bulkCopies.begin(), bulkCopies.end(), ours);
  if (found == bulkCopies.end())
    return false;
  std::memcpy(found->dst, found->src, found->bytes);
  shared.landCopy(asyncClock(barrier), reinterpret_cast<uintptr_t>(found->dst), found->bytes, found->site);
  barrier.bytes -= found->bytes;
  bulkCopies.erase(found);
  completePhaseIfDone(barrier);
  return true;
}

/// Lands what the oldest of the awaited arrivals covers. The copies count as written by their thread when it
/// asked for the arrival.
bool Executor::landAttached(MBarrier &barrier) {
  if (barrier.copyArrivals.empty())
    return false;
  CopyArrival arrival = barrier.copyArrivals.front();
  barrier.copyArrivals.erase(barrier.copyArrivals.begin());
  Thread &thread = threads[arrival.clock.id];
  for (uint64_t i = thread.dropped; i < arrival.upTo; ++i)
    land(thread.copies[i - thread.dropped], thread);
  countArrival(barrier, arrival.clock, arrival.site);
  clocks.drop(arrival.clock.seen);
  completePhaseIfDone(barrier);
  return true;
}

/// Nothing can run: lands one thing that a waiting thread waits for. Returns false when there is none.
bool Executor::landForWaiters() {
  for (MBarrier &barrier : mbarriers) {
    if (!barrier.waiters.empty() && (landAttached(barrier) || landBulk(barrier)))
      return true;
  }
  return false;
}

void Executor::checkMBarriersIdle() {
  for (const BulkCopy &copy : bulkCopies)
    fail(copy.site,
         fmt::format("this copy of {} bytes to shared byte {} is in flight when the block ends: nobody "
                     "waited on its mbarrier",
                     copy.bytes, shared.offset(reinterpret_cast<uintptr_t>(copy.dst))));
  for (uint32_t id = 0; id < config->block; ++id) {
    for (const Copy &copy : threads[id].copies) {
      if (copy.bytes)
        failInFlight(copy, "block");
    }
  }
}

//===- Barrier.cpp - bar.sync and bar.arrive ------------------------------===//

#include "runtime/emulator/Executor.h"
#include "runtime/emulator/Text.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

using namespace mla::emulator;

/// A time later than all of `points`. Threads that meet go on with equal times, so that the shadow can keep
/// reads of a warp as one entry.
uint32_t Executor::nextTime(std::span<const ThreadClock> points) {
  uint32_t latest = 0;
  for (const ThreadClock &point : points)
    latest = std::max(latest, point.time);
  return latest + 1;
}

void Executor::adopt(Thread &thread, Clock *seen, uint32_t time) {
  clocks.drop(thread.clock.seen);
  thread.clock.seen = clocks.share(seen);
  thread.clock.time = time;
}

void Executor::checkBarrierArguments(uint32_t id, uint32_t count, const char *site) {
  if (id >= barriers.size())
    fail(site, fmt::format("barrier {}; a block has {}", id, barriers.size()));
  if (count % warpSize && count != config->block)
    fail(site, fmt::format("barrier {} for {} threads, which is not a multiple of {}", id, count, warpSize));
  if (count > config->block)
    fail(site, fmt::format("barrier {} for {} threads in a block of {}", id, count, config->block));
  const NamedBarrier &barrier = barriers[id];
  if (barrier.expected && barrier.expected != count)
    fail(site, fmt::format("barrier {} for {} threads, but at {} it is for {}", id, count,
                           siteText(barrier.site), barrier.expected));
}

/// Other lanes of this warp have come. Once each, and from here?
void Executor::checkSameInstruction(const NamedBarrier &barrier, uint32_t id, const char *site) {
  uint32_t warp = running->warp();
  if (barrier.arrived[warp] >> running->lane() & 1)
    fail(site, fmt::format("thread {} arrives twice in one phase of barrier {}", running->clock.id, id));
  if (!sameText(barrier.sites[warp], site))
    fail(site, fmt::format("diverged warp: lanes {:#010x} of it came to barrier {} at {}",
                           barrier.arrived[warp], id, siteText(barrier.sites[warp])));
}

/// Registers the running thread at the barrier.
NamedBarrier &Executor::joinBarrier(uint32_t id, uint32_t count, const char *site) {
  checkBarrierArguments(id, count, site);
  NamedBarrier &barrier = barriers[id];
  uint32_t warp = running->warp();
  if (!barrier.expected) {
    barrier.expected = count;
    barrier.site = site;
  }
  if (barrier.arrived[warp])
    checkSameInstruction(barrier, id, site);
  barrier.sites[warp] = site;
  barrier.arrived[warp] |= 1u << running->lane();
  barrier.arrivals.push_back(running->clock);
  clocks.share(running->clock.seen);
  return barrier;
}

/// The barriers of PTX count whole warps: lanes of a warp must come together and to the same instruction.
void Executor::checkWholeWarps(const NamedBarrier &barrier, uint32_t id) {
  for (uint32_t warp = 0; warp < warpCount; ++warp) {
    uint32_t missing = warps[warp].exists & ~barrier.arrived[warp];
    if (!barrier.arrived[warp] || !missing)
      continue;
    fail(barrier.site,
         fmt::format("barrier {} completes with {} threads, but lane {} of warp {} did not come", id,
                     barrier.expected, std::countr_zero(missing), warp));
  }
}

/// Everybody came: all who wait know what all who came knew.
void Executor::completeBarrier(NamedBarrier &barrier, uint32_t id) {
  checkWholeWarps(barrier, id);
  Clock *seen = clocks.join(barrier.arrivals);
  uint32_t time = nextTime(barrier.arrivals);
  for (const ThreadClock &arrival : barrier.arrivals) {
    clocks.drop(arrival.seen);
    if (barrier.waiting[arrival.id / warpSize] >> arrival.id % warpSize & 1)
      adopt(threads[arrival.id], seen, time);
  }
  clocks.drop(seen);
  for (uint32_t warp = 0; warp < warpCount; ++warp)
    wake(warp, barrier.waiting[warp]);
  barrier.expected = 0;
  barrier.arrivals.clear();
  barrier.waiting.fill(0);
  barrier.arrived.fill(0);
  idleSteps = 0;
}

void Executor::barrier(uint32_t id, uint32_t count, const char *site) {
  count = count ? count : config->block;
  NamedBarrier &barrier = joinBarrier(id, count, site);
  barrier.waiting[running->warp()] |= 1u << running->lane();
  running->wait = {Op::Barrier, id, count, site, nullptr};
  if (barrier.arrivals.size() < count)
    return sleep();
  completeBarrier(barrier, id);
  pause();
}

void Executor::barrierArrive(uint32_t id, uint32_t count, const char *site) {
  count = count ? count : config->block;
  NamedBarrier &barrier = joinBarrier(id, count, site);
  ++running->clock.time; // What comes now is after the arrival, so nobody learns of it here.
  if (barrier.arrivals.size() == count)
    completeBarrier(barrier, id);
}

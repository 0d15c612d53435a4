//===- Clock.cpp - Vector clocks ------------------------------------------===//

#include "runtime/emulator/Clock.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace mla::emulator;

uint32_t ThreadClock::unseenLanes(uint32_t warp, uint32_t mask, uint32_t when) const {
  uint32_t left = mask;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t lane = std::countr_zero(rest);
    if (sees(warp * warpSize + lane, when))
      left &= ~(1u << lane);
  }
  return left;
}

void ClockPool::reset(uint32_t warps) {
  width = warps * warpSize;
  idle.clear();
  for (auto &clock : all)
    idle.push_back(clock.get());
}

Clock *ClockPool::take() {
  if (idle.empty()) {
    all.push_back(std::make_unique<Clock>());
    idle.push_back(all.back().get());
  }
  Clock *clock = idle.back();
  idle.pop_back();
  clock->refs = 1;
  return clock;
}

Clock *ClockPool::zero() {
  Clock *clock = take();
  std::fill_n(clock->at, width, 0u);
  summarise(clock);
  return clock;
}

void ClockPool::raise(Clock *clock, const Clock *by) const {
  for (uint32_t i = 0; i < width; ++i)
    clock->at[i] = std::max(clock->at[i], by->at[i]);
}

void ClockPool::summarise(Clock *clock) const {
  for (uint32_t warp = 0; warp < width / warpSize; ++warp) {
    const uint32_t *lanes = clock->at + warp * warpSize;
    uint32_t least = lanes[0];
    for (uint32_t lane = 1; lane < warpSize; ++lane)
      least = std::min(least, lanes[lane]);
    clock->warpMin[warp] = least;
  }
}

Clock *ClockPool::join(std::span<const ThreadClock> points) {
  Clock *joined = take();
  const Clock *last = points.front().seen;
  std::memcpy(joined->at, last->at, width * sizeof(uint32_t));
  for (const ThreadClock &point : points) {
    if (point.seen != last)
      raise(joined, last = point.seen);
  }
  for (const ThreadClock &point : points)
    joined->at[point.id] = std::max(joined->at[point.id], point.time);
  summarise(joined);
  return joined;
}

Clock *ClockPool::join(const Clock *a, const Clock *b) {
  Clock *joined = take();
  std::memcpy(joined->at, a->at, width * sizeof(uint32_t));
  raise(joined, b);
  summarise(joined);
  return joined;
}

//===- Clock.h - Vector clocks: what a thread has seen of others -*- C++ -*-===//
//
// A thread's own time rises whenever it releases (arrives at a barrier). Its Clock says up to which time it
// has seen each other thread. Threads that met share one immutable Clock, so a block barrier costs one join,
// not one for each thread.
//
//===----------------------------------------------------------------------===//
#ifndef MLAC_RUNTIME_EMULATOR_CLOCK_H
#define MLAC_RUNTIME_EMULATOR_CLOCK_H

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace mla::emulator {

constexpr uint32_t warpSize = 32;
constexpr uint32_t maxThreads = 1024;
/// One more warp of clock components stands for the asynchronous writers, see MBarrier.cpp.
constexpr uint32_t maxClockWarps = maxThreads / warpSize + 1;

struct Clock {
  uint32_t refs;
  uint32_t warpMin[maxClockWarps]; ///< The least component of each warp: most questions stop there.
  uint32_t at[maxClockWarps * warpSize];
};

/// A point in a thread's life.
struct ThreadClock {
  uint32_t id = 0;
  uint32_t time = 1;
  Clock *seen = nullptr;

  /// Did what `thread` did at `when` happen before this?
  bool sees(uint32_t thread, uint32_t when) const { return thread == id || seen->at[thread] >= when; }

  /// The lanes of `mask` whose deeds at `when` did not happen before this.
  uint32_t unseen(uint32_t warp, uint32_t mask, uint32_t when) const {
    return seen->warpMin[warp] >= when ? 0 : unseenLanes(warp, mask, when);
  }

private:
  uint32_t unseenLanes(uint32_t warp, uint32_t mask, uint32_t when) const;
};

/// Makes, joins and recycles Clocks of one block.
class ClockPool {
public:
  /// Forgets all Clocks; the next ones have components for `warps` warps.
  void reset(uint32_t warps);

  /// A Clock that has seen nothing, with one reference.
  Clock *zero();

  Clock *share(Clock *clock) {
    ++clock->refs;
    return clock;
  }
  void drop(Clock *clock) {
    if (--clock->refs == 0)
      idle.push_back(clock);
  }

  /// What somebody knows who has seen all of `points`; one reference.
  Clock *join(std::span<const ThreadClock> points);

  /// What somebody knows who has seen both; one reference.
  Clock *join(const Clock *a, const Clock *b);

private:
  Clock *take();
  void raise(Clock *clock, const Clock *by) const;
  void summarise(Clock *clock) const;

  std::vector<std::unique_ptr<Clock>> all;
  std::vector<Clock *> idle;
  uint32_t width = warpSize;
};

} // namespace mla::emulator

#endif // MLAC_RUNTIME_EMULATOR_CLOCK_H

//===- Warp.cpp - Instructions at which the lanes of a warp meet ----------===//

#include "runtime/emulator/Executor.h"
#include "runtime/emulator/Text.h"

#include <bit>
#include <fmt/format.h>

using namespace mla::emulator;

/// How often a warp that could go on gives others a turn.
static constexpr uint32_t pauseOneIn = 16;

void Executor::failDiverged(const Thread &self, const Thread &other) {
  fail(self.wait.site, fmt::format("diverged warp: lane {} is here while lane {} of the mask {:#010x} {}",
                                   self.lane(), other.lane(), self.wait.mask, describeWait(other)));
}

/// All lanes of the running thread's mask wait. Are they at the same instruction? A lane that waits for
/// others under a different mask may still come; one that waits for this thread elsewhere cannot.
bool Executor::allSame(Thread *lanes, uint32_t mask) {
  const Wait &mine = running->wait;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const Thread &other = lanes[std::countr_zero(rest)];
    const Wait &theirs = other.wait;
    bool awaitsMe = theirs.mask >> running->lane() & 1;
    if (theirs.mask != mask && !awaitsMe)
      return false;
    if (theirs.mask != mask || theirs.op != mine.op || theirs.detail != mine.detail ||
        !sameText(theirs.site, mine.site))
      failDiverged(*running, other);
  }
  return true;
}

void Executor::failLeftOut(uint32_t mask, const char *site) {
  fail(site, fmt::format("lane {} executes a warp instruction whose mask {:#010x} leaves it out",
                         running->lane(), mask));
}

/// All lanes are there: executes the instruction and lets them go on.
void Executor::act(Act action, Thread *lanes, uint32_t mask, const char *site) {
  Warp &warp = warps[running->warp()];
  warp.meeting &= ~mask;
  idleSteps = 0;
  action(*this, lanes, mask, site);
  warp.runnable |= mask;
  if (chance(pauseOneIn))
    pause();
}

void Executor::warpSync(uint32_t mask, const char *site) {
  meet(Op::WarpSync, 0, mask, nullptr, site,
       [](Executor &executor, Thread *lanes, uint32_t mask, const char *) {
         executor.synchroniseLanes(lanes, mask);
       });
}

void Executor::synchroniseLanes(Thread *lanes, uint32_t mask) {
  std::array<ThreadClock, warpSize> points;
  uint32_t count = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    points[count++] = lanes[std::countr_zero(rest)].clock;
  Clock *seen = clocks.join({points.data(), count});
  uint32_t time = nextTime({points.data(), count});
  for (uint32_t i = 0; i < count; ++i)
    adopt(threads[points[i].id], seen, time);
  clocks.drop(seen);
}

const std::byte *Executor::matrixRow(const Thread &lane, const void *p, const char *site) {
  auto address = reinterpret_cast<uintptr_t>(p);
  if (!shared.owns(address))
    fail(site, fmt::format("lane {} gives the row address {:#x}, which is not in shared memory", lane.lane(),
                           address));
  if (address % 16)
    fail(site, fmt::format("lane {} gives a row at shared byte {}, which is not aligned to 16 bytes",
                           lane.lane(), shared.offset(address)));
  shared.read(lane.clock, address, 16, site);
  return static_cast<const std::byte *>(p);
}

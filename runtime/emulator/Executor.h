//===- Executor.h - Runs the blocks of one launch ---------------*- C++ -*-===//
//
// One executor for each host thread. Its member functions run on the fibers of the kernel's threads, apart
// from launch() and what it calls. Which file implements what:
//   Executor.cpp   blocks, scheduling, failure, plain accesses
//   Warp.cpp       instructions of a warp that meets
//   Barrier.cpp    bar.sync and bar.arrive
//   AsyncCopy.cpp  cp.async
//   MBarrier.cpp   mbarriers and the copies that complete on them
//   Deadlock.cpp   who waits where
//
//===----------------------------------------------------------------------===//
#ifndef MLAC_RUNTIME_EMULATOR_EXECUTOR_H
#define MLAC_RUNTIME_EMULATOR_EXECUTOR_H

#include "runtime/emulator/Emulator.h"
#include "runtime/emulator/GlobalView.h"
#include "runtime/emulator/MBarrier.h"
#include "runtime/emulator/SharedMemory.h"
#include "runtime/emulator/Thread.h"

#include <array>
#include <bit>
#include <optional>

namespace mla::emulator {

/// A pending phase of a named barrier.
struct NamedBarrier {
  uint32_t expected = 0; ///< Threads the phase takes; 0: nobody is here.
  const char *site = nullptr;
  std::vector<ThreadClock> arrivals;
  std::array<uint32_t, maxThreads / warpSize> waiting = {};   ///< Lanes of each warp that wait.
  std::array<const char *, maxThreads / warpSize> sites = {}; ///< Where the first lane of each warp came.
  std::array<uint32_t, maxThreads / warpSize> arrived = {}; ///< Lanes of each warp that came, waiting or not.
};

class Executor final : public Reporter {
public:
  Executor();

  void launch(Memory &memory, Entry entry, void **params, const LaunchConfig &config);

  uint32_t specialRegister(uint32_t which) const;
  void *sharedBase() const { return shared.base(); }

  void load(const void *p, uint32_t bytes, const char *site);
  void store(void *p, uint32_t bytes, const char *site);
  uint32_t atomicAdd(void *p, uint32_t value, const char *site);
  uint32_t atomicCas(void *p, uint32_t compare, uint32_t value, const char *site);

  /// Runs when all lanes of a warp instruction are there; `lanes` are the warp's 32 threads.
  using Act = void (*)(Executor &, Thread *lanes, uint32_t mask, const char *site);
  /// Waits for all lanes of the mask to come to the same instruction; the last to come runs `act` for all.
  void meet(Op op, uint32_t detail, uint32_t mask, void *args, const char *site, Act act);
  void warpSync(uint32_t mask, const char *site);
  /// Reads a row of a matrix from shared memory on behalf of the lane that gave its address.
  const std::byte *matrixRow(const Thread &lane, const void *p, const char *site);

  void gridWait() { running->gridWaited = true; }
  void barrier(uint32_t id, uint32_t threads, const char *site);
  void barrierArrive(uint32_t id, uint32_t threads, const char *site);

  void copyAsync(void *dst, const void *src, uint32_t bytes, uint32_t srcBytes, const char *site);
  void copyCommit();
  void copyWait(uint32_t pending);

  void mbarrierInit(void *p, uint32_t count, const char *site);
  void mbarrierArrive(void *p, uint32_t bytes, const char *site);
  void mbarrierWait(void *p, uint32_t parity, const char *site);
  void copyBulk(void *dst, const void *src, uint32_t bytes, void *mbar, const char *site);
  void mbarrierArriveAfterCopies(void *p, const char *site);

private:
  // Executor.cpp
  void report(const char *site, std::string what) override;
  void checkConfig(const LaunchConfig &config);
  std::vector<uint32_t> blockOrder(uint32_t grid);
  void runBlock();
  void resetBlock();
  void resetThread(uint32_t id);
  void threadMain(Thread &thread);
  void exitThread(Thread &thread);
  void abandonFibers();
  void finishBlock();
  Thread *firstRunnable(uint32_t warp) {
    return &threads[warp * warpSize + std::countr_zero(warps[warp].runnable)];
  }
  Thread *pickAny();
  Thread *pickElsewhere();
  void switchTo(Thread &thread);
  void sleep();
  void pause();
  bool chance(uint32_t oneIn) { return random() % oneIn == 0; }
  uint32_t random();
  uint32_t randomBit(uint32_t mask);
  void wake(uint32_t warp, uint32_t lanes) { warps[warp].runnable |= lanes; }
  void checkAlignment(uintptr_t address, uint32_t alignment, const char *site);
  GlobalView::Range &globalRange(uintptr_t address, uint32_t bytes, const char *site);
  [[noreturn]] void failBlock(const char *site, std::string what, uint32_t thread);
  void waitIdly(uint32_t steps, const char *site);
  void beginAtomic(uintptr_t address, const char *site);

  // Warp.cpp
  [[noreturn]] void failLeftOut(uint32_t mask, const char *site);
  void act(Act act, Thread *lanes, uint32_t mask, const char *site);
  bool allSame(Thread *lanes, uint32_t mask);
  [[noreturn]] void failDiverged(const Thread &self, const Thread &other);
  void synchroniseLanes(Thread *lanes, uint32_t mask);

  // Barrier.cpp
  void checkBarrierArguments(uint32_t id, uint32_t threads, const char *site);
  void checkSameInstruction(const NamedBarrier &barrier, uint32_t id, const char *site);
  NamedBarrier &joinBarrier(uint32_t id, uint32_t threads, const char *site);
  void completeBarrier(NamedBarrier &barrier, uint32_t id);
  void checkWholeWarps(const NamedBarrier &barrier, uint32_t id);
  static uint32_t nextTime(std::span<const ThreadClock> points);
  void adopt(Thread &thread, Clock *seen, uint32_t time);

  // AsyncCopy.cpp
  void land(Copy &copy, const Thread &thread);
  void checkCopy(uintptr_t dst, uintptr_t src, uint32_t alignment, const char *site);
  [[noreturn]] void failInFlight(const Copy &copy, const char *when);
  void dropLanded(Thread &thread, uint32_t count);
  void checkNothingInFlight(Thread &thread);

  // MBarrier.cpp
  MBarrier &findMBarrier(void *p, const char *site);
  uint32_t mbarrierIndex(const MBarrier &barrier) const { return &barrier - mbarriers.data(); }
  ThreadClock asyncClock(const MBarrier &barrier) const;
  void countArrival(MBarrier &barrier, const ThreadClock &clock, const char *site);
  void completePhaseIfDone(MBarrier &barrier);
  void acquire(Thread &thread, MBarrier &barrier);
  void forgetJoined(MBarrier &barrier);
  void wakeWaiters(MBarrier &barrier);
  uintptr_t mbarrierAddress(void *p, const char *site);
  bool landForWaiters();
  bool landBulk(MBarrier &barrier);
  bool landAttached(MBarrier &barrier);
  void checkMBarriersIdle();

  // Deadlock.cpp
  [[noreturn]] void failDeadlock();
  std::string describeWait(const Thread &thread) const;
  std::string describeState(const Thread &thread) const;
  std::string describeThreads() const;
  bool hasExited(uint32_t id) const { return warps[id / warpSize].exited >> id % warpSize & 1; }

  // The launch.
  Memory *memory = nullptr;
  Entry entry = nullptr;
  void **params = nullptr;
  const LaunchConfig *config = nullptr;
  GlobalView global;
  uint64_t randomState = 0;
  bool active = false;
  std::optional<Failure> failure;

  // The block.
  uint32_t block = 0;
  uint32_t warpCount = 0;
  uint32_t alive = 0;
  uint32_t idleSteps = 0; ///< Since something other than loads and atomics happened.
  uint32_t loads = 0;
  SharedMemory shared;
  ClockPool clocks;
  Clock *nothing = nullptr; ///< What somebody knows who has seen nobody.
  std::vector<Thread> threads;
  std::array<Warp, maxThreads / warpSize> warps;
  std::array<NamedBarrier, 16> barriers;
  std::vector<MBarrier> mbarriers;
  std::vector<BulkCopy> bulkCopies;

  Thread *running = nullptr;
  Fiber host; ///< The stack that called launch().
  StackPool stacks;
  Switcher switcher;
};

//===----------------------------------------------------------------------===//
// The way from a hook to another fiber is inline: after a jump every return is mispredicted, so there should
// be one only, that of the hook.
//===----------------------------------------------------------------------===//

inline void Executor::switchTo(Thread &thread) {
  Thread *self = running;
  if (self == &thread)
    return;
  running = &thread;
  switcher.jump(self->fiber, thread.fiber);
}

/// Takes the running thread off its warp and runs another one; returns when somebody woke this one.
inline void Executor::sleep() {
  uint32_t warp = running->warp();
  warps[warp].runnable &= ~(1u << running->lane());
  if (Thread *next = warps[warp].runnable ? firstRunnable(warp) : pickElsewhere())
    switchTo(*next);
}

inline void Executor::meet(Op op, uint32_t detail, uint32_t mask, void *args, const char *site, Act action) {
  Thread &self = *running;
  Warp &warp = warps[self.warp()];
  if (!(mask >> self.lane() & 1)) [[unlikely]]
    failLeftOut(mask, site);
  self.wait = {op, detail, mask, site, args};
  warp.meeting |= 1u << self.lane();
  Thread *lanes = &threads[self.warp() * warpSize];
  if ((mask & ~warp.meeting) || !allSame(lanes, mask))
    sleep();
  else
    act(action, lanes, mask, site);
}

/// The executor whose kernel runs on this host thread. Hooks are only called while there is one.
Executor &currentExecutor();

} // namespace mla::emulator

#endif // MLAC_RUNTIME_EMULATOR_EXECUTOR_H

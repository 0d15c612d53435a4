//===- Thread.h - A CUDA thread and what it waits for -----------*- C++ -*-===//
#ifndef MLAC_RUNTIME_EMULATOR_THREAD_H
#define MLAC_RUNTIME_EMULATOR_THREAD_H

#include "runtime/emulator/Clock.h"
#include "runtime/emulator/Fiber.h"

#include <cstdint>
#include <vector>

namespace mla::emulator {

enum class Op : uint8_t { None, WarpSync, Shfl, Vote, Ldmatrix, Mma, Barrier, MBarrier };

/// What a thread waits for.
struct Wait {
  Op op = Op::None;
  uint32_t detail =
      0;             ///< The kind of a warp instruction, the number of a barrier, the parity of an mbarrier.
  uint32_t mask = 0; ///< The lanes of a warp instruction, the threads of a barrier, the place of an mbarrier.
  const char *site = nullptr;
  void *args = nullptr; ///< A warp instruction's operands; they live on the waiting fiber's stack.
};

/// A cp.async.
struct Copy {
  std::byte *dst;
  const std::byte *src;
  uint32_t bytes; ///< 0: it has landed.
  uint32_t srcBytes;
  const char *site;
  uint32_t
      attachTime; ///< When its thread handed it to an mbarrier, so that it may land without a wait; or 0.
};

struct Thread {
  ThreadClock clock;
  Fiber fiber;
  Stack stack = {};
  Wait wait;
  std::vector<Copy> copies;        ///< In the order of issue.
  std::vector<uint32_t> groupEnds; ///< Where each committed group ends in `copies`.
  uint64_t dropped = 0;            ///< Copies issued before those in `copies`.
  bool gridWaited = false;         ///< Whether what the launch before wrote may be touched.

  uint32_t warp() const { return clock.id / warpSize; }
  uint32_t lane() const { return clock.id % warpSize; }
};

struct Warp {
  uint32_t exists = 0;   ///< Lanes that the block has.
  uint32_t runnable = 0; ///< Lanes that do not wait.
  uint32_t meeting = 0;  ///< Lanes that wait in a warp instruction.
  uint32_t exited = 0;
};

} // namespace mla::emulator

#endif // MLAC_RUNTIME_EMULATOR_THREAD_H

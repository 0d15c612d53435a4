//===- WarpOps.cpp - Hooks of the instructions of a warp ------------------===//

#include "runtime/emulator/Executor.h"
#include "runtime/emulator/Hooks.h"
#include "runtime/emulator/Mma.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>

using namespace mla::emulator;

namespace {
constexpr uint32_t allLanes = 0xFFFFFFFF;

template <typename Args>
Args &argsOf(Thread &thread) {
  return *static_cast<Args *>(thread.wait.args);
}

template <typename Visit>
void forEachLane(uint32_t mask, Visit visit) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    visit(static_cast<uint32_t>(std::countr_zero(rest)));
}

void requireBelow(uint32_t value, uint32_t limit, const char *what, const char *site) {
  if (value >= limit)
    currentExecutor().fail(site, fmt::format("{} {}; 0 to {} are possible", what, value, limit - 1));
}

//===----------------------------------------------------------------------===//
// shfl
//===----------------------------------------------------------------------===//

enum ShflKind { Idx, Up, Down, Bfly, ShflKinds };

struct ShflArgs {
  uint32_t value;
  uint32_t operand;
  uint32_t clamp;
  uint32_t result;
};

/// The lane to read from, by PTX's rules.
uint32_t shflSource(uint32_t kind, int32_t lane, const ShflArgs &args) {
  int32_t segment = args.clamp >> 8 & 31, clamp = args.clamp & 31, by = args.operand & 31;
  int32_t maxLane = (lane & segment) | (clamp & ~segment);
  int32_t minLane = lane & segment;
  int32_t source = kind == Up     ? lane - by
                   : kind == Down ? lane + by
                   : kind == Bfly ? lane ^ by
                                  : minLane | (by & ~segment);
  bool inside = kind == Up ? source >= maxLane : source <= maxLane;
  return inside ? source : lane;
}

void shuffle(Executor &executor, Thread *lanes, uint32_t mask, const char *site) {
  forEachLane(mask, [&](uint32_t lane) {
    ShflArgs &args = argsOf<ShflArgs>(lanes[lane]);
    uint32_t source = shflSource(lanes[lane].wait.detail, lane, args);
    if (!(mask >> source & 1))
      executor.fail(site, fmt::format("lane {} reads from lane {}, which the mask {:#010x} leaves out", lane,
                                      source, mask));
    args.result = argsOf<ShflArgs>(lanes[source]).value;
  });
}

//===----------------------------------------------------------------------===//
// vote
//===----------------------------------------------------------------------===//

enum VoteKind { All, Any, Ballot, VoteKinds };

struct VoteArgs {
  bool predicate;
  uint32_t result;
};

void vote(Executor &, Thread *lanes, uint32_t mask, const char *) {
  uint32_t ballot = 0;
  forEachLane(mask,
              [&](uint32_t lane) { ballot |= uint32_t(argsOf<VoteArgs>(lanes[lane]).predicate) << lane; });
  forEachLane(mask, [&](uint32_t lane) {
    uint32_t kind = lanes[lane].wait.detail;
    argsOf<VoteArgs>(lanes[lane]).result = kind == All ? ballot == mask : kind == Any ? ballot != 0 : ballot;
  });
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

struct LdmatrixArgs {
  uint32_t *out;
  const void *row;
  uint32_t num;
  bool transposed;
};

/// Element (row, column) of an 8 x 8 matrix of 16-bit elements.
uint32_t element(const std::byte *const (&rows)[8], uint32_t row, uint32_t column) {
  uint16_t value;
  std::memcpy(&value, rows[row] + 2 * column, 2);
  return value;
}

/// Lanes 8i to 8i+7 give the rows of matrix i; lane 4g + t gets columns 2t, 2t+1 of row g, or of the
/// transpose.
void loadMatrices(Executor &executor, Thread *lanes, uint32_t, const char *site) {
  LdmatrixArgs &first = argsOf<LdmatrixArgs>(lanes[0]);
  for (uint32_t matrix = 0; matrix < first.num; ++matrix) {
    const std::byte *rows[8];
    for (uint32_t row = 0; row < 8; ++row) {
      Thread &lane = lanes[8 * matrix + row];
      rows[row] = executor.matrixRow(lane, argsOf<LdmatrixArgs>(lane).row, site);
    }
    for (uint32_t lane = 0; lane < warpSize; ++lane) {
      uint32_t g = lane / 4, t = lane % 4;
      uint32_t low = first.transposed ? element(rows, 2 * t, g) : element(rows, g, 2 * t);
      uint32_t high = first.transposed ? element(rows, 2 * t + 1, g) : element(rows, g, 2 * t + 1);
      argsOf<LdmatrixArgs>(lanes[lane]).out[matrix] = high << 16 | low;
    }
  }
}

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

void multiplyFragments(Executor &, Thread *lanes, uint32_t, const char *) {
  MmaFragment fragments[warpSize];
  for (uint32_t lane = 0; lane < warpSize; ++lane)
    fragments[lane] = argsOf<MmaFragment>(lanes[lane]);
  multiply(static_cast<MmaKind>(lanes[0].wait.detail), fragments);
}
} // namespace

extern "C" {

void mlac_emu_warp_sync(uint32_t mask, const char *site) { currentExecutor().warpSync(mask, site); }

uint32_t mlac_emu_shfl(uint32_t kind, uint32_t mask, uint32_t value, uint32_t lane, uint32_t clamp,
                       const char *site) {
  requireBelow(kind, ShflKinds, "shfl of kind", site);
  ShflArgs args{value, lane, clamp, 0};
  currentExecutor().meet(Op::Shfl, kind, mask, &args, site, shuffle);
  return args.result;
}

uint32_t mlac_emu_vote(uint32_t kind, uint32_t mask, uint32_t pred, const char *site) {
  requireBelow(kind, VoteKinds, "vote of kind", site);
  VoteArgs args{pred != 0, 0};
  currentExecutor().meet(Op::Vote, kind, mask, &args, site, vote);
  return args.result;
}

void mlac_emu_ldmatrix(uint32_t *out, const void *addr, uint32_t num, uint32_t trans, const char *site) {
  if (num != 1 && num != 2 && num != 4)
    currentExecutor().fail(site, fmt::format("ldmatrix of {} matrices; 1, 2 and 4 are possible", num));
  LdmatrixArgs args{out, addr, num, trans != 0};
  currentExecutor().meet(Op::Ldmatrix, num * 2 + args.transposed, allLanes, &args, site, loadMatrices);
}

void mlac_emu_mma(float *d, const uint32_t *a, const uint32_t *b, const float *c, uint32_t kind,
                  const char *site) {
  requireBelow(kind, mmaKinds, "mma of kind", site);
  MmaFragment args{d, a, b, c};
  currentExecutor().meet(Op::Mma, kind, allLanes, &args, site, multiplyFragments);
}
}

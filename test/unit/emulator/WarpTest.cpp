//===- WarpTest.cpp - Instructions of a warp ------------------------------===//

#include "Harness.h"

#include <cstring>

using namespace mla::emulator;
using namespace mla::emulator::test;
using testing::AllOf;
using testing::HasSubstr;

/// PTX's definition of shfl.sync, word for word.
static uint32_t reference(uint32_t kind, uint32_t lane, uint32_t b, uint32_t c) {
  int32_t bval = b & 0x1f, cval = c & 0x1f, segmask = (c >> 8) & 0x1f, self = lane;
  int32_t maxLane = (self & segmask) | (cval & ~segmask);
  int32_t minLane = self & segmask;
  int32_t j = 0;
  bool p = false;
  switch (kind) {
  case 1:
    j = self - bval;
    p = j >= maxLane;
    break;
  case 2:
    j = self + bval;
    p = j <= maxLane;
    break;
  case 3:
    j = self ^ bval;
    p = j <= maxLane;
    break;
  default:
    j = minLane | (bval & ~segmask);
    p = j <= maxLane;
  }
  return p ? j : self;
}

TEST(Shfl, AllKindsOperandsAndWidths) {
  auto kernel = [] {
    for (uint32_t kind = 0; kind < 4; ++kind)
      for (uint32_t width : {32u, 16u, 8u, 4u, 2u})
        for (uint32_t b = 0; b < 32; ++b) {
          uint32_t clamp = (32 - width) << 8 | (kind == 1 ? 0 : 31);
          uint32_t got = mlac_emu_shfl(kind, all, 1000 + lane(), b, clamp, "shfl");
          ASSERT_EQ(got, 1000 + reference(kind, lane(), b, clamp)) << kind << " " << width << " " << b;
        }
  };
  run(kernel);
}

TEST(Shfl, LanesMayChooseDifferentSources) {
  run([] { EXPECT_EQ(mlac_emu_shfl(0, all, lane(), 31 - lane(), 31, "shfl"), 31 - lane()); });
}

TEST(Shfl, KnownValues) {
  auto kernel = [] {
    uint32_t me = lane();
    EXPECT_EQ(mlac_emu_shfl(0, all, me, 5, 31, "idx"), 5u);
    EXPECT_EQ(mlac_emu_shfl(1, all, me, 1, 0, "up"), me ? me - 1 : 0);
    EXPECT_EQ(mlac_emu_shfl(2, all, me, 4, 31, "down"), me < 28 ? me + 4 : me);
    EXPECT_EQ(mlac_emu_shfl(3, all, me, 16, 31, "bfly"), me ^ 16);
  };
  run(kernel);
}

TEST(Shfl, ReadingALaneOutsideOfTheMask) {
  auto kernel = [] {
    if (lane() < 16)
      mlac_emu_shfl(0, 0xFFFF, 0, 20, 31, "shfl");
  };
  EXPECT_THAT(failureOf(kernel), HasSubstr("reads from lane 20, which the mask 0x0000ffff leaves out"));
}

TEST(Vote, AllKindsAndMasks) {
  auto kernel = [] {
    EXPECT_EQ(mlac_emu_vote(2, all, lane() % 3 == 0, "ballot"), 0x49249249u);
    EXPECT_EQ(mlac_emu_vote(0, all, 1, "all"), 1u);
    EXPECT_EQ(mlac_emu_vote(0, all, lane() != 9, "all"), 0u);
    EXPECT_EQ(mlac_emu_vote(1, all, lane() == 9, "any"), 1u);
    EXPECT_EQ(mlac_emu_vote(1, all, 0, "any"), 0u);
    uint32_t half = lane() < 16 ? 0x0000FFFF : 0xFFFF0000;
    EXPECT_EQ(mlac_emu_vote(2, half, 1, "half"), half);
    EXPECT_EQ(mlac_emu_vote(0, half, lane() < 16, "half"), lane() < 16);
  };
  run(kernel);
}

TEST(Warp, LanesMissingAreReported) {
  auto kernel = [] {
    if (lane() != 7)
      mlac_emu_vote(2, all, 1, "vote at v.mla:2:2");
  };
  std::string message = failureOf(kernel);
  EXPECT_THAT(message, AllOf(HasSubstr("vote at v.mla:2:2: deadlock"), HasSubstr("threads 7: has exited"),
                             HasSubstr("threads 0-6, 8-31: waits in vote")));
}

TEST(Warp, DifferentInstructionsAreReported) {
  auto sites = [] { mlac_emu_vote(2, all, 1, lane() < 16 ? "then" : "else"); };
  EXPECT_THAT(failureOf(sites), AllOf(HasSubstr("diverged warp"), HasSubstr("then"), HasSubstr("else")));
  auto ops = [] {
    if (lane() < 16)
      mlac_emu_vote(0, all, 1, "s");
    else
      mlac_emu_shfl(0, all, 1, 0, 31, "s");
  };
  EXPECT_THAT(failureOf(ops), HasSubstr("diverged warp"));
  auto kinds = [] { mlac_emu_vote(lane() % 2, all, 1, "s"); };
  EXPECT_THAT(failureOf(kinds), HasSubstr("diverged warp"));
  auto masks = [] { mlac_emu_vote(2, lane() < 16 ? all : 0xFFFFFFF0 | 0xF, 1, "s"); };
  EXPECT_EQ(failureOf(masks), "no failure");
}

TEST(Warp, LaneOutsideOfItsMask) {
  EXPECT_THAT(failureOf([] { mlac_emu_warp_sync(1, "sync"); }), HasSubstr("leaves it out"));
}

TEST(Warp, OverlappingMasksMeetInTurn) {
  auto kernel = [] {
    if (lane() < 2)
      mlac_emu_warp_sync(0x3, "first two");
    if (lane() == 1 || lane() == 2)
      mlac_emu_warp_sync(0x6, "second two");
    if (lane() == 2 || lane() == 0)
      mlac_emu_warp_sync(0x5, "ends");
  };
  run(kernel);
}

TEST(Warp, BarrierAgainstShuffleIsADeadlock) {
  auto kernel = [] {
    if (lane() < 16)
      bar("bar");
    else
      mlac_emu_shfl(0, all, 1, 0, 31, "shfl");
  };
  EXPECT_THAT(failureOf(kernel), AllOf(HasSubstr("deadlock"), HasSubstr("bar"), HasSubstr("waits in shfl")));
}

TEST(Warp, PartialWarpHasNoFullMask) {
  EXPECT_THAT(failureOf([] { mlac_emu_vote(2, all, 1, "vote"); }, {.threads = 20}), HasSubstr("deadlock"));
  run([] { EXPECT_EQ(mlac_emu_vote(2, 0xFFFFF, 1, "vote"), 0xFFFFFu); }, {.threads = 20});
}

TEST(Warp, ImpossibleKinds) {
  EXPECT_THAT(failureOf([] { mlac_emu_shfl(4, all, 0, 0, 31, "s"); }), HasSubstr("shfl of kind 4"));
  EXPECT_THAT(failureOf([] { mlac_emu_vote(3, all, 0, "s"); }), HasSubstr("vote of kind 3"));
  EXPECT_THAT(failureOf([] { mlac_emu_mma(nullptr, nullptr, nullptr, nullptr, 4, "s"); }),
              HasSubstr("mma of kind 4"));
  EXPECT_THAT(failureOf([] { mlac_emu_ldmatrix(nullptr, shared(), 3, 0, "s"); }), HasSubstr("ldmatrix of 3"));
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

/// Matrix m, row r, column c holds 1000 m + 10 r + c; the rows lie in reverse to show whose address counts.
static char *rowOf(uint32_t matrix, uint32_t row) { return shared((31 - (8 * matrix + row)) * 48); }

static void ldmatrixCase(uint32_t num, bool transposed) {
  auto kernel = [=] {
    for (uint32_t column = 0; column < 8; ++column)
      put<uint16_t>(reinterpret_cast<uint16_t *>(rowOf(lane() / 8, lane() % 8)) + column,
                    1000 * (lane() / 8) + 10 * (lane() % 8) + column);
    bar();
    uint32_t out[5] = {~0u, ~0u, ~0u, ~0u, ~0u};
    mlac_emu_ldmatrix(out, rowOf(lane() / 8, lane() % 8), num, transposed, "ldmatrix");
    for (uint32_t m = 0; m < num; ++m)
      for (uint32_t half = 0; half < 2; ++half) {
        uint32_t first = lane() / 4, second = lane() % 4 * 2 + half;
        uint32_t row = transposed ? second : first, column = transposed ? first : second;
        ASSERT_EQ(out[m] >> 16 * half & 0xFFFF, 1000 * m + 10 * row + column);
      }
    ASSERT_EQ(out[num], ~0u);
  };
  run(kernel);
}

TEST(Ldmatrix, PlainAndTransposed) {
  for (uint32_t num : {1u, 2u, 4u})
    for (bool transposed : {false, true})
      ldmatrixCase(num, transposed);
}

TEST(Ldmatrix, OnlyTheNeededLanesGiveAddresses) {
  auto kernel = [] {
    mlac_emu_store(shared(lane() * 16), 16, "st");
    bar();
    uint32_t out[2];
    void *p = lane() < 16 ? shared(lane() * 16) : nullptr;
    mlac_emu_ldmatrix(out, p, 2, 0, "ldmatrix");
  };
  run(kernel);
}

TEST(Ldmatrix, Checks) {
  auto load = [](auto address) {
    return [=] {
      mlac_emu_store(shared(lane() * 16), 16, "st");
      bar();
      uint32_t out[4];
      mlac_emu_ldmatrix(out, lane() == 9 ? address() : shared(lane() * 16), 4, 0, "ldmatrix");
    };
  };
  EXPECT_THAT(failureOf(load([] { return shared(8); })),
              HasSubstr("lane 9 gives a row at shared byte 8, which is not"));
  EXPECT_THAT(failureOf(load([] { return shared(2048); })), HasSubstr("never written"));
  EXPECT_THAT(failureOf(load([] { return shared(4096); })), HasSubstr("out of bounds"));
  EXPECT_THAT(failureOf(load([] { return static_cast<char *>(nullptr); })),
              HasSubstr("not in shared memory"));
}

//===- BarrierTest.cpp - Barriers that complete and that cannot -----------===//

#include "Harness.h"

using namespace mla::emulator;
using namespace mla::emulator::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Barrier, SomeThreadsExit) {
  auto kernel = [] {
    if (tid() < 96)
      bar("bar at b.mla:5:1");
  };
  std::string message = failureOf(kernel, {.threads = 128});
  EXPECT_THAT(message, StartsWith("kern: bar at b.mla:5:1: deadlock: "));
  EXPECT_THAT(message, HasSubstr("threads 0-95: waits at barrier 0, to which 96 of 128 threads came"));
  EXPECT_THAT(message, HasSubstr("threads 96-127: has exited"));
}

TEST(Barrier, ThreadsWaitAtDifferentBarriers) {
  auto kernel = [] { mlac_emu_barrier(tid() / 32, 64, tid() < 32 ? "left" : "right"); };
  std::string message = failureOf(kernel, {.threads = 64});
  EXPECT_THAT(message,
              HasSubstr("threads 0-31: waits at barrier 0, to which 32 of 64 threads came, at left"));
  EXPECT_THAT(message,
              HasSubstr("threads 32-63: waits at barrier 1, to which 32 of 64 threads came, at right"));
}

TEST(Barrier, CountsDisagree) {
  auto kernel = [] { mlac_emu_barrier(1, tid() < 32 ? 64 : 96, tid() < 32 ? "left" : "right"); };
  std::string message = failureOf(kernel, {.threads = 96});
  EXPECT_THAT(message, AllOf(HasSubstr("barrier 1 for"), HasSubstr("left"), HasSubstr("right"),
                             HasSubstr("64"), HasSubstr("96")));
}

TEST(Barrier, ImpossibleArguments) {
  EXPECT_THAT(failureOf([] { mlac_emu_barrier(16, 0, "b"); }), HasSubstr("barrier 16; a block has 16"));
  EXPECT_THAT(failureOf([] { mlac_emu_barrier(1, 33, "b"); }, {.threads = 64}), HasSubstr("not a multiple"));
  EXPECT_THAT(failureOf([] { mlac_emu_barrier(1, 64, "b"); }), HasSubstr("64 threads in a block of 32"));
}

TEST(Barrier, LanesOfAWarpMustComeTogether) {
  auto kernel = [] {
    if (tid() % 2)
      mlac_emu_barrier(1, 32, "odd");
  };
  EXPECT_THAT(failureOf(kernel, {.threads = 64}), HasSubstr("lane 0 of warp 0 did not come"));
}

TEST(Barrier, LanesOfAWarpMustComeToTheSameInstruction) {
  auto kernel = [] { bar(tid() % 2 ? "odd" : "even"); };
  EXPECT_THAT(failureOf(kernel), AllOf(HasSubstr("odd"), HasSubstr("even")));
}

TEST(Barrier, ArrivingTwiceInAPhase) {
  auto kernel = [] {
    if (tid() >= 32)
      return;
    mlac_emu_barrier_arrive(1, 64, "arrive");
    mlac_emu_barrier_arrive(1, 64, "again");
  };
  EXPECT_THAT(failureOf(kernel, {.threads = 64}), HasSubstr("arrives twice in one phase of barrier 1"));
}

TEST(Barrier, OddBlockSizes) {
  for (uint32_t threads : {1u, 31u, 33u, 100u, 1024u}) {
    auto kernel = [=] {
      put(shared<uint32_t>() + tid(), tid());
      bar();
      EXPECT_EQ(get(shared<uint32_t>() + threads - 1 - tid()), threads - 1 - tid());
    };
    run(kernel, {.threads = threads});
  }
}

/// A ring of two stages between a producer warp and a consumer warp.
TEST(Barrier, ProducerConsumerRing) {
  for (uint64_t seed : seeds) {
    auto kernel = [] {
      constexpr uint32_t tiles = 10;
      for (uint32_t tile = 0; tile < tiles; ++tile) {
        uint32_t stage = tile % 2, full = 1 + stage, empty = 3 + stage;
        uint32_t *slot = shared<uint32_t>() + stage * 32 + lane();
        if (tid() < 32) {
          if (tile >= 2)
            mlac_emu_barrier(empty, 64, "wait empty");
          put(slot, tile * 100 + lane());
          mlac_emu_barrier_arrive(full, 64, "full");
        } else {
          mlac_emu_barrier(full, 64, "wait full");
          EXPECT_EQ(get(slot), tile * 100 + lane());
          if (tile + 2 < tiles)
            mlac_emu_barrier_arrive(empty, 64, "empty");
        }
      }
    };
    run(kernel, {.threads = 64, .seed = seed});
  }
}

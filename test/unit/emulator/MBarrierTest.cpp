//===- MBarrierTest.cpp - mbarriers and bulk copies -----------------------===//

#include "Harness.h"

#include <numeric>

using namespace mla::emulator;
using namespace mla::emulator::test;
using testing::AllOf;
using testing::HasSubstr;

static void *mbar(uint32_t index = 0) { return shared(3072 + 8 * index); }

static void initialise(uint32_t count, uint32_t barriers = 1) {
  if (tid() == 0) {
    for (uint32_t i = 0; i < barriers; ++i)
      mlac_emu_mbarrier_init(mbar(i), count, "init");
  }
  bar();
}

static void await(uint32_t parity, uint32_t index = 0) {
  EXPECT_EQ(mlac_emu_mbarrier_try_wait(mbar(index), parity, "wait at m.mla:1:1"), 1u);
}

TEST(MBarrier, ArrivalsReleaseAndWaitersAcquire) {
  for (uint64_t seed : seeds) {
    auto kernel = [] {
      initialise(64);
      for (uint32_t phase = 0; phase < 4; ++phase) {
        put(shared<uint32_t>() + tid(), phase * 100 + tid());
        mlac_emu_mbarrier_arrive(mbar(), "arrive");
        await(phase & 1);
        EXPECT_EQ(get(shared<uint32_t>() + (tid() ^ 33)), phase * 100 + (tid() ^ 33));
        bar();
      }
    };
    run(kernel, {.threads = 64, .seed = seed});
  }
}

TEST(MBarrier, FreshBarrierHasCompletedItsOddPhase) {
  run([] {
    initialise(1);
    await(1);
  });
}

TEST(MBarrier, DeadlockNamesWhatIsMissing) {
  auto kernel = [] {
    initialise(33);
    mlac_emu_mbarrier_arrive(mbar(), "arrive");
    await(0);
  };
  EXPECT_THAT(failureOf(kernel),
              AllOf(HasSubstr("wait at m.mla:1:1: deadlock"), HasSubstr("lacks 1 of 33 arrivals")));
}

TEST(MBarrier, WithoutWaitingThereIsNoOrder) {
  auto kernel = [] {
    initialise(64);
    put(shared<uint32_t>() + tid(), 1u, "st");
    mlac_emu_mbarrier_arrive(mbar(), "arrive");
    mlac_emu_vote(2, all, 1, "vote");
    get(shared<uint32_t>() + (tid() ^ 1), "ld");
    await(0);
  };
  EXPECT_THAT(failureOf(kernel, {.threads = 64}), HasSubstr("data race"));
}

TEST(MBarrier, WhatComesAfterTheArrivalIsNotReleased) {
  auto kernel = [] {
    initialise(32);
    if (tid() < 32) {
      mlac_emu_mbarrier_arrive(mbar(), "arrive");
      put(shared<uint32_t>() + tid(), 1u, "late");
      return;
    }
    await(0);
    put(shared<uint32_t>() + lane(), 2u, "waiter");
  };
  for (uint64_t seed : seeds)
    EXPECT_THAT(failureOf(kernel, {.threads = 64, .seed = seed}),
                AllOf(HasSubstr("data race"), HasSubstr("late"), HasSubstr("waiter")));
}

/// Warp 2 skips phase 0 and knows as little as warp 1 did before it: what it learns is of phase 1 all the
/// same.
TEST(MBarrier, EveryPhaseTeachesItsOwn) {
  Memory memory;
  auto *flag = static_cast<uint32_t *>(memory.allocate(4));
  auto untilFlag = [&] {
    while (mlac_emu_atomic_add(flag, 0, "poll") == 0) {
    }
  };
  auto kernel = [&] {
    initialise(32);
    uint32_t warp = tid() / 32;
    for (uint32_t phase = 0; phase < 2; ++phase) {
      if (warp == 0) {
        put(shared<uint32_t>(phase * 128) + lane(), 1u);
        mlac_emu_mbarrier_arrive(mbar(), "arrive");
      }
      if (phase == 0 && warp == 1) {
        await(0);
        mlac_emu_warp_sync(all, "sync");
        mlac_emu_atomic_add(flag, 1, "set");
      }
      untilFlag();
    }
    if (warp == 2) {
      await(1);
      get(shared<uint32_t>(128) + lane());
    }
  };
  for (uint64_t seed : seeds) {
    *flag = 0;
    run(memory, kernel, {.threads = 96, .seed = seed});
  }
}

TEST(MBarrier, TooManyArrivals) {
  auto kernel = [] {
    initialise(1);
    if (tid() == 0) {
      mlac_emu_mbarrier_arrive_expect_tx(mbar(), 16, "expect");
      mlac_emu_mbarrier_arrive(mbar(), "arrive");
    }
  };
  EXPECT_THAT(failureOf(kernel), HasSubstr("more than its 1 arrivals"));
}

TEST(MBarrier, Misuse) {
  EXPECT_THAT(failureOf([] { mlac_emu_mbarrier_arrive(mbar(), "arrive"); }),
              HasSubstr("not part of an initialised"));
  EXPECT_THAT(failureOf([] { mlac_emu_mbarrier_init(shared(4), 1, "init"); }), HasSubstr("not aligned"));
  EXPECT_THAT(failureOf([] { mlac_emu_mbarrier_init(shared(), 0, "init"); }), HasSubstr("0 arrivals"));
  auto plain = [] {
    initialise(1);
    get(static_cast<uint32_t *>(mbar()));
  };
  EXPECT_THAT(failureOf(plain), HasSubstr("belongs to the mbarrier"));
  auto unordered = [] {
    if (tid() == 0)
      mlac_emu_mbarrier_init(mbar(), 32, "init");
    mlac_emu_vote(2, all, 1, "vote");
    mlac_emu_mbarrier_arrive(mbar(), "arrive");
  };
  EXPECT_THAT(failureOf(unordered), HasSubstr("data race"));
}

namespace {
class BulkCopy : public testing::Test {
protected:
  BulkCopy() : source(static_cast<uint32_t *>(memory.allocate(4096))) {
    std::iota(source, source + 1024, 0u);
  }

  void fetch(uint32_t stage, uint32_t tile, uint32_t bytes = 128) {
    mlac_emu_mbarrier_arrive_expect_tx(mbar(stage), bytes, "expect");
    mlac_emu_cp_async_bulk(shared(stage * 128), source + tile * 32, 128, mbar(stage), "bulk");
  }

  Memory memory;
  uint32_t *source;
};
} // namespace

TEST_F(BulkCopy, LandsForTheWaiter) {
  auto kernel = [&] {
    initialise(1);
    if (tid() == 0)
      fetch(0, 2);
    EXPECT_EQ(shared<uint32_t>()[tid()], ~0u);
    await(0);
    EXPECT_EQ(get(shared<uint32_t>() + tid()), 64 + tid());
  };
  run(memory, kernel);
}

TEST_F(BulkCopy, ReadingWithoutWaiting) {
  auto kernel = [&] {
    initialise(1);
    if (tid() == 0) {
      fetch(0, 0);
      get(shared<uint32_t>(), "early");
    }
    await(0);
  };
  EXPECT_THAT(failureOf(memory, kernel), AllOf(HasSubstr("early"), HasSubstr("in flight")));
}

TEST_F(BulkCopy, TheBarrierOrdersTheData) {
  auto kernel = [&] {
    initialise(1);
    if (tid() == 0)
      fetch(0, 0);
    if (tid() >= 32) {
      await(0);
      get(shared<uint32_t>() + lane());
      mlac_emu_atomic_add(source, 0, "let others run");
    } else {
      await(0);
    }
  };
  run(memory, kernel, {.threads = 64});
  auto relayed = [&] {
    initialise(1);
    if (tid() == 0)
      fetch(0, 0);
    if (tid() >= 32) {
      await(0);
      mlac_emu_barrier_arrive(5, 64, "a");
    } else {
      // Learns from the arrivals of barrier 5 that warp 1 saw the data: ordered after all.
      mlac_emu_barrier(5, 64, "b");
      get(shared<uint32_t>() + lane(), "ld");
    }
  };
  run(memory, relayed, {.threads = 64});
}

TEST_F(BulkCopy, IssuerThatDoesNotWaitRaces) {
  for (uint64_t seed : seeds) {
    auto kernel = [&] {
      initialise(1, 2);
      if (tid() == 0)
        fetch(0, 0);
      if (tid() >= 32) {
        await(0);
      } else {
        // Sleeps until the copy has landed for warp 1, which then says nothing to us.
        await(0, 1);
        get(shared<uint32_t>() + lane(), "ld");
      }
      if (tid() == 32)
        mlac_emu_mbarrier_arrive_expect_tx(mbar(1), 0, "unrelated");
    };
    // Thread 32 saw the data before it arrived, so this is ordered.
    run(memory, kernel, {.threads = 64, .seed = seed});
    auto racy = [&] {
      initialise(1, 2);
      if (tid() == 0)
        fetch(0, 0);
      if (tid() == 64)
        mlac_emu_cp_async_bulk(shared(512), source, 16, mbar(1), "other");
      if (tid() == 64)
        mlac_emu_mbarrier_arrive_expect_tx(mbar(1), 16, "expect other");
      if (tid() / 32 == 1)
        await(0);
      else
        await(0, 1);
      if (tid() < 32)
        get(shared<uint32_t>() + lane(), "ld");
    };
    EXPECT_THAT(failureOf(memory, racy, {.threads = 96, .seed = seed}),
                testing::AnyOf(HasSubstr("data race"), HasSubstr("in flight")));
  }
}

/// Having seen an earlier phase of the same mbarrier does not help.
TEST_F(BulkCopy, EveryPhaseMustBeSeen) {
  auto kernel = [&](bool see) {
    return [=, this] {
      initialise(1, 2);
      if (tid() == 0)
        fetch(0, 0);
      await(0);
      get(shared<uint32_t>() + lane());
      bar();
      if (tid() == 64) {
        fetch(0, 1);
        fetch(1, 2);
      }
      if (see || tid() / 32 == 1)
        await(1);
      await(0, 1); // Lands after the other one.
      if (tid() < 32)
        get(shared<uint32_t>() + lane(), "ld");
    };
  };
  for (uint64_t seed : seeds) {
    run(memory, kernel(true), {.threads = 96, .seed = seed});
    EXPECT_THAT(failureOf(memory, kernel(false), {.threads = 96, .seed = seed}), HasSubstr("data race"));
  }
}

TEST_F(BulkCopy, WrongByteCountIsADeadlock) {
  auto kernel = [&](uint32_t expected) {
    return [=, this] {
      initialise(1);
      if (tid() == 0)
        fetch(0, 0, expected);
      await(0);
    };
  };
  EXPECT_THAT(failureOf(memory, kernel(144)), HasSubstr("and 16 bytes"));
  EXPECT_THAT(failureOf(memory, kernel(112)), HasSubstr("and -16 bytes"));
}

TEST_F(BulkCopy, NobodyWaits) {
  auto kernel = [&] {
    initialise(1);
    if (tid() == 0)
      fetch(0, 0);
  };
  EXPECT_THAT(failureOf(memory, kernel), HasSubstr("in flight when the block ends"));
}

TEST_F(BulkCopy, Arguments) {
  auto with = [&](uint32_t dst, uint32_t src, uint32_t bytes) {
    return failureOf(memory, [=, this] {
      initialise(1);
      mlac_emu_cp_async_bulk(shared(dst), reinterpret_cast<char *>(source) + src, bytes, mbar(), "bulk");
    });
  };
  EXPECT_THAT(with(0, 0, 24), HasSubstr("24 bytes, which is not a positive multiple of 16"));
  EXPECT_THAT(with(8, 0, 16), HasSubstr("not aligned to 16"));
  EXPECT_THAT(with(0, 8, 16), HasSubstr("not aligned to 16"));
  EXPECT_THAT(with(0, 4096, 16), HasSubstr("out of bounds"));
  EXPECT_THAT(with(4096, 0, 16), HasSubstr("out of bounds"));
}

/// A producer thread, two stages and full/empty barriers.
TEST_F(BulkCopy, Pipeline) {
  for (uint64_t seed : seeds) {
    auto kernel = [&](bool waitEmpty) {
      return [=, this] {
        constexpr uint32_t tiles = 9;
        if (tid() == 0) {
          for (uint32_t stage = 0; stage < 2; ++stage) {
            mlac_emu_mbarrier_init(mbar(stage), 1, "full");
            mlac_emu_mbarrier_init(mbar(2 + stage), 32, "empty");
          }
        }
        bar();
        for (uint32_t tile = 0; tile < tiles; ++tile) {
          uint32_t stage = tile % 2, parity = tile / 2 % 2;
          if (tid() == 32) {
            if (waitEmpty)
              await(parity ^ 1, 2 + stage);
            fetch(stage, tile);
          }
          if (tid() < 32) {
            await(parity, stage);
            EXPECT_EQ(get(shared<uint32_t>(stage * 128) + (lane() ^ 5)), tile * 32 + (lane() ^ 5));
            mlac_emu_mbarrier_arrive(mbar(2 + stage), "consumed");
          }
        }
      };
    };
    run(memory, kernel(true), {.threads = 64, .seed = seed});
    EXPECT_NE(failureOf(memory, kernel(false), {.threads = 64, .seed = seed}), "no failure");
  }
}

TEST_F(BulkCopy, CpAsyncArrivesWhenItLands) {
  for (uint64_t seed : seeds) {
    auto kernel = [&] {
      initialise(32);
      if (tid() < 32) {
        mlac_emu_cp_async(shared<uint32_t>() + tid(), source + tid(), 4, 4, "copy");
        mlac_emu_cp_async_mbarrier_arrive_noinc(mbar(), "arrive");
        return;
      }
      EXPECT_EQ(shared<uint32_t>()[lane()], ~0u);
      await(0);
      EXPECT_EQ(get(shared<uint32_t>() + (lane() ^ 3)), lane() ^ 3);
    };
    run(memory, kernel, {.threads = 64, .seed = seed});
  }
  auto nobody = [&] {
    initialise(32);
    mlac_emu_cp_async(shared<uint32_t>() + tid(), source + tid(), 4, 4, "copy");
    mlac_emu_cp_async_mbarrier_arrive_noinc(mbar(), "arrive");
  };
  EXPECT_THAT(failureOf(memory, nobody), HasSubstr("in flight when the block ends"));
}

TEST_F(BulkCopy, CpAsyncWithAnArrivalCanStillBeWaitedFor) {
  auto kernel = [&] {
    initialise(32);
    mlac_emu_cp_async(shared<uint32_t>() + tid(), source + tid(), 4, 4, "copy");
    mlac_emu_cp_async_mbarrier_arrive_noinc(mbar(), "arrive");
    mlac_emu_cp_commit("commit");
    mlac_emu_cp_wait(0, "wait");
    EXPECT_EQ(get(shared<uint32_t>() + tid()), tid());
    await(0);
    EXPECT_EQ(get(shared<uint32_t>() + (tid() ^ 1)), tid() ^ 1);
  };
  run(memory, kernel);
}

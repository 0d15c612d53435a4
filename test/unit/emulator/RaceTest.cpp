//===- RaceTest.cpp - Data races in shared memory -------------------------===//
//
// Every racy kernel must fail under every seed, whatever order the threads happened to run in, and its
// correct twin under none.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace mla::emulator;
using namespace mla::emulator::test;
using testing::AllOf;
using testing::HasSubstr;

static void expectRace(const Kernel &kernel, Shape shape, const char *siteA, const char *siteB) {
  for (uint64_t seed : seeds) {
    shape.seed = seed;
    EXPECT_THAT(failureOf(kernel, shape), AllOf(HasSubstr("data race"), HasSubstr(siteA), HasSubstr(siteB)))
        << "seed " << seed;
  }
}

static void expectNone(const Kernel &kernel, Shape shape) {
  for (uint64_t seed : seeds) {
    shape.seed = seed;
    EXPECT_EQ(failureOf(kernel, shape), "no failure") << "seed " << seed;
  }
}

/// Each thread writes its word and then reads its neighbour's.
static Kernel exchange(const Kernel &between, uint32_t shift) {
  return [=] {
    uint32_t count = mlac_emu_sreg(2);
    put(shared<uint32_t>() + tid(), tid(), "st");
    between();
    EXPECT_EQ(get(shared<uint32_t>() + (tid() + shift) % count, "ld"), (tid() + shift) % count);
  };
}

TEST(Race, WriteThenReadNeedsABarrier) {
  // All lanes of a warp write before any of them reads only if something makes them meet.
  auto meet = [] { mlac_emu_vote(2, all, 1, "vote"); };
  expectRace(exchange(meet, 1), {.threads = 32}, "st", "ld");
  expectNone(exchange([] { bar(); }, 1), {.threads = 32});
  expectNone(exchange([] { bar(); }, 33), {.threads = 384});
}

TEST(Race, WarpSyncOrdersOneWarpOnly) {
  auto sync = [] { mlac_emu_warp_sync(all, "sync"); };
  auto inWarp = [=] {
    put(shared<uint32_t>() + tid(), tid(), "st");
    sync();
    get(shared<uint32_t>() + (tid() ^ 1), "ld");
  };
  expectNone(inWarp, {.threads = 128});
  auto acrossWarps = [=] {
    if (tid() < 32)
      put(shared<uint32_t>() + tid(), tid(), "st");
    sync();
    if (tid() >= 32)
      get(shared<uint32_t>() + tid() - 32, "ld");
  };
  for (uint64_t seed : seeds) // In the other order the read finds nothing written.
    EXPECT_THAT(failureOf(acrossWarps, {.threads = 64, .seed = seed}),
                testing::AnyOf(HasSubstr("data race"), HasSubstr("never written")));
}

TEST(Race, WriteWrite) {
  expectRace([] { put(shared<uint32_t>(), 1u, "st at w.mla:1:1"); }, {}, "st at w.mla:1:1", "wrote");
  auto ordered = [] {
    for (uint32_t turn = 0; turn < 4; ++turn) {
      if (turn == tid() / 32)
        put(shared<uint32_t>() + lane(), 1u);
      bar();
    }
  };
  expectNone(ordered, {.threads = 128});
}

/// The classic lost barrier at the end of a tile loop.
static Kernel tileLoop(bool secondBarrier) {
  return [=] {
    for (uint32_t tile = 0; tile < 3; ++tile) {
      put(shared<uint32_t>() + tid(), tile, "fill");
      bar();
      for (uint32_t i = 0; i < 4; ++i)
        EXPECT_EQ(get(shared<uint32_t>() + (tid() + i * 32) % 128, "use"), tile);
      if (secondBarrier)
        bar();
    }
  };
}

TEST(Race, WriteAfterReadNeedsABarrier) {
  expectRace(tileLoop(false), {.threads = 128}, "fill", "use");
  expectNone(tileLoop(true), {.threads = 128});
}

TEST(Race, EveryReaderCounts) {
  for (uint32_t culprit : {0u, 31u, 32u, 77u, 383u}) {
    // All warps but the culprit's meet at barrier 2 after reading; one of them then overwrites.
    auto partial = [=] {
      if (tid() == 0)
        put(shared<uint32_t>(), 1u);
      bar();
      if (tid() / 32 != culprit / 32 || tid() == culprit)
        get(shared<uint32_t>(), "broadcast");
      if (tid() / 32 == culprit / 32)
        return;
      mlac_emu_barrier(2, 352, "partial");
      if (tid() == (culprit < 32 ? 32 : 0))
        put(shared<uint32_t>(), 2u, "overwrite");
    };
    for (uint64_t seed : seeds) {
      std::string message = failureOf(partial, {.threads = 384, .seed = seed});
      EXPECT_THAT(message, HasSubstr("data race"));
      EXPECT_THAT(message, HasSubstr("thread " + std::to_string(culprit)));
    }
  }
}

TEST(Race, ArriveReleasesAndSyncAcquires) {
  // Producer: write, arrive. Consumer: sync, read.
  auto good = [] {
    if (tid() < 32) {
      put(shared<uint32_t>() + tid(), 5u, "produce");
      mlac_emu_barrier_arrive(1, 64, "arrive");
    } else {
      mlac_emu_barrier(1, 64, "sync");
      get(shared<uint32_t>() + tid() - 32, "consume");
    }
  };
  expectNone(good, {.threads = 64});
  auto late = [] {
    if (tid() < 32) {
      put(shared<uint32_t>() + tid(), 5u, "produce");
      mlac_emu_barrier_arrive(1, 64, "arrive");
      put(shared<uint32_t>() + tid(), 6u, "after the arrival");
    } else {
      mlac_emu_barrier(1, 64, "sync");
      get(shared<uint32_t>() + tid() - 32, "consume");
    }
  };
  expectRace(late, {.threads = 64}, "after the arrival", "consume");
  // The arriving side learns nothing.
  auto reversed = [] {
    if (tid() < 32) {
      mlac_emu_barrier_arrive(1, 64, "arrive");
      put(shared<uint32_t>() + tid(), 6u, "arriver");
    } else {
      put(shared<uint32_t>() + tid() - 32, 5u, "waiter");
      mlac_emu_barrier(1, 64, "sync");
    }
  };
  expectRace(reversed, {.threads = 64}, "arriver", "waiter");
}

TEST(Race, NamedBarriersOrderTheirThreadsOnly) {
  auto kernel = [] {
    put(shared<uint32_t>() + tid(), tid(), "st");
    mlac_emu_barrier(1 + tid() / 64, 64, "half");
    get(shared<uint32_t>() + (tid() ^ 32), "own half");
    if (tid() >= 64)
      put(shared<uint32_t>() + tid() - 64, 1u, "other half");
  };
  for (uint64_t seed : seeds)
    EXPECT_THAT(failureOf(kernel, {.threads = 128, .seed = seed}), HasSubstr("data race"));
}

TEST(Race, OrderIsTransitive) {
  auto kernel = [] {
    uint32_t warp = tid() / 32;
    if (warp == 0)
      put(shared<uint32_t>() + lane(), 9u);
    if (warp <= 1)
      mlac_emu_barrier(1, 64, "first");
    if (warp >= 1)
      mlac_emu_barrier(2, 64, "second");
    if (warp == 2) {
      EXPECT_EQ(get(shared<uint32_t>() + lane()), 9u);
    }
  };
  expectNone(kernel, {.threads = 96});
}

TEST(Race, NeighbouringHalvesAreNotAConflict) {
  auto kernel = [] {
    put<uint16_t>(shared<uint16_t>() + tid(), tid(), "half");
    bar();
    for (uint32_t i = 0; i < 32; ++i)
      EXPECT_EQ(get(shared<uint32_t>() + i, "both"), 2 * i | (2 * i + 1) << 16);
    bar();
    put<uint8_t>(shared<uint8_t>() + tid(), 7, "byte");
  };
  expectNone(kernel, {.threads = 64});
}

TEST(Race, HalvesOfAWordStillRaceWithTheWord) {
  auto kernel = [] {
    if (tid() == 0)
      put(shared<uint32_t>(), 1u, "word");
    if (tid() == 1)
      put<uint8_t>(shared<uint8_t>(3), 1, "byte");
  };
  expectRace(kernel, {}, "word", "byte");
  auto readers = [] {
    if (tid() == 0)
      put(shared<uint32_t>(), 1u);
    bar();
    if (tid() == 1)
      get(shared<uint16_t>(2), "half");
    if (tid() == 2)
      put<uint16_t>(shared<uint16_t>(0), 1, "other half");
    if (tid() == 3)
      put<uint8_t>(shared<uint8_t>(3), 1, "byte");
  };
  expectRace(readers, {}, "half", "byte");
}

/// Threads 0 and 32 read a word in either order; thread 64 knows of the first only and writes a part of it.
TEST(Race, SplitWordsKeepTheirReaders) {
  auto kernel = [] {
    if (tid() == 0)
      put(shared<uint32_t>(), 1u);
    bar();
    if (tid() == 0 || tid() == 32)
      get(shared<uint32_t>(), "word");
    if (tid() / 32 != 1)
      mlac_emu_barrier(1, 64, "sync");
    if (tid() < 32)
      mlac_emu_barrier(2, 64, "hold");
    if (tid() / 32 == 1)
      mlac_emu_barrier_arrive(2, 64, "let go");
    if (tid() == 64)
      put<uint8_t>(shared<uint8_t>(2), 1, "byte");
    bar("end");
  };
  for (uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_THAT(failureOf(kernel, {.threads = 96, .seed = seed}),
                AllOf(HasSubstr("data race"), HasSubstr("byte"), HasSubstr("word")));
}

/// All lanes of a warp read; only lane 0 says so.
TEST(Race, OneLaneSpeaksForItselfOnly) {
  auto kernel = [] {
    if (tid() == 0) {
      mlac_emu_mbarrier_init(shared(64), 1, "init");
      put(shared<uint32_t>(), 1u);
    }
    bar();
    if (tid() < 32) {
      get(shared<uint32_t>(), "lanes");
      if (tid() == 0)
        mlac_emu_mbarrier_arrive(shared(64), "arrive");
      return;
    }
    mlac_emu_mbarrier_try_wait(shared(64), 0, "wait");
    if (tid() == 32)
      put(shared<uint32_t>(), 2u, "overwrite");
  };
  expectRace(kernel, {.threads = 64}, "lanes", "overwrite");
}

TEST(Race, VectorAccessChecksEveryWord) {
  auto kernel = [] {
    if (tid() == 0)
      mlac_emu_store(shared(), 16, "vector");
    if (tid() == 1)
      put(shared<uint32_t>(12), 1u, "last word");
  };
  expectRace(kernel, {}, "vector", "last word");
}

TEST(Race, ShufflesAndMatrixLoadsDoNotOrder) {
  auto shuffled = [] {
    if (lane() == 0)
      put(shared<uint32_t>(), 1u, "st");
    mlac_emu_shfl(0, all, 0, 0, 31, "shfl");
    if (lane() == 1)
      get(shared<uint32_t>(), "ld");
  };
  expectRace(shuffled, {}, "st", "ld");
}

TEST(Race, LdmatrixReadsForTheLaneThatGivesTheRow) {
  auto kernel = [] {
    mlac_emu_store(shared(lane() * 16), 16, "st");
    bar();
    uint32_t out[1];
    mlac_emu_ldmatrix(out, shared(lane() * 16), 1, 0, "ldmatrix");
    // Row r was read by lane r: only lane r may write it without a barrier.
    if (lane() < 8)
      mlac_emu_store(shared(lane() * 16), 16, "own row");
    if (lane() >= 8 && lane() < 16)
      mlac_emu_store(shared(lane() * 16), 16, "rows nobody read");
  };
  expectNone(kernel, {});
  auto other = [] {
    mlac_emu_store(shared(lane() * 16), 16, "st");
    bar();
    uint32_t out[1];
    mlac_emu_ldmatrix(out, shared(lane() * 16), 1, 0, "ldmatrix");
    if (lane() == 20)
      mlac_emu_store(shared(3 * 16), 16, "row 3");
  };
  expectRace(other, {}, "ldmatrix", "row 3");
}

TEST(Race, AtomicsRaceWithPlainAccessesOnly) {
  auto kernel = [] {
    if (tid() == 0)
      put(shared<uint32_t>(), 0u);
    bar();
    mlac_emu_atomic_add(shared(), 1, "atom");
    bar();
    EXPECT_EQ(get(shared<uint32_t>()), 64u);
  };
  expectNone(kernel, {.threads = 64});
  auto mixed = [] {
    if (tid() == 0)
      put(shared<uint32_t>(), 0u);
    bar();
    if (tid() < 32)
      mlac_emu_atomic_add(shared(), 1, "atom");
    else
      get(shared<uint32_t>(), "plain");
  };
  expectRace(mixed, {.threads = 64}, "atom", "plain");
}

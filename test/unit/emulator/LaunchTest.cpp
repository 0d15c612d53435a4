//===- LaunchTest.cpp - Launches, seeds, reuse, host threads --------------===//

#include "Harness.h"

#include <numeric>
#include <set>
#include <thread>

using namespace mla::emulator;
using namespace mla::emulator::test;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Launch, EmptyGridDoesNothing) {
  bool ran = false;
  run([&] { ran = true; }, {.grid = 0});
  EXPECT_FALSE(ran);
}

TEST(Launch, EveryThreadOfEveryBlockRunsOnce) {
  std::vector<int> count(3 * 70);
  auto kernel = [&] {
    EXPECT_EQ(mlac_emu_sreg(2), 70u);
    EXPECT_EQ(mlac_emu_sreg(3), 3u);
    EXPECT_EQ(lane(), tid() % 32);
    ++count[mlac_emu_sreg(1) * 70 + tid()];
  };
  run(kernel, {.threads = 70, .grid = 3});
  EXPECT_THAT(count, testing::Each(1));
}

TEST(Launch, ParametersArePassedAsForCuLaunchKernel) {
  Memory memory;
  auto *out = static_cast<uint32_t *>(memory.allocate(128));
  uint32_t scale = 3;
  void *params[] = {&out, &scale};
  auto entry = [](void **params) {
    auto *out = *static_cast<uint32_t **>(params[0]);
    put(out + tid(), tid() * *static_cast<uint32_t *>(params[1]));
  };
  launch(memory, entry, params, {"scale", 1, 32, 0, 0});
  EXPECT_EQ(out[31], 93u);
}

TEST(Launch, ImpossibleBlocks) {
  EXPECT_THAT(failureOf([] {}, {.threads = 0}), HasSubstr("0 threads in a block"));
  EXPECT_THAT(failureOf([] {}, {.threads = 1025}), HasSubstr("1025 threads"));
}

TEST(Launch, FailureSaysWhereItWas) {
  auto kernel = [] {
    if (mlac_emu_sreg(1) == 2 && tid() == 41)
      put(shared<uint32_t>(1 << 16), 1u, "st at f.mla:6:7");
  };
  try {
    run(kernel, {.threads = 64, .grid = 4});
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.block, 2u);
    EXPECT_EQ(failure.thread, 41u);
    EXPECT_THAT(failure.what(), StartsWith("kern: st at f.mla:6:7: "));
    EXPECT_THAT(failure.what(), HasSubstr("[block 2, thread 41]"));
  }
  EXPECT_THAT(failureOf([] { get(shared<uint32_t>(), nullptr); }), HasSubstr("an unnamed site"));
}

TEST(Launch, CanBeUsedAgainAfterAFailure) {
  Memory memory;
  auto *out = static_cast<uint32_t *>(memory.allocate(4096));
  for (int round = 0; round < 50; ++round) {
    auto bad = [] {
      put(shared<uint32_t>() + tid(), 1u);
      if (tid() == 200)
        put(shared<uint32_t>(-4), 1u);
      bar();
    };
    ASSERT_THAT(failureOf(memory, bad, {.threads = 256}), HasSubstr("out of bounds"));
    auto good = [&] {
      put(shared<uint32_t>() + tid(), tid());
      bar();
      put(out + tid(), get(shared<uint32_t>() + 255 - tid()));
    };
    run(memory, good, {.threads = 256});
    ASSERT_EQ(out[0], 255u);
  }
}

/// A reduction whose result would show any wrong interleaving.
static std::vector<uint32_t> reduce(uint64_t seed) {
  Memory memory;
  auto *out = static_cast<uint32_t *>(memory.allocate(8 * 4));
  auto kernel = [&] {
    uint32_t value = tid() * tid() + mlac_emu_sreg(1);
    for (uint32_t step = 16; step; step /= 2)
      value = value * 3 + mlac_emu_shfl(3, all, value, step, 31, "bfly");
    if (lane() == 0)
      put(shared<uint32_t>() + tid() / 32, value);
    bar();
    if (tid() == 0) {
      uint32_t sum = 0;
      for (uint32_t warp = 0; warp < 8; ++warp)
        sum = sum * 7 + get(shared<uint32_t>() + warp);
      put(out + mlac_emu_sreg(1), sum);
    }
  };
  run(memory, kernel, {.threads = 256, .grid = 8, .seed = seed});
  return {out, out + 8};
}

TEST(Launch, SeedsAgree) {
  std::vector<uint32_t> expected = reduce(0);
  for (uint64_t seed : seeds)
    EXPECT_EQ(reduce(seed), expected);
}

static std::vector<uint32_t> warpOrder(uint64_t seed) {
  std::vector<uint32_t> order;
  auto kernel = [&] {
    if (lane() == 0)
      order.push_back(mlac_emu_sreg(1) * 8 + tid() / 32);
  };
  run(kernel, {.threads = 256, .grid = 2, .seed = seed});
  return order;
}

TEST(Launch, SeedsDecideTheOrder) {
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t seed : seeds) {
    orders.insert(warpOrder(seed));
    EXPECT_EQ(warpOrder(seed), warpOrder(seed));
  }
  EXPECT_GE(orders.size(), 3u);
}

TEST(Launch, ReportsProgress) {
  Memory memory;
  std::vector<uint64_t> seen;
  LaunchConfig config{"k", 4, 32, 0, 0, [&](uint64_t done, uint64_t total) {
                        EXPECT_EQ(total, 4u);
                        seen.push_back(done);
                      }};
  launch(
      memory, [](void **) {}, nullptr, config);
  EXPECT_THAT(seen, testing::ElementsAre(1, 2, 3, 4));
}

TEST(Launch, HostThreadsDoNotMeet) {
  Memory memory;
  auto *counter = static_cast<uint32_t *>(memory.allocate(4));
  *counter = 0;
  auto body = [&] {
    auto kernel = [&] {
      put(shared<uint32_t>() + tid(), tid());
      bar();
      EXPECT_EQ(get(shared<uint32_t>() + (tid() ^ 64)), tid() ^ 64);
      mlac_emu_atomic_add(counter, 1, "atom");
    };
    for (int i = 0; i < 20; ++i)
      run(memory, kernel, {.threads = 128, .seed = uint64_t(i)});
  };
  std::thread a(body), b(body);
  a.join();
  b.join();
  EXPECT_EQ(*counter, 2u * 20 * 128);
  EXPECT_EQ(memory.bytesRead(), 2u * 20 * 128 * 4);
}

TEST(Launch, HooksHaveNamesAndAddresses) {
  std::set<std::string> names;
  for (const Hook &hook : hooks()) {
    EXPECT_THAT(hook.symbol, StartsWith("mlac_emu_"));
    EXPECT_NE(hook.address, nullptr);
    EXPECT_TRUE(names.insert(hook.symbol).second) << hook.symbol;
  }
  EXPECT_EQ(names.size(), 37u);
}

/// Two launches, of which the second overlaps the first and reads what that wrote, with or without a wait.
static std::string overlap(bool waitsFirst, bool waitsAtAll = true) {
  Memory memory;
  auto *between = static_cast<uint32_t *>(memory.allocate(128, "the partial results"));
  auto *plan = static_cast<uint32_t *>(memory.allocate(128, "the plan"));
  run(memory, [&] { put(between + tid(), tid()); }, {.threads = 32});
  auto second = [&] {
    get(plan + tid());
    if (waitsFirst)
      mlac_emu_grid_wait("wait");
    if (waitsFirst || waitsAtAll)
      get(between + tid(), "ld at f.mla:3:4");
  };
  return failureOf(memory, second, {.threads = 32, .overlap = true});
}

TEST(Launch, OverlappingLaunchesWaitBeforeTheyRead) {
  EXPECT_EQ(overlap(true), "no failure");
  EXPECT_THAT(overlap(false),
              HasSubstr("ld at f.mla:3:4: touches 'the partial results' before griddepcontrol.wait"));
  EXPECT_THAT(overlap(false, false), HasSubstr("ended without griddepcontrol.wait"));
}

//===- MemoryTest.cpp - Bounds, alignment, poison, traffic ----------------===//

#include "Harness.h"

#include <cstring>

using namespace mla::emulator;
using namespace mla::emulator::test;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Memory, StartsAsPoison) {
  Memory memory;
  auto *p = static_cast<unsigned char *>(memory.allocate(1000));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 256, 0u);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(p[i], 0xFF);
}

TEST(Memory, CheckNamesTheNearestAllocation) {
  Memory memory;
  auto *p = static_cast<char *>(memory.allocate(100, "pool"));
  memory.check(p, 100, "copy");
  memory.check(p + 100, 0, "copy");
  try {
    memory.check(p + 90, 11, "copy");
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_THAT(failure.what(), StartsWith("copy: 11 bytes at "));
    EXPECT_THAT(failure.what(), HasSubstr("offset 90 of 'pool', which has 100 bytes"));
  }
  EXPECT_THROW(memory.check(p - 1, 1, "copy"), Failure);
}

TEST(Memory, ReleaseChecksThePointerAndTheRedZones) {
  Memory memory;
  auto *p = static_cast<char *>(memory.allocate(16));
  EXPECT_THROW(memory.release(p + 1), Failure);
  memory.release(p);
  EXPECT_THROW(memory.check(p, 1, "x"), Failure);
  auto *q = static_cast<char *>(memory.allocate(16));
  q[16] = 0;
  EXPECT_THROW(memory.release(q), Failure);
  memory.release(nullptr);
}

TEST(Memory, GlobalOutOfBounds) {
  for (int offset : {-4, 256, 1 << 20}) {
    Memory memory;
    auto *p = static_cast<char *>(memory.allocate(256, "out"));
    auto store = [&] { put(reinterpret_cast<uint32_t *>(p + offset), 1u, "st at a.mla:3:4"); };
    std::string message = failureOf(memory, store);
    EXPECT_THAT(message, StartsWith("kern: st at a.mla:3:4: 4 bytes at "));
    EXPECT_THAT(message, HasSubstr("out of bounds: offset " + std::to_string(offset) + " of 'out'"));
  }
}

TEST(Memory, AccessAcrossTheEndFails) {
  Memory memory;
  auto *p = static_cast<char *>(memory.allocate(24));
  EXPECT_THAT(failureOf(memory, [&] { mlac_emu_load(p + 16, 16, "ld"); }), HasSubstr("offset 16"));
  run(memory, [&] { mlac_emu_load(p + 16, 8, "ld"); });
}

TEST(Memory, NoAllocationAtAll) {
  EXPECT_THAT(failureOf([] { mlac_emu_load(reinterpret_cast<void *>(0x1000), 4, "ld"); }),
              HasSubstr("there is none"));
}

TEST(Memory, SharedOutOfBounds) {
  for (int offset : {-4, 4096, 4096 + 100000}) {
    std::string message = failureOf([&] { put(shared<uint32_t>(offset), 1u, "st at a.mla:1:2"); });
    EXPECT_THAT(message, HasSubstr("offset " + std::to_string(offset) + " of shared memory"));
    EXPECT_THAT(message, HasSubstr("the block has 4096 bytes"));
  }
}

TEST(Memory, SharedBaseIsAligned) {
  run([] { EXPECT_EQ(reinterpret_cast<uintptr_t>(shared()) % 1024, 0u); });
}

TEST(Memory, Alignment) {
  Memory memory;
  auto *p = static_cast<char *>(memory.allocate(256));
  for (uint32_t bytes : {2u, 4u, 8u, 16u}) {
    EXPECT_THAT(failureOf(memory, [&] { mlac_emu_load(p + bytes / 2, bytes, "ld"); }),
                HasSubstr("not aligned to " + std::to_string(bytes)));
    EXPECT_THAT(failureOf([&] { mlac_emu_store(shared(bytes / 2), bytes, "st"); }), HasSubstr("not aligned"));
    run(memory, [&] { mlac_emu_load(p + bytes, bytes, "ld"); });
  }
  run(memory, [&] { mlac_emu_load(p + 16, 32, "ld"); });
}

TEST(Memory, UnwrittenSharedRead) {
  auto kernel = [] {
    if (tid())
      return;
    put<uint16_t>(shared<uint16_t>(8), 1);
    get(shared<uint16_t>(8));
    get(shared<uint32_t>(8), "ld at a.mla:7:7");
  };
  std::string message = failureOf(kernel);
  EXPECT_THAT(message, StartsWith("kern: ld at a.mla:7:7: "));
  EXPECT_THAT(message, HasSubstr("shared byte 10, which was never written"));
}

TEST(Memory, SharedIsForgottenBetweenBlocks) {
  auto kernel = [] {
    if (mlac_emu_sreg(3) == 1 || tid())
      return;
    EXPECT_EQ(*shared<uint32_t>(), 0xFFFFFFFFu);
    put(shared<uint32_t>(), 1u);
  };
  run(kernel, {.grid = 3});
  auto reader = [] {
    if (mlac_emu_sreg(1) == 0 && tid() == 0)
      put(shared<uint32_t>(), 1u);
    bar();
    get(shared<uint32_t>());
  };
  EXPECT_THAT(failureOf(reader, {.grid = 2}), HasSubstr("never written"));
}

TEST(Memory, CountsTraffic) {
  Memory memory;
  auto *in = static_cast<uint32_t *>(memory.allocate(4096));
  auto *out = static_cast<uint32_t *>(memory.allocate(4096));
  run(memory, [&] { put(out + tid(), get(in + tid()) + get(in)); }, {.grid = 2});
  EXPECT_EQ(memory.bytesRead(), 2u * 32 * 8);
  EXPECT_EQ(memory.bytesWritten(), 2u * 32 * 4);
  EXPECT_EQ(memory.traffic(in).read, 2u * 32 * 8);
  EXPECT_EQ(memory.traffic(in).written, 0u);
  EXPECT_EQ(memory.traffic(out).written, 2u * 32 * 4);
  memory.resetTraffic();
  EXPECT_EQ(memory.bytesRead() + memory.bytesWritten(), 0u);
}

TEST(Memory, OwnStackIsLocalMemory) {
  run([] {
    uint32_t local = 1;
    EXPECT_EQ(get(&local), 1u);
  });
  uint32_t host = 0;
  EXPECT_NE(failureOf([&] { get(&host); }), "no failure");
}

TEST(Memory, AtomicsAddAndSwap) {
  Memory memory;
  auto *counter = static_cast<uint32_t *>(memory.allocate(8));
  counter[0] = 0;
  counter[1] = 5;
  std::vector<int> seen(64);
  auto kernel = [&] {
    ++seen[mlac_emu_atomic_add(counter, 1, "atom")];
    mlac_emu_atomic_cas(counter + 1, 5, tid() + 100, "cas");
  };
  run(memory, kernel, {.threads = 64});
  EXPECT_EQ(counter[0], 64u);
  EXPECT_THAT(seen, testing::Each(1));
  EXPECT_GE(counter[1], 100u);
  EXPECT_THAT(failureOf(memory, [&] { mlac_emu_atomic_add(counter + 2, 1, "atom"); }),
              HasSubstr("out of bounds"));
}

TEST(Memory, SpinLockOfAnotherThreadProgresses) {
  Memory memory;
  auto *lock = static_cast<uint32_t *>(memory.allocate(8));
  lock[0] = lock[1] = 0;
  auto kernel = [&] {
    while (mlac_emu_atomic_cas(lock, 0, 1, "lock") != 0) {
    }
    uint32_t before = get(lock + 1);
    mlac_emu_atomic_add(lock + 1, 1, "inside");
    EXPECT_EQ(get(lock + 1), before + 1);
    mlac_emu_atomic_cas(lock, 1, 0, "unlock");
  };
  run(memory, kernel, {.threads = 64});
  EXPECT_EQ(lock[1], 64u);
}

TEST(Memory, LockNobodyFreesIsReported) {
  Memory memory;
  auto *lock = static_cast<uint32_t *>(memory.allocate(4));
  *lock = 1;
  auto kernel = [&] {
    while (mlac_emu_atomic_cas(lock, 0, 1, "lock at l.mla:1:1") != 0) {
    }
  };
  EXPECT_THAT(failureOf(memory, kernel), HasSubstr("a lock or a flag that nobody sets"));
}

TEST(Memory, PollingAFlagOfAnotherThreadProgresses) {
  Memory memory;
  auto *flag = static_cast<uint32_t *>(memory.allocate(4));
  for (uint64_t seed : seeds) {
    *flag = 0;
    auto kernel = [&] {
      if (tid() == 40)
        put(flag, 1u);
      while (get<uint32_t>(flag) == 0) {
      }
    };
    run(memory, kernel, {.threads = 64, .seed = seed});
  }
}

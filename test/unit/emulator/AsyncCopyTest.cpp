//===- AsyncCopyTest.cpp - cp.async lands at the wait ---------------------===//

#include "Harness.h"

#include <cstring>
#include <numeric>

using namespace mla::emulator;
using namespace mla::emulator::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {
class AsyncCopy : public testing::Test {
protected:
  AsyncCopy() : source(static_cast<uint32_t *>(memory.allocate(4096))) {
    std::iota(source, source + 1024, 0u);
  }

  static void copy(uint32_t word, const uint32_t *from, uint32_t bytes = 4, uint32_t srcBytes = 4) {
    mlac_emu_cp_async(shared<uint32_t>() + word, from, bytes, srcBytes, "copy");
  }

  Memory memory;
  uint32_t *source;
};
} // namespace

TEST_F(AsyncCopy, LandsAtTheWait) {
  auto kernel = [&] {
    copy(tid(), source + tid());
    mlac_emu_cp_commit("commit");
    EXPECT_EQ(shared<uint32_t>()[tid()], ~0u);
    EXPECT_EQ(mlac_emu_vote(0, all, 1, "vote"), 1u);
    EXPECT_EQ(shared<uint32_t>()[tid()], ~0u);
    mlac_emu_cp_wait(0, "wait");
    EXPECT_EQ(get(shared<uint32_t>() + tid()), tid());
  };
  run(memory, kernel);
  EXPECT_EQ(memory.bytesRead(), 128u);
}

TEST_F(AsyncCopy, ReadsTheSourceAsLateAsItLands) {
  auto kernel = [&] {
    if (tid())
      return;
    copy(0, source);
    mlac_emu_cp_commit("commit");
    put(source, 77u);
    mlac_emu_cp_wait(0, "wait");
    EXPECT_EQ(get(shared<uint32_t>()), 77u);
  };
  run(memory, kernel);
}

TEST_F(AsyncCopy, WaitCoversAllButTheLastGroups) {
  auto kernel = [&] {
    if (tid())
      return;
    for (uint32_t group = 0; group < 4; ++group) {
      copy(2 * group, source + 2 * group);
      copy(2 * group + 1, source + 2 * group + 1);
      mlac_emu_cp_commit("commit");
    }
    for (uint32_t pending : {4u, 3u, 1u, 0u}) {
      mlac_emu_cp_wait(pending, "wait");
      for (uint32_t word = 0; word < 8; ++word)
        EXPECT_EQ(shared<uint32_t>()[word], word < 8 - 2 * pending ? word : ~0u) << pending;
    }
  };
  run(memory, kernel);
}

TEST_F(AsyncCopy, EmptyGroupsCount) {
  auto kernel = [&] {
    if (tid())
      return;
    copy(0, source + 5);
    mlac_emu_cp_commit("commit");
    mlac_emu_cp_commit("empty");
    mlac_emu_cp_wait(1, "wait");
    EXPECT_EQ(get(shared<uint32_t>()), 5u);
    mlac_emu_cp_wait(0, "wait");
  };
  run(memory, kernel);
}

TEST_F(AsyncCopy, UncommittedCopiesAreNotWaitedFor) {
  auto kernel = [&] {
    copy(tid(), source);
    mlac_emu_cp_wait(0, "wait");
    get(shared<uint32_t>() + tid(), "ld");
  };
  EXPECT_THAT(failureOf(memory, kernel), HasSubstr("in flight"));
}

TEST_F(AsyncCopy, ZeroFill) {
  auto kernel = [&] {
    if (tid())
      return;
    for (uint32_t srcBytes : {0u, 1u, 4u, 7u, 15u, 16u}) {
      mlac_emu_cp_async(shared(), srcBytes ? source + 4 : nullptr, 16, srcBytes, "copy");
      mlac_emu_cp_commit("commit");
      mlac_emu_cp_wait(0, "wait");
      char expected[16] = {};
      std::memcpy(expected, source + 4, srcBytes);
      EXPECT_EQ(std::memcmp(shared(), expected, 16), 0) << srcBytes;
      mlac_emu_load(shared(), 16, "ld");
    }
  };
  run(memory, kernel);
}

TEST_F(AsyncCopy, NobodyTouchesBytesInFlight) {
  auto read = [&] {
    copy(tid(), source);
    mlac_emu_cp_commit("commit");
    get(shared<uint32_t>() + tid(), "early");
  };
  EXPECT_THAT(failureOf(memory, read),
              AllOf(HasSubstr("kern: early: "), HasSubstr("in flight"), HasSubstr("at copy")));
  auto write = [&] {
    copy(tid(), source);
    put(shared<uint32_t>() + tid(), 1u, "early");
  };
  EXPECT_THAT(failureOf(memory, write), HasSubstr("in flight"));
  auto twice = [&] {
    copy(tid(), source);
    copy(tid(), source);
  };
  EXPECT_THAT(failureOf(memory, twice), HasSubstr("in flight"));
  auto bytes = [&] {
    copy(tid(), source);
    get(shared<uint8_t>(4 * tid() + 3), "byte");
  };
  EXPECT_THAT(failureOf(memory, bytes), HasSubstr("in flight"));
}

TEST_F(AsyncCopy, OthersNeedWaitAndBarrier) {
  auto kernel = [&](bool barrier) {
    return [=, this] {
      copy(tid(), source + tid());
      mlac_emu_cp_commit("commit");
      mlac_emu_cp_wait(0, "wait");
      if (barrier)
        bar();
      else
        mlac_emu_vote(2, all, 1, "vote");
      EXPECT_EQ(get(shared<uint32_t>() + (tid() ^ 1), "ld"), tid() ^ 1);
    };
  };
  run(memory, kernel(true));
  EXPECT_THAT(failureOf(memory, kernel(false)), AllOf(HasSubstr("data race"), HasSubstr("at copy")));
}

TEST_F(AsyncCopy, IssuingOverDataOthersReadIsARace) {
  auto kernel = [&](bool barrier) {
    return [=, this] {
      put(shared<uint32_t>() + tid(), 1u);
      bar();
      get(shared<uint32_t>() + (tid() ^ 1), "ld");
      if (barrier)
        bar();
      else
        mlac_emu_vote(2, all, 1, "vote");
      copy(tid(), source + tid());
      mlac_emu_cp_commit("commit");
      mlac_emu_cp_wait(0, "wait");
    };
  };
  run(memory, kernel(true));
  EXPECT_THAT(failureOf(memory, kernel(false)),
              AllOf(HasSubstr("data race"), HasSubstr("copy"), HasSubstr("ld")));
}

TEST_F(AsyncCopy, InFlightAtTheEnd) {
  auto kernel = [&] {
    copy(tid(), source);
    mlac_emu_cp_commit("commit");
  };
  EXPECT_THAT(failureOf(memory, kernel), HasSubstr("in flight when the thread ends"));
}

TEST_F(AsyncCopy, Arguments) {
  auto with = [&](uint32_t dst, uint32_t src, uint32_t bytes, uint32_t srcBytes) {
    return failureOf(memory, [=, this] {
      mlac_emu_cp_async(shared(dst), reinterpret_cast<char *>(source) + src, bytes, srcBytes, "copy");
    });
  };
  EXPECT_THAT(with(0, 0, 12, 12), HasSubstr("cp.async of 12 bytes"));
  EXPECT_THAT(with(0, 0, 4, 5), HasSubstr("reads 5"));
  EXPECT_THAT(with(8, 0, 16, 16), HasSubstr("not aligned to 16"));
  EXPECT_THAT(with(0, 4, 8, 8), HasSubstr("not aligned to 8"));
  EXPECT_THAT(with(4096, 0, 16, 16), HasSubstr("out of bounds"));
  EXPECT_THAT(with(0, 4096, 16, 16), HasSubstr("out of bounds"));
  EXPECT_THAT(failureOf(memory, [&] { mlac_emu_cp_async(source, source, 4, 4, "copy"); }),
              HasSubstr("not in shared memory"));
}

/// Three stages in flight, as a pipelined tile loop does it.
TEST_F(AsyncCopy, MultistagePipeline) {
  for (uint64_t seed : seeds) {
    auto kernel = [&] {
      constexpr uint32_t stages = 3, tiles = 8, threads = 128;
      auto fetch = [&](uint32_t tile) {
        if (tile < tiles)
          copy(tile % stages * threads + tid(), source + tile * threads + tid());
        mlac_emu_cp_commit("commit");
      };
      for (uint32_t tile = 0; tile + 1 < stages; ++tile)
        fetch(tile);
      for (uint32_t tile = 0; tile < tiles; ++tile) {
        mlac_emu_cp_wait(stages - 2, "wait");
        bar();
        fetch(tile + stages - 1);
        uint32_t other = threads - 1 - tid();
        EXPECT_EQ(get(shared<uint32_t>() + tile % stages * threads + other), tile * threads + other);
      }
      mlac_emu_cp_wait(0, "drain");
    };
    run(memory, kernel, {.threads = 128, .seed = seed});
  }
}

// Bitwise repeatability, and rows that do not depend on their batch.
#include "Rig.h"

#include <algorithm>
#include <cstring>

using namespace mla;
using namespace mla::test;

using Determinism = DeviceCase;

TEST_F(Determinism, EveryModeRepeatsBitwise) {
  for (Program program : {Program::decode, Program::plain})
    for (Deterministic mode : {Deterministic::run, Deterministic::batch})
      for (bool split : {false, true}) {
        Kernel kernel = rig->load(program);
        Live live(device(), kernel.info(), {{1, 2, 1}, {rig->full ? 20000 : 400, 65, 0}, 16});
        Config config;
        config.deterministic = mode;
        config.split = split;
        Bits first = runBits(kernel, live, config);
        live.upload();
        EXPECT_EQ(runBits(kernel, live, config), first);
        EXPECT_TRUE(live.check().passed());
      }
}

/// The first request's rows.
static Bits firstRows(const Bits &bits, const KernelInfo &kernel, int64_t rows) {
  Bits first;
  size_t outBytes = static_cast<size_t>(rows * kernel.heads * kernel.vDim * 2);
  first.out.assign(bits.out.begin(), bits.out.begin() + static_cast<int64_t>(outBytes));
  first.lse.assign(bits.lse.begin(), bits.lse.begin() + static_cast<int64_t>(rows * kernel.heads * 4));
  return first;
}

TEST_F(Determinism, RowsDoNotDependOnBatchMates) {
  Kernel kernel = rig->load(Program::decode);
  int32_t length = rig->full ? 9000 : 600;
  Config config;
  config.deterministic = Deterministic::batch;
  auto run = [&](std::vector<int32_t> q, std::vector<int32_t> kv, int blocks) {
    // The first request's rows come first in the random sequence, so it is the same in every batch.
    Live live(device(), kernel.info(), {q, kv, 16, 5});
    reference::HostTensor &cache = *live.host().find(Role::cache);
    for (int32_t token = 0; token < length; ++token) {
      int64_t row = live.host().cacheRow(cache, 0, token);
      for (int64_t d = 0; d < kernel.qkDim(); ++d)
        cache.data()[row + d] = static_cast<uint8_t>((token * 31 + d * 7) % 0x70);
    }
    live.upload();
    config.blocks = blocks;
    return firstRows(runBits(kernel, live, config), kernel.info(), 1);
  };
  Bits alone = run({1}, {length}, 0);
  EXPECT_EQ(run({1, 1, 1}, {length, 500, 20}, 0), alone);
  EXPECT_EQ(run({1, 3, 0, 1}, {length, 90, 7, 350}, 0), alone);
  EXPECT_EQ(run({1, 1}, {length, 64}, 3), alone) << "nor on the number of blocks";
}

TEST_F(Determinism, LastRowDoesNotDependOnTheExtension) {
  Kernel kernel = rig->load(Program::decode);
  int32_t context = rig->full ? 3000 : 330;
  Config config;
  config.deterministic = Deterministic::batch;
  Bits reference;
  for (int32_t extension :
       rig->full ? std::vector<int32_t>{1, 2, 3, 7, 16, 33, 64} : std::vector<int32_t>{1, 2, 5, 16}) {
    Live live(device(), kernel.info(), {{extension}, {context}, 16});
    reference::HostTensor &query = *live.host().find(Role::query), &cache = *live.host().find(Role::cache);
    std::fill(query.bytes.begin(), query.bytes.end(), 0x3C); // every row the same query
    for (int32_t token = 0; token < context; ++token) {
      int64_t row = live.host().cacheRow(cache, 0, token);
      for (int64_t d = 0; d < kernel.qkDim(); ++d)
        cache.data()[row + d] = static_cast<uint8_t>((token * 13 + d * 5) % 0x70);
    }
    live.upload();
    Bits bits = runBits(kernel, live, config);
    Bits last;
    last.out.assign(bits.out.end() - kernel.heads() * kernel.vDim() * 2, bits.out.end());
    last.lse.assign(bits.lse.end() - kernel.heads() * 4, bits.lse.end());
    if (extension == 1)
      reference = last;
    EXPECT_EQ(last, reference) << "extended by " << extension;
  }
}

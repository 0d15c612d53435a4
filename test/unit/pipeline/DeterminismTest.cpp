// The same bits from every warp order, placement of pages, page size and number of stages.
#include "test/unit/pipeline/Bench.h"
#include "test/unit/pipeline/Values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace mlac::test {
namespace {

const RunConfig kConfig{.qLens = {1, 3, 1, 2}, .kvLens = {300, 65, 0, 17}, .pageSize = 16, .seed = 8};

/// Runs the batch of `kConfig` with data that does not depend on the placement.
std::vector<uint32_t> bitsOf(Bench &bench, HostOperands operands) {
  randomizeCache(operands, 11);
  for (int head = 0; head < bench.kernel().heads; ++head)
    randomizeHead(operands, head, 12);
  bench.run(operands);
  return allBits(operands);
}

TEST(Determinism, WarpOrders) {
  if (!onEmulator())
    GTEST_SKIP() << "a GPU's warp order is its own";
  Bench first{Source()};
  std::vector<uint32_t> bits = bitsOf(first, first.operands(kConfig));
  for (uint64_t seed : {1, 2, 3, 4}) {
    Bench bench(Source(), seed);
    EXPECT_EQ(bitsOf(bench, bench.operands(kConfig)), bits) << "seed " << seed;
  }
}

TEST(Determinism, PageSizes) {
  Bench bench{Source()};
  std::vector<uint32_t> bits = bitsOf(bench, bench.operands(kConfig));
  for (int pageSize : {1, 2, 3, 32, 64, 100, 128, 512}) {
    RunConfig config = kConfig;
    config.pageSize = pageSize;
    EXPECT_EQ(bitsOf(bench, bench.operands(config)), bits) << "pages of " << pageSize;
  }
}

TEST(Determinism, PagePlacements) {
  Bench bench{Source()};
  HostOperands operands = bench.operands(kConfig);
  std::vector<uint32_t> bits = bitsOf(bench, operands);
  std::vector<int32_t> order(operands.pages);
  std::iota(order.begin(), order.end(), 0);
  auto expectSame = [&](const char *name) {
    placePages(operands, order);
    EXPECT_EQ(bitsOf(bench, operands), bits) << name;
  };
  expectSame("identity");
  std::reverse(order.begin(), order.end());
  expectSame("reversed");
  std::rotate(order.begin(), order.end() - 1, order.end());
  expectSame("the first page first, the rest reversed");
}

/// Copies into a stage must not overtake its last readers, whatever the number of stages; the splits of a
/// batch do not depend on them.
TEST(Determinism, Stages) {
  RunConfig config{.qLens = std::vector<int32_t>(9, 1), .kvLens = {}, .pageSize = 16};
  for (int tiles = 1; tiles <= 9; ++tiles)
    config.kvLens.push_back(32 * tiles - tiles % 3);
  std::vector<uint32_t> bits;
  for (int stages : {2, 3, 4}) {
    Source source;
    source.hints = "tokens = 32, groups = 1, token_warps = 2, row_warps = 2, stages = " + std::to_string(stages);
    Bench bench(source);
    EXPECT_EQ(bench.kernel().tile.stages, stages);
    std::vector<uint32_t> now = bitsOf(bench, bench.operands(config));
    if (bits.empty())
      bits = now;
    EXPECT_EQ(now, bits) << stages << " stages";
  }
}

TEST(Determinism, SplitAndWholeAgreeWithinTolerance) {
  Bench bench{Source()};
  RunConfig config{.qLens = {1, 1}, .kvLens = {1000, 10}, .pageSize = 64};
  EXPECT_TRUE(bench.check(config).passed());
  HostOperands operands = bench.operands(config);
  bench.run(operands, /*split=*/false);
  EXPECT_TRUE(
      mla::reference::check(bench.kernel(), operands, mla::reference::evaluate(bench.kernel(), operands))
          .passed());
}

} // namespace
} // namespace mlac::test

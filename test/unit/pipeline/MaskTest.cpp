// Which cached rows a query row sees: bottom-right alignment, empty requests, and the bytes that nobody owns.
#include "test/unit/pipeline/Bench.h"
#include "test/unit/pipeline/MaskCheck.h"
#include "test/unit/pipeline/Values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mlac::test {
namespace {

/// Zero queries weigh all visible rows alike, and row j holds a one in column j: the output shows the mask.
void exposeMask(HostOperands &operands) {
  fillQuery(operands, 0);
  fillCache(operands, 0);
  for (int64_t request = 0; request < operands.batch(); ++request)
    for (int64_t token = 0; token < operands.shape.kvLens[request]; ++token)
      setCache(operands, request, token, token, 1);
}

class Mask : public testing::TestWithParam<std::tuple<MaskLengths, bool>> {};

TEST_P(Mask, IsAlignedBottomRight) {
  auto [lengths, causal] = GetParam();
  Source source;
  source.heads = 5;
  source.out = "f32";
  source.causal = causal;
  Bench bench(source);
  HostOperands operands =
      bench.operands({.qLens = {lengths.query}, .kvLens = {lengths.cached}, .pageSize = 16});
  exposeMask(operands);
  operands.scalars["kv_scale"] = 1;
  bench.run(operands);
  expectMeanOfVisible(operands, lengths, source.heads, source.latent, causal);
}

INSTANTIATE_TEST_SUITE_P(Pipeline, Mask,
                         testing::Combine(testing::Values(MaskLengths{2, 3}, MaskLengths{5, 6}, MaskLengths{33, 97},
                                                          MaskLengths{64, 64}, MaskLengths{1, 7}, MaskLengths{5, 3},
                                                          MaskLengths{3, 0}),
                                          testing::Bool()),
                         [](const auto &info) {
                           MaskLengths lengths = std::get<0>(info.param);
                           return std::to_string(lengths.query) + "_" + std::to_string(lengths.cached) +
                                  (std::get<1>(info.param) ? "_causal" : "_full");
                         });

/// Every length of one tile's tail; the rest of each page is NaN.
TEST(MaskOfTails, EveryLengthOfATile) {
  Source source;
  source.hints = "tokens = 64";
  source.heads = 8;
  RunConfig config{.qLens = std::vector<int32_t>(64, 1), .kvLens = {}, .pageSize = 64};
  for (int length = 1; length <= 64; ++length)
    config.kvLens.push_back(length);
  mla::reference::Report report = Bench(source).check(config);
  EXPECT_TRUE(report.passed()) << report.toText();
}

/// The pool's unowned bytes are another NaN, then zeros, then ones: the same bits.
TEST(MaskOfTails, UnownedBytesDoNotMatter) {
  Bench bench{Source()};
  RunConfig config{.qLens = {1, 2, 1}, .kvLens = {5, 33, 100}, .pageSize = 16};
  std::vector<uint32_t> bits;
  for (int fill : {0x7F, 0xFF, 0x00, 0x38}) {
    HostOperands operands = bench.operands(config);
    std::ranges::fill(operands.find(Role::cache)->bytes, static_cast<uint8_t>(fill));
    randomizeCache(operands, 4);
    bench.run(operands);
    if (bits.empty())
      bits = allBits(operands);
    EXPECT_EQ(allBits(operands), bits) << "filled with " << fill;
  }
}

TEST(MaskOfNothing, EmptyRequestsAmongOthers) {
  for (bool causal : {false, true}) {
    Source source;
    source.causal = causal;
    Bench bench(source);
    HostOperands operands = bench.operands({.qLens = {2, 1, 5}, .kvLens = {0, 40, 3}, .pageSize = 16});
    EXPECT_TRUE(bench.check(operands).passed());
    for (int64_t token : {0, 1})
      for (int64_t head = 0; head < source.heads; ++head) {
        EXPECT_EQ(lseValue(operands, token, head), -std::numeric_limits<double>::infinity());
        EXPECT_EQ(outValue(operands, token, head, 511), 0);
      }
  }
}

} // namespace
} // namespace mlac::test

// Head counts x cached lengths x page sizes, every pair of them at least once.
#include "test/unit/pipeline/Bench.h"

#include <gtest/gtest.h>

#include <set>

namespace mlac::test {
namespace {

constexpr int kHeads[] = {1, 5, 8, 12, 16, 20, 64, 128};
constexpr int kLengths[] = {0, 1, 15, 16, 17, 63, 64, 65, 257};
constexpr int kPages[] = {1, 3, 16, 64, 100};
constexpr int kRounds = 8;

/// Round `round` of the head count at `index`: three mixed lengths, zero to three query tokens each.
RunConfig configOf(int index, int round) {
  RunConfig config;
  for (int k = 0; k < 3; ++k) {
    config.kvLens.push_back(kLengths[(3 * round + index + k) % 9]);
    config.qLens.push_back((index + round + 3 * k) % 4);
  }
  config.pageSize = kPages[(index + round) % 5];
  config.seed = static_cast<uint64_t>(kRounds * index + round);
  return config;
}

class Heads : public testing::TestWithParam<int> {};

TEST_P(Heads, MatchTheReference) {
  Source source;
  source.heads = kHeads[GetParam()];
  for (int round = 0; round < kRounds; ++round) {
    source.causal = round % 2 == 0;
    RunConfig config = configOf(GetParam(), round);
    SCOPED_TRACE("round " + std::to_string(round));
    mla::reference::Report report = Bench(source).check(config);
    EXPECT_TRUE(report.passed()) << report.toText();
    int tokens = config.qLens[0] + config.qLens[1] + config.qLens[2];
    EXPECT_EQ(report.rows, tokens * source.heads);
  }
}

INSTANTIATE_TEST_SUITE_P(Pipeline, Heads, testing::Range(0, 8),
                         [](const auto &info) { return "of" + std::to_string(kHeads[info.param]); });

TEST(HeadsSample, HoldsEveryPair) {
  std::set<std::pair<int, int>> headsLength, headsPage, lengthPage;
  std::set<int> queryLengths;
  for (int index = 0; index < 8; ++index)
    for (int round = 0; round < kRounds; ++round) {
      RunConfig config = configOf(index, round);
      headsPage.insert({index, config.pageSize});
      queryLengths.insert(config.qLens.begin(), config.qLens.end());
      for (int length : config.kvLens) {
        headsLength.insert({index, length});
        lengthPage.insert({length, config.pageSize});
      }
    }
  EXPECT_EQ(headsLength.size(), 8u * 9);
  EXPECT_EQ(headsPage.size(), 8u * 5);
  EXPECT_EQ(lengthPage.size(), 9u * 5);
  EXPECT_EQ(queryLengths, (std::set<int>{0, 1, 2, 3}));
}

} // namespace
} // namespace mlac::test

// A row's bits depend on its own query and on the cached rows that it sees, and on nothing else.
#include "test/unit/pipeline/Bench.h"
#include "test/unit/pipeline/Values.h"

#include <gtest/gtest.h>

#include <limits>

namespace mlac::test {
namespace {

const RunConfig kConfig{.qLens = {1, 2, 1}, .kvLens = {70, 33, 200}, .pageSize = 16, .seed = 3};

void fillOtherHeads(HostOperands &operands, int heads, int kept, double value) {
  int width = static_cast<int>(operands.find(Role::query)->operand.shape[1]);
  for (int64_t token = 0; token < operands.queryTokens(); ++token)
    for (int head = 0; head < heads; ++head)
      for (int column = 0; head != kept && column < width; ++column)
        setQuery(operands, token, head, column, value);
}

void expectSameHead(const HostOperands &a, int headOfA, const HostOperands &b, int headOfB) {
  for (int64_t token = 0; token < a.queryTokens(); ++token)
    EXPECT_EQ(rowBits(a, token, headOfA), rowBits(b, token, headOfB))
        << "token " << token << ", head " << headOfA;
}

class Isolation : public testing::TestWithParam<int> {};

TEST_P(Isolation, HeadsDoNotSeeEachOther) {
  Source source;
  source.heads = GetParam();
  Bench bench(source);
  HostOperands base = bench.operands(kConfig);
  EXPECT_TRUE(bench.check(base).passed());
  for (int head : {0, source.heads / 2, source.heads - 1})
    for (double other : {1000.0, std::numeric_limits<double>::quiet_NaN()}) {
      HostOperands changed = base;
      fillOtherHeads(changed, source.heads, head, other);
      bench.run(changed);
      expectSameHead(base, head, changed, head);
    }
}

INSTANTIATE_TEST_SUITE_P(Pipeline, Isolation, testing::Values(5, 8, 20, 128),
                         [](const auto &info) { return "of" + std::to_string(info.param); });

TEST(IsolationOfHeads, TwentyInsideThirtyTwo) {
  Source source;
  source.heads = 20;
  Bench twenty(source);
  source.heads = 32;
  Bench thirtyTwo(source);
  HostOperands few = twenty.operands(kConfig), many = thirtyTwo.operands(kConfig);
  for (HostOperands *operands : {&few, &many})
    randomizeCache(*operands, 1);
  for (int head = 0; head < 32; ++head) {
    if (head < 20)
      randomizeHead(few, head, 2);
    randomizeHead(many, head, 2);
  }
  twenty.run(few, /*split=*/false);
  thirtyTwo.run(many, /*split=*/false);
  for (int head = 0; head < 20; ++head)
    expectSameHead(few, head, many, head);
}

TEST(IsolationOfRequests, AloneAndAmongOthers) {
  Bench bench{Source()};
  HostOperands among = bench.operands(kConfig);
  randomizeCache(among, 1);
  for (int head = 0; head < 16; ++head)
    randomizeHead(among, head, 2);
  HostOperands alone = bench.operands({.qLens = {1}, .kvLens = {70}, .pageSize = 100});
  randomizeCache(alone, 1);
  for (int head = 0; head < 16; ++head)
    randomizeHead(alone, head, 2);
  bench.run(among, /*split=*/false);
  bench.run(alone, /*split=*/false);
  for (int head = 0; head < 16; ++head)
    EXPECT_EQ(rowBits(among, 0, head), rowBits(alone, 0, head)) << "head " << head;
}

} // namespace
} // namespace mlac::test

// Which tokens a prefill row sees: bottom-right alignment, whatever the tiles, and chunks before the new
// tokens.
#include "test/unit/pipeline/Bench.h"
#include "test/unit/pipeline/Values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mlac::test {
namespace {

struct Lengths {
  int query, cached;
};

class PrefillMask : public testing::TestWithParam<std::tuple<Lengths, bool, int>> {};

/// Zero queries weigh all visible rows alike, and value row j holds a one in column j: the output shows the
/// mask.
TEST_P(PrefillMask, IsAlignedBottomRight) {
  auto [lengths, causal, heads] = GetParam();
  Bench bench(PrefillSource{.heads = heads,
                            .kvHeads = 1,
                            .keyWidth = 16,
                            .valueWidth = 256,
                            .values = "f16",
                            .compute = "f16",
                            .out = "f32",
                            .causal = causal});
  HostOperands operands = bench.operands({.qLens = {lengths.query}, .kvLens = {lengths.cached}});
  fillQuery(operands, 0);
  fillRows(operands, Role::value, 0);
  for (int64_t row = 0; row < lengths.cached; ++row)
    setRow(operands, Role::value, row, 0, row, 1);
  bench.run(operands);
  for (int64_t token = 0; token < lengths.query; ++token) {
    int64_t visible = causal ? token + lengths.cached - lengths.query + 1 : lengths.cached;
    visible = std::clamp<int64_t>(visible, 0, lengths.cached);
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t column = 0; column < 256; ++column)
        ASSERT_NEAR(outValue(operands, token, head, column), column < visible ? 1.0 / double(visible) : 0,
                    1e-6)
            << "token " << token << ", head " << head << ", column " << column;
      double lse = lseValue(operands, token, head);
      if (visible == 0)
        EXPECT_EQ(lse, -std::numeric_limits<double>::infinity());
      else
        EXPECT_NEAR(lse, std::log2(double(visible)), 1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pipeline, PrefillMask,
                         testing::Combine(testing::Values(Lengths{1, 1}, Lengths{16, 17}, Lengths{65, 65},
                                                          Lengths{63, 200}, Lengths{130, 256},
                                                          Lengths{129, 64}, Lengths{5, 0}),
                                          testing::Bool(), testing::Values(1, 3)),
                         [](const auto &info) {
                           Lengths lengths = std::get<0>(info.param);
                           return std::to_string(lengths.query) + "_" + std::to_string(lengths.cached) +
                                  (std::get<1>(info.param) ? "_causal_" : "_full_") +
                                  std::to_string(std::get<2>(info.param));
                         });

} // namespace
} // namespace mlac::test

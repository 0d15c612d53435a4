// Which tokens a prefill row sees: bottom-right alignment, whatever the tiles, and chunks before the new
// tokens.
#include "test/unit/pipeline/Bench.h"
#include "test/unit/pipeline/MaskCheck.h"
#include "test/unit/pipeline/Values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mlac::test {
namespace {

class PrefillMask : public testing::TestWithParam<std::tuple<MaskLengths, bool, int>> {};

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
  expectMeanOfVisible(operands, lengths, heads, 256, causal);
}

INSTANTIATE_TEST_SUITE_P(Pipeline, PrefillMask,
                         testing::Combine(testing::Values(MaskLengths{1, 1}, MaskLengths{16, 17}, MaskLengths{65, 65},
                                                          MaskLengths{63, 200}, MaskLengths{130, 256},
                                                          MaskLengths{129, 64}, MaskLengths{5, 0}),
                                          testing::Bool(), testing::Values(1, 3)),
                         [](const auto &info) {
                           MaskLengths lengths = std::get<0>(info.param);
                           return std::to_string(lengths.query) + "_" + std::to_string(lengths.cached) +
                                  (std::get<1>(info.param) ? "_causal_" : "_full_") +
                                  std::to_string(std::get<2>(info.param));
                         });

} // namespace
} // namespace mlac::test

// Caches that are less aligned than a 16-byte copy takes.
#include "test/unit/pipeline/Bench.h"

#include <gtest/gtest.h>

namespace mlac::test {
namespace {

class Alignment : public testing::TestWithParam<std::tuple<int, const char *>> {};

TEST_P(Alignment, BaseAndStridesOfThatAlignment) {
  Source source;
  const char *layout;
  std::tie(source.align, layout) = GetParam();
  source.layout = layout;
  Bench bench(source);
  const mla::Operand &cache = *bench.kernel().find(Role::cache);
  EXPECT_EQ(cache.alignment, source.align);
  HostOperands operands = bench.operands({.qLens = {1, 3, 1}, .kvLens = {65, 17, 100}, .pageSize = 3});
  const mla::reference::HostTensor &tensor = *operands.find(Role::cache);
  EXPECT_EQ(tensor.offset % 16, source.align % 16) << "allocations are aligned to 256: the base is not to 16";
  EXPECT_EQ(tensor.strideToken % 16, source.align % 16);
  mla::reference::Report report = bench.check(operands);
  EXPECT_TRUE(report.passed()) << report.toText();
}

INSTANTIATE_TEST_SUITE_P(Pipeline, Alignment,
                         testing::Combine(testing::Values(4, 8, 16), testing::Values("paged", "ragged")),
                         [](const auto &info) {
                           return std::string(std::get<1>(info.param)) +
                                  std::to_string(std::get<0>(info.param));
                         });

TEST(AlignmentRefused, TwoBytes) {
  Source source;
  source.align = 2;
  EXPECT_NE(refusal(source).find("[buffer-align]"), std::string::npos) << refusal(source);
}

} // namespace
} // namespace mlac::test

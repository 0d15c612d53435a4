// Offsets beyond 31 and 32 bits, without the memory: the pool's first pages are ones that nobody has.
#include "test/unit/pipeline/Bench.h"
#include "test/unit/pipeline/Values.h"

#include <gtest/gtest.h>

namespace mlac::test {
namespace {

class Address : public testing::TestWithParam<int64_t> {};

TEST_P(Address, PagesFarIntoThePool) {
  for (const char *storage : {"e4m3", "f16"}) {
    Source source;
    source.storage = storage;
    Bench bench(source);
    HostOperands operands = bench.operands({.qLens = {1, 3, 1}, .kvLens = {65, 17, 100}, .pageSize = 16});
    int64_t stride = operands.find(Role::cache)->stridePage;
    renumberPages(operands, static_cast<int32_t>(GetParam() / stride));
    mla::reference::Report report = bench.check(operands);
    EXPECT_TRUE(report.passed()) << report.toText();
  }
}

/// In elements: just below and just above what signed and unsigned 32-bit numbers hold, and far above.
INSTANTIATE_TEST_SUITE_P(Pipeline, Address,
                         testing::Values((1ll << 31) - 50'000, 1ll << 31, 1ll << 32, 1ll << 36));

} // namespace
} // namespace mlac::test

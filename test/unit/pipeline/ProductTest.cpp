// Products with an identity: every element of the other factor comes out where it belongs.
#include "test/unit/pipeline/Bench.h"
#include "test/unit/pipeline/Values.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mlac::test {
namespace {

using Types = std::pair<const char *, const char *>;

class Product : public testing::TestWithParam<Types> {
protected:
  Product() {
    std::tie(source.storage, source.compute) = GetParam();
    source.out = "f32";
  }
  Source source;
};

/// Small integers that differ from column to column and head to head; exact in every type.
int queryAt(int64_t head, int64_t column) { return static_cast<int>((column * 37 + head * 11) % 127) - 63; }

/// Request d has one cached row, the d-th unit vector: its log-sum-exp is the query's element d.
TEST_P(Product, KeysThatAreTheIdentity) {
  source.heads = 8;
  source.causal = false;
  Bench bench(source);
  auto requests = static_cast<size_t>(source.width());
  HostOperands operands = bench.operands({.qLens = std::vector<int32_t>(requests, 1),
                                          .kvLens = std::vector<int32_t>(requests, 1),
                                          .pageSize = 1});
  fillCache(operands, 0);
  for (int64_t request = 0; request < source.width(); ++request) {
    setCache(operands, request, 0, request, 1);
    for (int64_t head = 0; head < source.heads; ++head)
      for (int64_t column = 0; column < source.width(); ++column)
        setQuery(operands, request, head, column, queryAt(head, column));
  }
  bench.run(operands);
  double scale = operands.evaluate(bench.kernel().scoreScale) * std::log2(std::exp(1.0));
  for (int64_t request = 0; request < source.width(); ++request)
    for (int64_t head = 0; head < source.heads; ++head)
      ASSERT_NEAR(lseValue(operands, request, head) / scale, queryAt(head, request), 1e-3)
          << "column " << request << ", head " << head;
}

/// Head h's query meets token h's rope alone, so strongly that its probability is 1: the output is cached row
/// h.
TEST_P(Product, ProbabilitiesThatAreTheIdentity) {
  source.heads = 64;
  source.causal = false;
  Bench bench(source);
  HostOperands operands = bench.operands({.qLens = {1}, .kvLens = {64}, .pageSize = 3});
  if (source.quantised())
    operands.scalars["kv_scale"] = 1;
  fillQuery(operands, 0);
  auto valueAt = [](int64_t token, int64_t column) { return double((token * 5 + column * 3) % 31) - 15; };
  for (int64_t token = 0; token < 64; ++token) {
    setQuery(operands, 0, token, source.latent + token, 8192);
    for (int64_t column = 0; column < source.width(); ++column)
      setCache(operands, 0, token, column,
               column < source.latent ? valueAt(token, column) : column == source.latent + token);
  }
  bench.run(operands);
  for (int64_t head = 0; head < 64; ++head)
    for (int64_t column = 0; column < source.latent; ++column)
      ASSERT_EQ(outValue(operands, 0, head, column), valueAt(head, column))
          << "head " << head << ", column " << column;
}

INSTANTIATE_TEST_SUITE_P(Pipeline, Product,
                         testing::Values(Types("e4m3", "f16"), Types("e4m3", "bf16"), Types("bf16", "bf16"),
                                         Types("f16", "f16")),
                         [](const auto &info) {
                           return std::string(info.param.first) + "_" + info.param.second;
                         });

} // namespace
} // namespace mlac::test

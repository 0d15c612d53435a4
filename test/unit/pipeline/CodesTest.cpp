// Every code of the 8-bit formats through the whole kernel: one cached token has probability 1, so that an
// f32 output is the converted value itself.
#include "runtime/reference/Formats.h"
#include "test/unit/pipeline/Bench.h"
#include "test/unit/pipeline/Values.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mlac::test {
namespace {

Source sourceOf(const char *storage, const char *compute) {
  Source source;
  source.heads = 8;
  source.storage = storage;
  source.compute = compute;
  source.out = "f32";
  return source;
}

mla::DType typeOf(const Source &source) {
  return source.storage == "int8" ? mla::DType::s8 : *mla::parseDType(source.storage);
}

std::vector<uint32_t> finiteCodes(mla::DType type) {
  std::vector<uint32_t> codes;
  for (uint32_t code = 0; code < 256; ++code)
    if (std::isfinite(mla::reference::decode(type, code)))
      codes.push_back(code);
  return codes;
}

class Codes : public testing::TestWithParam<std::pair<const char *, const char *>> {
protected:
  Source source = sourceOf(GetParam().first, GetParam().second);
};

class CodesOfNaN : public Codes {};

size_t finiteCodesOf(mla::DType type) {
  return type == mla::DType::s8 ? 256 : type == mla::DType::e4m3 ? 254 : 248;
}

/// Four requests of one token; each holds every finite code, at other columns.
TEST_P(Codes, FiniteValuesAreExact) {
  mla::DType type = typeOf(source);
  std::vector<uint32_t> codes = finiteCodes(type);
  EXPECT_EQ(codes.size(), finiteCodesOf(type));
  Bench bench(source);
  HostOperands operands = bench.operands({.qLens = {1, 1, 1, 1}, .kvLens = {1, 1, 1, 1}, .pageSize = 16});
  operands.scalars["kv_scale"] = 1;
  auto codeAt = [&](int64_t request, int64_t column) {
    return codes[(column + 61 * request) % codes.size()];
  };
  for (int64_t request = 0; request < 4; ++request)
    for (int64_t column = 0; column < source.width(); ++column)
      setCacheCode(operands, request, 0, column, codeAt(request, column));
  bench.run(operands);
  for (int64_t request = 0; request < 4; ++request)
    for (int64_t head = 0; head < source.heads; ++head)
      for (int64_t column = 0; column < source.latent; ++column) {
        uint32_t code = codeAt(request, column);
        ASSERT_EQ(outValue(operands, request, head, column), mla::reference::decode(type, code))
            << "code " << code << ", column " << column << ", head " << head;
      }
}

bool allNaN(const HostOperands &operands, int64_t token, const Source &source) {
  bool nan = true;
  for (int64_t head = 0; head < source.heads; ++head) {
    nan &= std::isnan(lseValue(operands, token, head));
    for (int64_t column = 0; column < source.latent; ++column)
      nan &= std::isnan(outValue(operands, token, head, column));
  }
  return nan;
}

/// A NaN in any column of any token makes all that sees it NaN; other requests keep their bits.
TEST_P(CodesOfNaN, ReachesThoseThatSeeIt) {
  mla::DType type = typeOf(source);
  Bench bench(source);
  RunConfig config{.qLens = {1, 1, 1, 1, 1, 1}, .kvLens = {33, 33, 33, 33, 33, 33}, .pageSize = 16};
  HostOperands clean = bench.operands(config);
  bench.run(clean);
  std::vector<uint32_t> nans;
  for (uint32_t code = 0; code < 256; ++code)
    if (std::isnan(mla::reference::decode(type, code)))
      nans.push_back(code);
  const int columns[] = {0, 17, 300, 511, 512, 575}, tokens[] = {0, 7, 8, 15, 31, 32};
  for (size_t round = 0; round < 6; ++round) {
    HostOperands operands = bench.operands(config);
    for (int64_t request : {1, 3, 4})
      setCacheCode(operands, request, tokens[(round + request) % 6], columns[round],
                   nans[(round + request) % nans.size()]);
    bench.run(operands);
    for (int64_t request : {1, 3, 4})
      EXPECT_TRUE(allNaN(operands, request, source))
          << "request " << request << ", column " << columns[round];
    for (int64_t request : {0, 2, 5})
      for (int64_t head = 0; head < source.heads; ++head)
        EXPECT_EQ(rowBits(operands, request, head), rowBits(clean, request, head)) << "request " << request;
  }
}

/// Through partial results, too: one split of the row holds the NaN.
TEST_P(CodesOfNaN, SurvivesTheCombination) {
  Bench bench(source);
  HostOperands operands = bench.operands({.qLens = {1}, .kvLens = {700}, .pageSize = 64});
  setCacheCode(operands, 0, 650, 100, 0x7F);
  bench.run(operands);
  EXPECT_TRUE(allNaN(operands, 0, source));
}

/// A row that causal hides the token from keeps its log-sum-exp and its output; where the converted NaN takes part in a
/// product, with probability 0, the columns that hold it may be NaN.
TEST_P(CodesOfNaN, Hidden) {
  Bench bench(source);
  HostOperands clean = bench.operands({.qLens = {3}, .kvLens = {40}, .pageSize = 16}), operands = clean;
  setCacheCode(operands, 0, 39, 5, 0x7F);
  bench.run(clean);
  bench.run(operands);
  for (int64_t token : {0, 1})
    for (int64_t head = 0; head < source.heads; ++head) {
      std::vector<uint32_t> expected = rowBits(clean, token, head), bits = rowBits(operands, token, head);
      if (source.compute == "f16" && std::isnan(outValue(operands, token, head, 5)))
        bits[1 + 5] = expected[1 + 5];
      EXPECT_EQ(bits, expected) << "token " << token << ", head " << head;
    }
  EXPECT_TRUE(allNaN(operands, 2, source));
}

std::string nameOf(const testing::TestParamInfo<std::pair<const char *, const char *>> &info) {
  return std::string(info.param.first) + "_" + info.param.second;
}

INSTANTIATE_TEST_SUITE_P(Pipeline, Codes,
                         testing::Values(std::pair("e4m3", "f16"), std::pair("e4m3", "bf16"),
                                         std::pair("e5m2", "f16"), std::pair("int8", "f16"),
                                         std::pair("int8", "bf16")),
                         nameOf);

INSTANTIATE_TEST_SUITE_P(Pipeline, CodesOfNaN,
                         testing::Values(std::pair("e4m3", "f16"), std::pair("e4m3", "bf16"),
                                         std::pair("e5m2", "f16")),
                         nameOf);

} // namespace
} // namespace mlac::test

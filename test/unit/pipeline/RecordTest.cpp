// Rows whose columns are not stored alike: parts, their places, and scales of groups of columns.
#include "runtime/reference/Formats.h"
#include "test/unit/pipeline/Bench.h"
#include "test/unit/pipeline/Values.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace mlac::test {
namespace {

using mla::RecordPart;
using mla::ScaleFormat;
using mla::reference::HostTensor;

constexpr char kFlashMla[] = "latent : e4m3[512] scaled f32 per 128 inline; rope : bf16[64]";

struct Record {
  const char *name, *parts;
  int latent, rope, valueBegin, align;
  bool scaled = false; // the program multiplies by a scale, too
};

const Record kRecords[] = {
    {"FlashMLA656", kFlashMla, 512, 64, 0, 16},
    {"NoPE528", "latent : e4m3[512] scaled f32 per 128 inline", 512, 0, 0, 16},
    {"PowersOfTwo", "latent : e4m3[512] scaled f32 pow2 per 128 inline; rope : bf16[64]", 512, 64, 0, 16},
    {"ExponentsPer32", "latent : e4m3[512] scaled ue8m0 per 32 inline; rope : bf16[64]", 512, 64, 0, 16},
    {"ExponentsPer128", "latent : e4m3[512] scaled ue8m0 per 128 inline", 512, 0, 0, 4},
    {"Int8Per64", "latent : int8[256] scaled f32 per 64 inline; rope : f16[32]", 256, 32, 0, 16},
    {"RopeFirst", "rope : bf16[64]; latent : e4m3[320] scaled f32 per 64 inline", 320, 64, 64, 4},
    {"BetweenParts", "a : f16[16]; latent : e4m3[128] scaled f32 per 32 inline; b : bf16[16]", 128, 32, 16,
     16},
    {"PartOfAPart", "latent : e4m3[320] scaled f32 per 64 inline", 256, 64, 64, 4},
    {"ScalesApart", "latent : e4m3[512] scaled f32 per 128 apart; rope : bf16[64]", 512, 64, 0, 16},
    {"PageFooters", "latent : e4m3[448] scaled ue8m0 per 64 apart; rope : bf16[64]", 448, 64, 0, 16},
    {"ApartAndInline", "a : e4m3[128] scaled f32 pow2 per 32 apart; b : e4m3[64] scaled f32 per 64 inline",
     128, 64, 0, 4},
    {"TwoScaledParts", "a : e4m3[128] scaled f32 pow2 per 32 inline; b : e4m3[64] scaled f32 per 64 inline",
     128, 64, 0, 4},
    {"WithoutScales", "latent : e4m3[128]; rope : bf16[16]", 128, 16, 0, 16, true},
    {"Wide", "latent : bf16[128]; rope : f16[64]", 128, 64, 0, 16},
};

Source sourceOf(const Record &record, const char *compute) {
  Source source;
  source.record = record.parts;
  source.compute = compute;
  source.latent = record.latent;
  source.rope = record.rope;
  source.valueBegin = record.valueBegin;
  source.align = record.align;
  source.recordScale = record.scaled;
  return source;
}

class Records : public testing::TestWithParam<std::tuple<size_t, const char *>> {};

TEST_P(Records, MatchTheReference) {
  const Record &record = kRecords[std::get<0>(GetParam())];
  Source source = sourceOf(record, std::get<1>(GetParam()));
  bool first = &record == kRecords;
  for (int heads : {first ? 40 : 16, 5}) {
    source.heads = heads;
    source.layout = heads == 5 ? "ragged" : "paged";
    source.out = heads == 5 ? "f32" : "bf16";
    SCOPED_TRACE(source.text());
    RunConfig config{.qLens = {1, 3, 2, 1}, .kvLens = {40, 33, 0, 97}, .pageSize = 16, .seed = 5};
    mla::reference::Report report = Bench(source).check(config);
    EXPECT_TRUE(report.passed()) << report.toText();
  }
}

INSTANTIATE_TEST_SUITE_P(Pipeline, Records,
                         testing::Combine(testing::Range<size_t>(0, std::size(kRecords)),
                                          testing::Values("f16", "bf16")),
                         [](const auto &info) {
                           return std::string(kRecords[std::get<0>(info.param)].name) + "_" +
                                  std::get<1>(info.param);
                         });

//===-- Scales: case 26 --===//

uint8_t *rowOf(HostOperands &operands, int64_t request, int64_t token) {
  HostTensor &cache = *operands.find(Role::cache);
  return cache.data() + operands.cacheRow(cache, request, token);
}

/// The scale of a group of the first part.
void setScale(HostOperands &operands, int64_t request, int64_t token, int64_t group, float scale) {
  const RecordPart &part = operands.find(Role::cache)->operand.record.front();
  std::memcpy(rowOf(operands, request, token) + part.valueBytes() + 4 * group, &scale, 4);
}

constexpr float kScales[] = {0.3f, 0.51f, 1.9f, 3.0f};

Source oneToken(const char *parts, const char *compute) {
  Source source = sourceOf({"", parts, 512, 64, 0, 16}, compute);
  source.heads = 8;
  source.out = "f32";
  source.lse = "ln";
  return source;
}

/// One cached token, of probability 1: the output is the value itself, the log-sum-exp the score.
HostOperands runOneToken(const Source &source, std::span<const float> scales) {
  Bench bench(source);
  HostOperands operands = bench.operands({.qLens = {1}, .kvLens = {1}, .pageSize = 16, .seed = 9});
  operands.scalars["sm_scale"] = 0.0625f;
  for (int64_t group = 0; group < 4; ++group)
    setScale(operands, 0, 0, group, scales[group]);
  bench.run(operands);
  return operands;
}

double valueOf(HostOperands &operands, int64_t column, float scale) {
  return mla::reference::decode(mla::DType::e4m3, rowOf(operands, 0, 0)[column]) * double(scale);
}

double roundTo(const std::string &type, double value) {
  mla::DType dtype = *mla::parseDType(type);
  return mla::reference::decode(dtype, mla::reference::encode(dtype, value));
}

/// The score of head 0 in double precision.
double scoreOf(HostOperands &operands, const std::string &compute, std::span<const float> scales) {
  const HostTensor &query = *operands.find(Role::query);
  double score = 0;
  for (int64_t column = 0; column < 576; ++column) {
    double q =
        mla::reference::decode(mla::DType::bf16, mla::reference::loadCode(mla::DType::bf16, query.data(),
                                                                          query.element(0, 0, column)));
    uint32_t rope = 0;
    std::memcpy(&rope, rowOf(operands, 0, 0) + 528 + 2 * (column - 512), column < 512 ? 0 : 2);
    double k = column < 512 ? valueOf(operands, column, scales[column / 128])
                            : roundTo(compute, mla::reference::decode(mla::DType::bf16, rope));
    score += q * k;
  }
  return score * 0.0625;
}

class RecordScales : public testing::TestWithParam<const char *> {};

/// Scales of any mantissa: keys are code times scale, values too but for the rounding of what they are
/// multiplied by.
TEST_P(RecordScales, AreReadAsDeclared) {
  Source source = oneToken(kFlashMla, GetParam());
  HostOperands operands = runOneToken(source, kScales);
  for (int64_t column = 0; column < 512; ++column) {
    double scale = roundTo(source.compute, 256 * double(kScales[column / 128])) / 256;
    EXPECT_EQ(outValue(operands, 0, 0, column), valueOf(operands, column, float(scale)))
        << "column " << column;
  }
  double score = scoreOf(operands, source.compute, kScales);
  EXPECT_NEAR(lseValue(operands, 0, 0), score, 1e-5 * (1 + std::fabs(score)));
}

/// Declared as powers of two, the exponents of the same scales count.
TEST_P(RecordScales, OfPowersOfTwo) {
  Source source = oneToken("latent : e4m3[512] scaled f32 pow2 per 128 inline; rope : bf16[64]", GetParam());
  HostOperands operands = runOneToken(source, kScales);
  const float powers[] = {0.25f, 0.5f, 1, 2};
  for (int64_t column = 0; column < 512; ++column)
    EXPECT_EQ(outValue(operands, 0, 0, column), valueOf(operands, column, powers[column / 128]))
        << "column " << column;
  double score = scoreOf(operands, source.compute, powers);
  EXPECT_NEAR(lseValue(operands, 0, 0), score, 1e-5 * (1 + std::fabs(score)));
}

/// Small and large scales lose nothing in the probabilities that take them: f16 holds 2^-20 to 255.
TEST_P(RecordScales, SmallAndLarge) {
  const float scales[] = {0x1p-20f, 0x1.8p-12f, 4.0f, 255.0f};
  Source source = oneToken(kFlashMla, GetParam());
  HostOperands operands = runOneToken(source, scales);
  for (int64_t column = 0; column < 512; ++column) {
    double expected = valueOf(operands, column, scales[column / 128]);
    EXPECT_NEAR(outValue(operands, 0, 0, column), expected, 0x1p-8 * std::fabs(expected))
        << "column " << column;
  }
}

void expectNaN(const Source &source) {
  SCOPED_TRACE(source.text());
  Bench bench(source);
  RunConfig config{.qLens = {1, 1}, .kvLens = {40, 40}, .pageSize = 16};
  HostOperands clean = bench.operands(config), operands = clean;
  setScale(operands, 0, 33, 2, std::numeric_limits<float>::quiet_NaN());
  bench.run(clean);
  bench.run(operands);
  for (int64_t column = 0; column < source.latent; ++column)
    EXPECT_TRUE(std::isnan(outValue(operands, 0, 3, column)));
  EXPECT_TRUE(std::isnan(lseValue(operands, 0, 3)));
  EXPECT_EQ(rowBits(operands, 1, 3), rowBits(clean, 1, 3));
}

/// NaN, as a scale as well as a code, reaches all that sees the token, and no other request.
TEST_P(RecordScales, NaN) {
  for (const char *format : {"f32", "f32 pow2"})
    expectNaN(
        oneToken(fmt::format("latent : e4m3[512] scaled {} per 128 inline; rope : bf16[64]", format).c_str(),
                 GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Pipeline, RecordScales, testing::Values("f16", "bf16"),
                         [](const auto &info) { return std::string(info.param); });

/// Exponents of one byte: 0 is 2^-127, 255 NaN.
TEST(RecordExponents, EveryCode) {
  Source source = oneToken("latent : e4m3[512] scaled ue8m0 per 32 inline; rope : bf16[64]", "bf16");
  Bench bench(source);
  HostOperands operands =
      bench.operands({.qLens = std::vector<int32_t>(18, 1), .kvLens = std::vector<int32_t>(18, 1)});
  auto exponent = [](int64_t request, int64_t group) {
    return int(std::min<int64_t>(16 * request + group, 250));
  };
  for (int64_t request = 0; request < 18; ++request) {
    std::memset(rowOf(operands, request, 0), 0x38, 512); // codes of 1
    for (int64_t group = 0; group < 16; ++group)
      rowOf(operands, request, 0)[512 + group] = uint8_t(exponent(request, group));
  }
  bench.run(operands);
  for (int64_t request = 0; request < 16; ++request)
    for (int64_t column = 0; column < 512; ++column) {
      int power = exponent(request, column / 32) - 127;
      if (power + 8 < 128) // what the probabilities hold
        ASSERT_EQ(outValue(operands, request, 0, column), std::exp2(power)) << "exponent " << power;
    }
}

//===-- Refusals --===//

TEST(RecordRefusals, ValuesOfSeveralParts) {
  Source source = sourceOf({"", "a : bf16[48]; b : bf16[80]", 64, 64, 0, 16}, "bf16");
  EXPECT_NE(refusal(source).find("lie in several parts of the record; in one [record-value]"),
            std::string::npos)
      << refusal(source);
  source = sourceOf({"", "a : e4m3[128] scaled f32 per 64 inline", 64, 64, 32, 8}, "bf16");
  EXPECT_NE(refusal(source).find("within a group of 64 columns that share a scale"), std::string::npos)
      << refusal(source);
}

TEST(RecordRefusals, ConversionsThatTheTargetLacks) {
  Source source = sourceOf({"", "latent : e5m2[64] scaled f32 per 32 inline", 64, 0, 0, 4}, "bf16");
  EXPECT_NE(refusal(source).find("[target-conversion]"), std::string::npos) << refusal(source);
}

} // namespace
} // namespace mlac::test

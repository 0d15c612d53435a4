// Prefill: keys and values of two buffers, over types, widths, grouped heads, schedules and ragged edges.
#include "test/unit/pipeline/Bench.h"
#include "test/unit/pipeline/Values.h"

#include "runtime/reference/Formats.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mlac::test {
namespace {

/// Row counts around every tile's edge, with more, as many, fewer and no tokens to see.
const RunConfig kEdges{.qLens = {0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 3, 2},
                       .kvLens = {5, 1, 16, 15, 80, 64, 63, 129, 127, 200, 129, 0, 65},
                       .seed = 11};

struct Case {
  const char *name;
  PrefillSource source;
};

class Prefill : public testing::TestWithParam<Case> {};

TEST_P(Prefill, MatchesTheReference) {
  SCOPED_TRACE(GetParam().source.text());
  mla::reference::Report report = Bench(GetParam().source).check(kEdges);
  EXPECT_TRUE(report.passed()) << report.toText();
}

INSTANTIATE_TEST_SUITE_P(
    Pipeline, Prefill,
    testing::Values(
        Case{"deepseek", {}}, Case{"full", {.causal = false, .lse = "ln"}},
        Case{"wide", {.heads = 1, .kvHeads = 1, .keyWidth = 256, .valueWidth = 256}},
        Case{"wide_bytes",
             {.heads = 1,
              .kvHeads = 1,
              .keyWidth = 256,
              .valueWidth = 256,
              .keys = "e4m3",
              .values = "e4m3",
              .compute = "f16",
              .causal = false}},
        Case{"bytes", {.keys = "e4m3", .values = "e4m3", .compute = "f16"}},
        Case{"bytes_bf16", {.keys = "e4m3", .values = "e4m3", .compute = "bf16"}},
        Case{"e5m2", {.keys = "e5m2", .values = "e5m2", .compute = "f16", .out = "f32"}},
        Case{"mixed", {.keyWidth = 64, .valueWidth = 80, .keys = "e4m3", .values = "bf16", .compute = "f16"}},
        Case{"mixed_other_way",
             {.keyWidth = 80, .valueWidth = 48, .keys = "f16", .values = "e4m3", .compute = "bf16"}},
        Case{"half", {.keys = "f16", .values = "bf16", .compute = "f16", .query = "f16", .out = "f16"}},
        Case{"grouped", {.heads = 6, .kvHeads = 2, .keyWidth = 64, .valueWidth = 64}},
        Case{"grouped_oddly",
             {.heads = 5, .kvHeads = 1, .keyWidth = 48, .valueWidth = 16, .keys = "e4m3", .compute = "f16"}},
        Case{"narrow",
             {.keyWidth = 16, .valueWidth = 16, .keys = "e4m3", .values = "e4m3", .compute = "f16"}},
        Case{"aligned_to_four", {.keyWidth = 48, .valueWidth = 32, .align = 4}},
        Case{"aligned_to_eight",
             {.keyWidth = 64, .valueWidth = 96, .keys = "e4m3", .compute = "bf16", .align = 8}},
        Case{"thirty_two_rows_a_warp", {.hints = "rows = 64, row_warps = 2, tokens = 32"}},
        Case{
            "one_warp",
            {.keyWidth = 64, .valueWidth = 64, .hints = "rows = 16, row_warps = 1, tokens = 16, stages = 3"}},
        Case{"one_warp_of_bytes",
             {.keyWidth = 64,
              .valueWidth = 64,
              .keys = "e4m3",
              .values = "e4m3",
              .compute = "f16",
              .hints = "rows = 32, row_warps = 1, tokens = 16, stages = 2"}},
        Case{
            "four_stages",
            {.keyWidth = 32, .valueWidth = 32, .hints = "rows = 64, row_warps = 4, tokens = 32, stages = 4"}},
        Case{"many_warps",
             {.keyWidth = 32,
              .valueWidth = 32,
              .hints = "rows = 256, row_warps = 16, tokens = 64, stages = 1"}}),
    [](const auto &info) { return std::string(info.param.name); });

/// Every e4m3 code arrives exactly, as a value and as a key: a request of one token has that token's values
/// as output, and its log-sum-exp is its score.
TEST(PrefillCodes, AllArriveExactly) {
  for (const char *compute : {"f16", "bf16"}) {
    SCOPED_TRACE(compute);
    Bench bench(PrefillSource{.heads = 1,
                              .kvHeads = 1,
                              .keyWidth = 32,
                              .valueWidth = 32,
                              .keys = "e4m3",
                              .values = "e4m3",
                              .compute = compute,
                              .out = "f32"});
    HostOperands operands =
        bench.operands({.qLens = std::vector<int32_t>(8, 1), .kvLens = std::vector<int32_t>(8, 1)});
    operands.scalars = {{"k_scale", 1.0f}, {"v_scale", 1.0f}, {"sm_scale", 1.0f}};
    fillQuery(operands, 0);
    fillRows(operands, Role::key, 0);
    auto codeOf = [](int64_t token, int64_t column) { return static_cast<uint32_t>(32 * token + column); };
    for (int64_t token = 0; token < 8; ++token)
      for (int64_t column = 0; column < 32; ++column)
        setRowCode(operands, Role::value, token, 0, column, codeOf(token, column));
    bench.run(operands);
    for (int64_t token = 0; token < 8; ++token)
      for (int64_t column = 0; column < 32; ++column) {
        uint32_t code = codeOf(token, column);
        bool isNaN = (code & 0x7F) == 0x7F;
        EXPECT_EQ(std::isnan(outValue(operands, token, 0, column)), isNaN) << code;
        if (!isNaN)
          EXPECT_EQ(outValue(operands, token, 0, column), mla::reference::decode(DType::e4m3, code)) << code;
      }
    for (int64_t column = 0; column < 32; ++column) {
      fillQuery(operands, 0);
      for (int64_t token = 0; token < 8; ++token) {
        setQuery(operands, token, 0, column, 1);
        setRowCode(operands, Role::key, token, 0, column, codeOf(token, column));
      }
      bench.run(operands);
      for (int64_t token = 0; token < 8; ++token) {
        uint32_t code = codeOf(token, column);
        double expected = mla::reference::decode(DType::e4m3, code) * std::log2(std::exp(1.0));
        if ((code & 0x7F) == 0x7F)
          EXPECT_TRUE(std::isnan(lseValue(operands, token, 0))) << code;
        else
          EXPECT_NEAR(lseValue(operands, token, 0), expected, std::abs(expected) * 1e-6) << code;
        setRowCode(operands, Role::key, token, 0, column, 0);
      }
    }
  }
}

/// A NaN in a value row stays in its column, and among the rows that see it.
TEST(PrefillNaN, OfAValueStaysInItsColumn) {
  for (const char *storage : {"e4m3", "bf16"}) {
    SCOPED_TRACE(storage);
    Bench bench(PrefillSource{
        .heads = 1, .kvHeads = 1, .keyWidth = 32, .valueWidth = 32, .values = storage, .compute = "bf16"});
    HostOperands operands = bench.operands({.qLens = {4, 4}, .kvLens = {70, 70}});
    setRow(operands, Role::value, 5, 0, 7, std::nan(""));
    bench.run(operands);
    for (int64_t token = 0; token < 8; ++token)
      for (int64_t column = 0; column < 32; ++column)
        EXPECT_EQ(std::isnan(outValue(operands, token, 0, column)), token < 4 && column == 7)
            << token << ", " << column;
  }
}

/// A NaN in a key row makes the rows that see it NaN, and no others, whatever their tile.
TEST(PrefillNaN, OfAKeyMakesRowsThatSeeItNaN) {
  Bench bench(PrefillSource{
      .heads = 1, .kvHeads = 1, .keyWidth = 32, .valueWidth = 32, .keys = "e4m3", .compute = "bf16"});
  HostOperands operands = bench.operands({.qLens = {80, 3}, .kvLens = {80, 3}});
  setRow(operands, Role::key, 70, 0, 9, std::nan(""));
  bench.run(operands);
  for (int64_t token = 0; token < 83; ++token) {
    bool sees = token >= 70 && token < 80;
    EXPECT_EQ(std::isnan(lseValue(operands, token, 0)), sees) << token;
    EXPECT_EQ(std::isnan(outValue(operands, token, 0, 31)), sees) << token;
  }
}

/// A row's bits depend neither on its batch mates nor on other heads nor on the order that warps run in.
TEST(PrefillBits, AreTheRowsOwn) {
  PrefillSource source{.heads = 4,
                       .kvHeads = 2,
                       .keyWidth = 64,
                       .valueWidth = 64,
                       .keys = "e4m3",
                       .values = "e4m3",
                       .compute = "f16"};
  HostOperands alone = Bench(source).operands({.qLens = {40}, .kvLens = {90}, .seed = 2});
  Bench(source).run(alone);
  HostOperands again = Bench(source).operands({.qLens = {40}, .kvLens = {90}, .seed = 2});
  for (int64_t row = 0; row < 90; ++row)
    setRow(again, Role::key, row, 1, 3, 2.0);
  Bench(source, 7).run(again);
  for (int64_t token = 0; token < 40; ++token)
    for (int64_t head : {0, 1}) // of the other KV head
      EXPECT_EQ(rowBits(again, token, head), rowBits(alone, token, head)) << token << ", " << head;
}

/// A large maximum that appears late, so that earlier sums shrink to nothing, and one that grows by little,
/// so that they are kept.
TEST(PrefillMaximum, GrowsLateOrSlowly) {
  for (double step : {0.01, 0.4, 3.0}) {
    SCOPED_TRACE(step);
    PrefillSource source{.heads = 1,
                         .kvHeads = 1,
                         .keyWidth = 16,
                         .valueWidth = 16,
                         .keys = "f16",
                         .values = "f16",
                         .compute = "f16",
                         .causal = false,
                         .hints = "rows = 16, row_warps = 1, tokens = 16, stages = 1"};
    Bench growing(source);
    HostOperands operands = growing.operands({.qLens = {16}, .kvLens = {256}});
    operands.scalars["sm_scale"] = 1;
    fillQuery(operands, 0);
    for (int64_t token = 0; token < 16; ++token)
      setQuery(operands, token, 0, 0, 1);
    for (int64_t row = 0; row < 256; ++row)
      setRow(operands, Role::key, row, 0, 0, step * double(row) - 20);
    EXPECT_TRUE(growing.check(operands).passed());
  }
}

TEST(PrefillRefusals, NameTheRule) {
  PrefillSource source;
  source.valueWidth = 24;
  EXPECT_NE(refusal(source.text()).find("[prefill-width]"), std::string::npos);
  source.valueWidth = 272;
  EXPECT_NE(refusal(source.text()).find("[prefill-width]"), std::string::npos);
  source.valueWidth = 128;
  source.kvHeads = 3;
  EXPECT_NE(refusal(source.text()).find("[dot-key]"), std::string::npos);
  source.kvHeads = 2;
  source.keys = "e5m2";
  EXPECT_NE(refusal(source.text()).find("[target-conversion]"), std::string::npos);
}

} // namespace
} // namespace mlac::test

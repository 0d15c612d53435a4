// Masks, edits of scores and sinks against formulas written here: neither the frontend nor the reference's
// reading of an edit takes part in what is expected.
#include "runtime/reference/Formats.h"
#include "test/unit/pipeline/Bench.h"
#include "test/unit/pipeline/Formula.h"
#include "test/unit/pipeline/Values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace mlac::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What decode multiplies: columns of one latent row.
Attended attended(const Source &source) {
  return {.causal = source.causal,
          .sinkInLse = source.sinkInLse,
          .key = Role::cache,
          .value = Role::cache,
          .keyScale = "kv_scale",
          .valueScale = "kv_scale"};
}

void expectAll(const Source &source, const Formula &formula, const HostOperands &operands,
               const KernelInfo &kernel) {
  expectFormula(kernel, attended(source), formula, operands);
}

Source small() {
  Source source;
  source.heads = 5;
  source.latent = 128;
  source.rope = 16;
  return source;
}

//===-- Each thing that can be done to scores --===//

struct Case {
  const char *name;
  Source source;
  Formula formula;
};

Source edited(const std::string &edit, const std::string &operands = "", bool causal = true) {
  Source source = small();
  source.edit = edit;
  source.operands = operands;
  source.causal = causal;
  return source;
}

Formula scoring(double (*score)(const HostOperands &, const Place &)) {
  Formula formula;
  formula.score = score;
  return formula;
}

Formula seeing(bool (*visible)(const Place &)) {
  Formula formula;
  formula.visible = visible;
  return formula;
}

double slopeOf(const HostOperands &o, const Place &p) { return ofHead(o, "slopes", p.head); }
double distanceOf(const Place &p) { return std::abs(static_cast<double>(p.query - p.cached)); }
bool inWindow(const Place &p) { return p.cached >= p.query - 20; }

Case withSink(const char *name, Case of, bool inLse) {
  of.name = name;
  of.source.sink = "sinks";
  of.source.operands += of.source.operands.empty() ? "sinks : f32[heads = 5]" : ", sinks : f32[heads = 5]";
  of.source.sinkInLse = inLse;
  of.formula.sink = true;
  return of;
}

Case everything() {
  Source source = edited("window(local(alibi(softcap(s, cap), slopes), q_pos, kv_pos, head), left = 20)",
                         "cap : f32, slopes : f32[5]");
  source.before = "fn local(s, q, kv, h) = keep(select(kv < q - 3, 0.5 * s, s), h < 4 or kv != q);\n";
  Formula formula;
  formula.score = [](const HostOperands &o, const Place &p) {
    double cap = scalar(o, "cap"), s = cap * std::tanh(p.score / cap) - slopeOf(o, p) * distanceOf(p);
    return p.cached < p.query - 3 ? 0.5 * s : s;
  };
  formula.visible = [](const Place &p) { return inWindow(p) && (p.head < 4 || p.cached != p.query); };
  return withSink("everything", {"", source, formula}, true);
}

std::vector<Case> cases() {
  Formula none, cappedWindow = seeing(inWindow);
  cappedWindow.score = [](auto &, auto &p) { return 0.75 * std::tanh(p.score / 0.75); };
  Case window{"window", edited("window(s, left = 20)"), seeing(inWindow)};
  std::vector<Case> all{
      window,
      {"window_of_none", edited("window(s, left = 0)"),
       seeing([](const Place &p) { return p.cached >= p.query; })},
      {"window_alone", edited("window(s, left = 20)", "", false), seeing(inWindow)},
      {"two_windows", edited("window(window(s, left = 20), left = 300)"), seeing(inWindow)},
      {"softcap_number", edited("softcap(s, 0.75)"),
       scoring([](auto &, auto &p) { return 0.75 * std::tanh(p.score / 0.75); })},
      {"softcap_scalar", edited("softcap(s, cap = cap)", "cap : f32"),
       scoring([](auto &o, auto &p) { return scalar(o, "cap") * std::tanh(p.score / scalar(o, "cap")); })},
      {"scaled_after_cap", edited("softcap(s, 0.75) * 3.0"),
       scoring([](auto &, auto &p) { return 2.25 * std::tanh(p.score / 0.75); })},
      {"alibi", edited("alibi(s, slopes)", "slopes : f32[heads = 5]"),
       scoring([](auto &o, auto &p) { return p.score - slopeOf(o, p) * distanceOf(p); })},
      {"alibi_both_sides", edited("alibi(s, slopes)", "slopes : f32[heads = 5]", false),
       scoring([](auto &o, auto &p) { return p.score - slopeOf(o, p) * distanceOf(p); })},
      {"bias_by_head", edited("s + slopes", "slopes : f32[5]"),
       scoring([](auto &o, auto &p) { return p.score + slopeOf(o, p); })},
      {"slopes_from_the_head", edited("s + exp2(-2 * (head + 1)) * (kv_pos - q_pos)"),
       scoring([](auto &, auto &p) {
         return p.score - std::exp2(-2.0 * (double(p.head) + 1)) * double(p.query - p.cached);
       })},
      {"squared", edited("s * s - 2 * s"),
       scoring([](auto &, auto &p) { return p.score * p.score - 2 * p.score; })},
      {"divided", edited("s / (1 + abs(s))"),
       scoring([](auto &, auto &p) { return p.score / (1 + std::abs(p.score)); })},
      {"functions_of_scalars", edited("s / (abs(-cap) + exp2(cap)) + tanh(cap) * s", "cap : f32"),
       scoring([](auto &, auto &p) { return p.score / 6 + std::tanh(2.0) * p.score; })},
      {"leaky", edited("select(s > 0, s, 0.1 * s)"),
       scoring([](auto &, auto &p) { return p.score > 0 ? p.score : 0.1 * p.score; })},
      {"clamped", edited("min(max(s, -0.5), cap / 4)", "cap : f32"),
       scoring([](auto &, auto &p) { return std::min(std::max(p.score, -0.5), 0.5); })},
      {"prefix", edited("keep(s, kv_pos <= q_pos or kv_pos < 24)", "", false),
       seeing([](const Place &p) { return p.cached <= p.query || p.cached < 24; })},
      {"not_every_head", edited("keep(s, not (head == 2) and kv_pos != 3)"),
       seeing([](const Place &p) { return p.head != 2 && p.cached != 3; })},
      {"masked_before", edited("softcap(window(s, left = 20), 0.75)"), cappedWindow},
      withSink("sink", {"", small(), none}, true),
      withSink("sink_not_in_lse", {"", small(), none}, false),
      withSink("window_and_sink", window, true),
      everything(),
  };
  return all;
}

class Scores : public testing::TestWithParam<Case> {};

TEST_P(Scores, AreWhatTheProgramSays) {
  const auto &[name, source, formula] = GetParam();
  Bench bench(source);
  HostOperands operands =
      bench.operands({.qLens = {1, 3, 2, 1, 4}, .kvLens = {150, 70, 2, 0, 3}, .pageSize = 16, .seed = 5});
  bench.run(operands);
  expectAll(source, formula, operands, bench.kernel());
  mla::reference::Report report =
      mla::reference::check(bench.kernel(), operands, mla::reference::evaluate(bench.kernel(), operands, 1));
  EXPECT_TRUE(report.passed()) << report.toText();
}

INSTANTIATE_TEST_SUITE_P(Pipeline, Scores, testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(ScoresOf, OtherTypesAndSchedules) {
  Case all = everything();
  for (const char *hints :
       {"tokens = 16, groups = 1", "tokens = 32, groups = 1, token_warps = 2, row_warps = 1",
        "rows = 16, row_warps = 2"})
    for (const char *compute : {"f16", "bf16"}) {
      all.source.hints = hints;
      all.source.compute = compute;
      SCOPED_TRACE(all.source.text());
      Bench bench(all.source);
      HostOperands operands = bench.operands({.qLens = {2, 3}, .kvLens = {40, 65}, .pageSize = 16});
      bench.run(operands);
      expectAll(all.source, all.formula, operands, bench.kernel());
    }
}

/// Partial results leave the sink out, and the combine counts it once.
TEST(ScoresOf, SplitRowsWithASink) {
  for (bool inLse : {true, false}) {
    Case sink = withSink("sink", {"", edited("window(s, left = 700)"), Formula()}, inLse);
    sink.formula.visible = [](const Place &p) { return p.cached >= p.query - 700; };
    sink.source.hints = "tokens = 16, groups = 1";
    Bench bench(sink.source);
    HostOperands operands = bench.operands({.qLens = {1, 2}, .kvLens = {1000, 130}, .pageSize = 16});
    bench.run(operands);
    expectAll(sink.source, sink.formula, operands, bench.kernel());
  }
}

//===-- Infinities and NaN --===//

double numberOf(const Source &source, std::function<void(HostOperands &)> change, int64_t token, int64_t head,
                bool lse) {
  Bench bench(source);
  HostOperands operands = bench.operands({.qLens = {2}, .kvLens = {40}, .pageSize = 16});
  change(operands);
  bench.run(operands);
  return lse ? lseValue(operands, token, head) : outValue(operands, token, head, 3);
}

void setHeadValue(HostOperands &operands, const char *name, int64_t head, double value) {
  auto &tensor = *operands.find(std::string_view(name));
  mla::reference::storeCode(DType::f32, tensor.data(), head, mla::reference::encode(DType::f32, value));
}

/// Of -inf a sink is none; of +inf it takes all the weight; NaN spreads over its head alone.
TEST(ScoresAtTheEdge, SinksOfInfinityAndNaN) {
  Case sink = withSink("sink", {"", small(), Formula()}, true);
  Bench bench(sink.source), plain(small());
  HostOperands operands = bench.operands({.qLens = {2}, .kvLens = {40}, .pageSize = 16});
  HostOperands without = plain.operands({.qLens = {2}, .kvLens = {40}, .pageSize = 16});
  for (HostOperands *each : {&operands, &without}) {
    randomizeCache(*each, 1);
    for (int head = 0; head < 5; ++head)
      randomizeHead(*each, head, 2);
  }
  const double values[] = {-kInfinity, kInfinity, std::nan(""), 1000, -1000};
  for (int64_t head = 0; head < 5; ++head)
    setHeadValue(operands, "sinks", head, values[head]);
  bench.run(operands);
  plain.run(without);
  for (int64_t token : {0, 1}) {
    EXPECT_EQ(rowBits(operands, token, 0), rowBits(without, token, 0));
    EXPECT_EQ(outValue(operands, token, 1, 3), 0);
    EXPECT_EQ(lseValue(operands, token, 1), kInfinity);
    EXPECT_TRUE(std::isnan(outValue(operands, token, 2, 3)));
    EXPECT_TRUE(std::isnan(lseValue(operands, token, 2)));
    EXPECT_EQ(outValue(operands, token, 3, 3), 0);
    EXPECT_NEAR(lseValue(operands, token, 3), 1000 * std::numbers::log2e, 1e-3);
    EXPECT_EQ(rowBits(operands, token, 4), rowBits(without, token, 4));
  }
}

/// A sink of 1000 leaves the log-sum-exp without it as it is.
TEST(ScoresAtTheEdge, LargeSinkBesideAnLseWithoutIt) {
  Case sink = withSink("sink", {"", small(), Formula()}, false);
  Source plain = small();
  auto change = [](HostOperands &operands) {
    randomizeCache(operands, 1);
    randomizeHead(operands, 0, 2);
  };
  double lse = numberOf(plain, change, 1, 0, true);
  EXPECT_TRUE(std::isfinite(lse));
  auto withSinkOf = [&](HostOperands &operands) {
    change(operands);
    setHeadValue(operands, "sinks", 0, 1000);
  };
  EXPECT_EQ(numberOf(sink.source, withSinkOf, 1, 0, true), lse);
  EXPECT_EQ(numberOf(sink.source, withSinkOf, 1, 0, false), 0);
}

/// A row that sees nothing is empty; with a sink in its log-sum-exp, that is the sink.
TEST(ScoresAtTheEdge, RowsThatSeeNothing) {
  for (bool sink : {false, true}) {
    Source source = edited("keep(s, kv_pos < 0)");
    if (sink) {
      source.sink = "sinks";
      source.operands = "sinks : f32[5]";
    }
    Bench bench(source);
    HostOperands operands = bench.operands({.qLens = {1}, .kvLens = {1000}, .pageSize = 16});
    bench.run(operands);
    for (int64_t head = 0; head < 5; ++head) {
      EXPECT_EQ(outValue(operands, 0, head, 7), 0);
      double lse = sink ? operands.headValue("sinks", head) * std::numbers::log2e : -kInfinity;
      EXPECT_FLOAT_EQ(static_cast<float>(lseValue(operands, 0, head)), static_cast<float>(lse));
    }
  }
}

/// Scores of +-inf, from queries out of the range of f16, are capped like any other.
TEST(ScoresAtTheEdge, InfiniteScoresAreCapped) {
  Source source = edited("softcap(s, 2)", "", false);
  auto change = [](HostOperands &operands) {
    fillQuery(operands, 1e38); // infinity in f16
    fillCache(operands, 0.0);
    for (int64_t token = 0; token < 40; ++token)
      for (int64_t column = 0; column < 144; ++column)
        setCache(operands, 0, token, column, token % 2 ? 1 : -1);
  };
  EXPECT_NEAR(numberOf(source, change, 0, 0, true), std::log2(20 * std::exp(2.0) + 20 * std::exp(-2.0)),
              1e-4);
  EXPECT_NEAR(numberOf(source, change, 0, 0, false), 0.5 * std::tanh(2.0), 2e-3);
}

/// What an edit makes of a hidden token's score does not matter, not even NaN.
TEST(ScoresAtTheEdge, HiddenTokensStayHidden) {
  Source divided = edited("window(s, left = 5) + 0.0001 / (kv_pos - q_pos + 10)");
  Bench bench(divided);
  HostOperands operands = bench.operands({.qLens = {1}, .kvLens = {40}, .pageSize = 16});
  EXPECT_TRUE(bench.check(operands).passed()); // the token ten before the query's own divides by 0
}

/// The error of a soft cap over the whole range, in units of the score.
TEST(ScoresAtTheEdge, SoftCapIsExactEnough) {
  double worst = 0;
  for (int i = -4000; i <= 4000; ++i) {
    float x = static_cast<float>(i) / 200;
    float power = std::exp2(x * static_cast<float>(2 * std::numbers::log2e));
    float capped = 1.0f + -2.0f * (1.0f / (power + 1.0f));
    worst = std::max(worst, std::abs(capped - std::tanh(double(x))));
  }
  EXPECT_LE(worst, 4e-7); // tanh.approx.f32 is allowed 5e-4
}

//===-- Windows and tiles --===//

/// Tiles wholly outside of a window are not visited, and nothing of them is loaded.
TEST(Windows, OtherTilesAreNotVisited) {
  Source source = edited("window(s, left = 40)");
  source.heads = 8;
  source.hints = "rows = 32, tokens = 16, groups = 1";
  Bench bench(source);
  HostOperands operands = bench.operands({.qLens = {1, 3}, .kvLens = {1000, 333}, .pageSize = 16});
  auto stats = bench.run(operands);
  // 41 tokens from 959 on, in tiles of 16; 43 from 290 on.
  EXPECT_EQ(stats.tiles, (1000 + 15) / 16 - 959 / 16 + (333 + 15) / 16 - 290 / 16);
  EXPECT_EQ(stats.skippedTiles, 959 / 16 + 290 / 16);
  EXPECT_LE(*stats.cacheBytesLoaded, stats.tiles * 16 * 144);
}

} // namespace
} // namespace mlac::test

// Prefill: masks, edits of scores, sinks and factors below 0 against formulas, and the tiles that a window
// leaves out.
#include "test/unit/pipeline/Formula.h"
#include "test/unit/pipeline/Values.h"

#include "runtime/reference/Formats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mlac::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Case {
  const char *name;
  PrefillSource source;
  Formula formula;
};

PrefillSource edited(const std::string &edit, const std::string &operands = "", bool causal = true) {
  return {.heads = 6,
          .kvHeads = 2,
          .keyWidth = 48,
          .valueWidth = 32,
          .keys = "e4m3",
          .compute = "f16",
          .causal = causal,
          .hints = "rows = 64, tokens = 32",
          .operands = operands,
          .edit = edit};
}

/// A head of queries to a head of keys: rows of a warp are neighbouring tokens.
PrefillSource ungrouped(PrefillSource source) {
  source.kvHeads = source.heads;
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

bool inWindow(const Place &p) { return p.cached >= p.query - 20; }
double slopeOf(const HostOperands &o, const Place &p) { return ofHead(o, "slopes", p.head); }
double distanceOf(const Place &p) { return std::abs(static_cast<double>(p.query - p.cached)); }

Case withSink(const char *name, Case of, bool inLse) {
  of.name = name;
  of.source.sink = "sinks";
  of.source.operands += of.source.operands.empty() ? "sinks : f32[6]" : ", sinks : f32[6]";
  of.source.sinkInLse = inLse;
  of.formula.sink = true;
  return of;
}

Case scaled(const char *name, const char *factor, bool causal) {
  Case result{name, edited("s", "", causal), {}};
  result.source.factor = factor;
  return result;
}

Case everything() {
  PrefillSource source =
      edited("window(keep(alibi(softcap(s, cap), slopes), head < 4 or kv_pos != q_pos), left = 20)",
             "cap : f32, slopes : f32[6]");
  Formula formula;
  formula.score = [](const HostOperands &o, const Place &p) {
    double cap = scalar(o, "cap");
    return cap * std::tanh(p.score / cap) - slopeOf(o, p) * distanceOf(p);
  };
  formula.visible = [](const Place &p) { return inWindow(p) && (p.head < 4 || p.cached != p.query); };
  return withSink("everything", {"", source, formula}, true);
}

std::vector<Case> cases() {
  Formula none;
  Case window{"window", edited("window(s, left = 20)"), seeing(inWindow)};
  return {
      window,
      {"window_ungrouped", ungrouped(edited("window(s, left = 20)")), seeing(inWindow)},
      {"window_of_none", edited("window(s, left = 0)"),
       seeing([](const Place &p) { return p.cached >= p.query; })},
      {"window_alone", edited("window(s, left = 20)", "", false), seeing(inWindow)},
      {"window_alone_ungrouped", ungrouped(edited("window(s, left = 20)", "", false)), seeing(inWindow)},
      {"softcap", edited("softcap(s, cap)", "cap : f32"),
       scoring([](auto &o, auto &p) { return scalar(o, "cap") * std::tanh(p.score / scalar(o, "cap")); })},
      {"alibi", edited("alibi(s, slopes)", "slopes : f32[6]"),
       scoring([](auto &o, auto &p) { return p.score - slopeOf(o, p) * distanceOf(p); })},
      {"alibi_ungrouped", ungrouped(edited("alibi(s, slopes)", "slopes : f32[6]", false)),
       scoring([](auto &o, auto &p) { return p.score - slopeOf(o, p) * distanceOf(p); })},
      {"clamped", edited("min(max(s, -0.5), cap / 4)", "cap : f32"),
       scoring([](auto &, auto &p) { return std::min(std::max(p.score, -0.5), 0.5); })},
      {"squared", edited("s * s - 2 * s"),
       scoring([](auto &, auto &p) { return p.score * p.score - 2 * p.score; })},
      {"prefix", edited("keep(s, kv_pos <= q_pos or kv_pos < 24)", "", false),
       seeing([](const Place &p) { return p.cached <= p.query || p.cached < 24; })},
      {"not_every_head", edited("keep(s, not (head == 2) and kv_pos != 3)"),
       seeing([](const Place &p) { return p.head != 2 && p.cached != 3; })},
      scaled("negative", "-2.0 * ", true),
      scaled("negative_full", "-2.0 * ", false),
      withSink("sink", {"", edited("s"), none}, true),
      withSink("sink_not_in_lse", {"", edited("s"), none}, false),
      withSink("window_and_sink", window, true),
      everything(),
  };
}

Attended attended(const PrefillSource &source) {
  Attended result{.causal = source.causal,
                  .sinkInLse = source.sinkInLse,
                  .key = Role::key,
                  .value = Role::value,
                  .keyScale = source.keys[0] == 'e' ? "k_scale" : nullptr,
                  .valueScale = source.values[0] == 'e' ? "v_scale" : nullptr};
  if (!source.factor.empty())
    result.factor = std::stod(source.factor);
  return result;
}

void expectCase(const Case &of, const RunConfig &config) {
  SCOPED_TRACE(of.source.text());
  Bench bench(of.source);
  HostOperands operands = bench.operands(config);
  bench.run(operands);
  expectFormula(bench.kernel(), attended(of.source), of.formula, operands);
  mla::reference::Report report =
      mla::reference::check(bench.kernel(), operands, mla::reference::evaluate(bench.kernel(), operands, 1));
  EXPECT_TRUE(report.passed()) << report.toText();
}

class PrefillScores : public testing::TestWithParam<Case> {};

TEST_P(PrefillScores, AreWhatTheProgramSays) {
  expectCase(GetParam(), {.qLens = {1, 70, 33, 1, 4}, .kvLens = {50, 131, 33, 0, 3}, .seed = 5});
}

INSTANTIATE_TEST_SUITE_P(Pipeline, PrefillScores, testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(PrefillScoresOf, OtherTypesAndSchedules) {
  Case all = everything();
  for (const char *hints :
       {"rows = 16, row_warps = 1, tokens = 16, stages = 2", "rows = 64, row_warps = 2, tokens = 64"})
    for (const char *storage : {"e4m3", "bf16"}) {
      all.source.hints = hints;
      all.source.compute = "bf16";
      all.source.keys = all.source.values = storage;
      expectCase(all, {.qLens = {40, 3}, .kvLens = {90, 65}, .seed = 3});
    }
}

//===-- At the edge --===//

void setHeadValue(HostOperands &operands, const char *name, int64_t head, double value) {
  auto &tensor = *operands.find(std::string_view(name));
  mla::reference::storeCode(DType::f32, tensor.data(), head, mla::reference::encode(DType::f32, value));
}

/// Of -inf a sink is none; of +inf it takes all the weight; NaN spreads over its head alone.
TEST(PrefillScoresAtTheEdge, SinksOfInfinityAndNaN) {
  Case sink = withSink("sink", {"", edited("s"), Formula()}, true);
  Bench bench(sink.source), plain(edited("s"));
  RunConfig config{.qLens = {20}, .kvLens = {40}, .seed = 8};
  HostOperands operands = bench.operands(config), without = plain.operands(config);
  const double values[] = {-kInfinity, kInfinity, std::nan(""), 1000, -1000, 0};
  for (int64_t head = 0; head < 6; ++head)
    setHeadValue(operands, "sinks", head, values[head]);
  bench.run(operands);
  plain.run(without);
  for (int64_t token : {0, 19}) {
    EXPECT_EQ(lseValue(operands, token, 0), lseValue(without, token, 0));
    EXPECT_EQ(outValue(operands, token, 0, 3), outValue(without, token, 0, 3));
    EXPECT_EQ(outValue(operands, token, 1, 3), 0);
    EXPECT_EQ(lseValue(operands, token, 1), kInfinity);
    EXPECT_TRUE(std::isnan(outValue(operands, token, 2, 3)));
    EXPECT_TRUE(std::isnan(lseValue(operands, token, 2)));
    EXPECT_EQ(outValue(operands, token, 3, 3), 0);
    EXPECT_NEAR(lseValue(operands, token, 3), 1000 * std::log2(std::exp(1.0)), 1e-3);
    EXPECT_EQ(lseValue(operands, token, 4), lseValue(without, token, 4));
  }
}

/// A row that sees nothing is empty; with a sink in its log-sum-exp, that is the sink.
TEST(PrefillScoresAtTheEdge, RowsThatSeeNothing) {
  for (bool sink : {false, true}) {
    Case nothing{"", edited("keep(s, kv_pos < 0)"), {}};
    if (sink)
      nothing = withSink("", nothing, true);
    Bench bench(nothing.source);
    HostOperands operands = bench.operands({.qLens = {20}, .kvLens = {100}});
    bench.run(operands);
    for (int64_t head = 0; head < 6; ++head) {
      EXPECT_EQ(outValue(operands, 7, head, 7), 0);
      double lse = sink ? operands.headValue("sinks", head) * std::log2(std::exp(1.0)) : -kInfinity;
      EXPECT_FLOAT_EQ(static_cast<float>(lseValue(operands, 7, head)), static_cast<float>(lse));
    }
  }
}

/// What an edit makes of a hidden token's score does not matter, not even NaN.
TEST(PrefillScoresAtTheEdge, HiddenTokensStayHidden) {
  Bench bench(edited("window(s, left = 5) + 0.0001 / (kv_pos - q_pos + 10)"));
  HostOperands operands = bench.operands({.qLens = {40}, .kvLens = {90}});
  EXPECT_TRUE(bench.check(operands).passed()); // the token ten before the query's own divides by 0
}

//===-- Windows and tiles --===//

/// Tiles that no row of a row tile sees are not visited, before the window as after the diagonal.
TEST(PrefillWindows, OtherTilesAreNotVisited) {
  PrefillSource source = ungrouped(edited("window(s, left = 40)"));
  source.heads = source.kvHeads = 2;
  source.hints = "rows = 64, tokens = 16";
  Bench bench(source);
  HostOperands operands = bench.operands({.qLens = {200}, .kvLens = {1000}});
  auto stats = bench.run(operands);
  int64_t tiles = 0, skipped = 0;
  for (int64_t row = 0; row < 200; row += 64) {
    int64_t first = 800 + row - 40, last = 800 + std::min<int64_t>(row + 63, 199);
    tiles += last / 16 - first / 16 + 1;
    skipped += first / 16;
  }
  EXPECT_EQ(stats.tiles, 2 * tiles);
  EXPECT_EQ(stats.skippedTiles, 2 * skipped);
}

} // namespace
} // namespace mlac::test

// Faults that users of such kernels report, each under its number in docs/testing.md, where no other test has
// it.
#include "test/unit/pipeline/Bench.h"
#include "test/unit/pipeline/Values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace mlac::test {
namespace {

Source narrow(int heads) {
  Source source;
  source.heads = heads;
  source.latent = 64;
  source.rope = 16;
  return source;
}

void expectRight(Bench &bench, const RunConfig &config) {
  mla::reference::Report report = bench.check(config);
  EXPECT_TRUE(report.passed()) << report.toText();
}

/// The cache's scale reaches scores and values: outputs and log-sum-exps follow it.
TEST(Case19, OneScaleForKeysAndValues) {
  Bench bench(narrow(16));
  for (float scale : {0.37f, 1.0f, 7.5f}) {
    HostOperands operands = bench.operands({.qLens = {1, 2}, .kvLens = {70, 33}, .pageSize = 16});
    operands.scalars["kv_scale"] = scale;
    operands.scalars["sm_scale"] = 0.05f;
    EXPECT_TRUE(bench.check(operands).passed()) << scale;
    fillCache(operands, 1);
    bench.run(operands);
    EXPECT_NEAR(outValue(operands, 0, 3, 5), scale, scale * 4e-3);
  }
}

/// A scale of 1 that is given at run time has the bits of one that the program states. (None at all is
/// refused.)
TEST(Case21, AScaleOfOneIsOne) {
  std::string given = narrow(8).text(), stated = given;
  auto replace = [&](const std::string &part, const char *by) {
    stated.replace(stated.find(part), part.size(), by);
  };
  replace("kv_scale : f32, ", "");
  replace(" * kv_scale", " * 1.0");
  Bench scaled(given), plain(stated);
  RunConfig config{.qLens = {1, 3}, .kvLens = {70, 130}, .pageSize = 16, .seed = 2};
  HostOperands a = scaled.operands(config), b = plain.operands(config);
  a.scalars = {{"sm_scale", 0.07f}, {"kv_scale", 1.0f}};
  b.scalars = {{"sm_scale", 0.07f}};
  scaled.run(a);
  plain.run(b);
  EXPECT_EQ(allBits(a), allBits(b));
}

/// The factor of the scores is free, whatever the storage.
TEST(Case23, AnyFactorOfTheScores) {
  for (const char *storage : {"e4m3", "bf16"})
    for (float factor : {0.0721688f, 0.1147f, 1e-3f, 2.0f}) {
      Source source = narrow(8);
      source.storage = storage;
      source.compute = "bf16";
      Bench bench(source);
      HostOperands operands = bench.operands({.qLens = {1, 3}, .kvLens = {70, 33}, .pageSize = 16});
      operands.scalars["sm_scale"] = factor;
      mla::reference::Report report = bench.check(operands);
      EXPECT_TRUE(report.passed()) << storage << " " << factor << "\n" << report.toText();
    }
}

/// Twenty heads: 45 new tokens over a prefix of 300 in the quantised cache, and the same rows of one pass
/// over all 345.
TEST(Case29, ExtendEqualsOnePass) {
  constexpr int32_t prefix = 300, extension = 45, heads = 20;
  Source source = narrow(heads);
  Bench bench(source);
  HostOperands extend =
      bench.operands({.qLens = {extension}, .kvLens = {prefix + extension}, .pageSize = 64});
  HostOperands whole =
      bench.operands({.qLens = {prefix + extension}, .kvLens = {prefix + extension}, .pageSize = 64});
  for (HostOperands *operands : {&extend, &whole})
    randomizeCache(*operands, 4);
  fillQuery(whole, 0);
  for (int64_t token = 0; token < extension; ++token)
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t column = 0; column < source.width(); ++column) {
        double value = std::sin(static_cast<double>(7 * token + 3 * head + column * column));
        setQuery(extend, token, head, column, value);
        setQuery(whole, prefix + token, head, column, value);
      }
  EXPECT_TRUE(bench.check(extend).passed());
  bench.run(whole);
  for (int64_t token = 0; token < extension; ++token)
    for (int64_t head = 0; head < heads; ++head) {
      EXPECT_NEAR(lseValue(extend, token, head), lseValue(whole, prefix + token, head), 1e-4);
      for (int64_t column = 0; column < source.latent; ++column) {
        double expected = outValue(whole, prefix + token, head, column);
        EXPECT_NEAR(outValue(extend, token, head, column), expected, 1e-2 * std::abs(expected) + 2e-3);
      }
    }
}

/// Query x storage types: right, or refused with a reason.
TEST(Case30, QueryAndCacheOfAnyType) {
  for (const char *query : {"bf16", "f16", "e4m3"})
    for (const char *storage : {"bf16", "f16", "e4m3"}) {
      Source source = narrow(8);
      source.query = query;
      source.storage = storage;
      SCOPED_TRACE(source.text());
      if (query == std::string("e4m3")) {
        EXPECT_NE(refusal(source).find("[dot-storage]"), std::string::npos) << refusal(source);
        continue;
      }
      Bench bench(source);
      expectRight(bench, {.qLens = {1, 3}, .kvLens = {70, 33}, .pageSize = 16});
    }
}

/// Head counts that HeadsTest leaves out, with one to three query tokens; canaries stand around the outputs.
TEST(Case38, OtherHeadCounts) {
  for (int heads : {4, 24, 32, 40, 48, 96}) {
    SCOPED_TRACE(heads);
    Bench bench(narrow(heads));
    expectRight(bench, {.qLens = {1, 2, 3}, .kvLens = {70, 17, 33}, .pageSize = 16});
  }
}

/// Any number of query tokens a request.
TEST(Case42, QueryTokensOfAnyNumber) {
  for (int heads : {8, 16}) {
    Bench bench(narrow(heads));
    expectRight(bench,
                {.qLens = {1, 2, 3, 5, 7, 8, 16}, .kvLens = {40, 41, 42, 5, 7, 80, 90}, .pageSize = 16});
  }
}

/// A page may end within a tile, and hold more than a tile.
TEST(Case44And45, PagesSmallerAndLargerThanTiles) {
  Source source = narrow(8);
  source.hints = "tokens = 64";
  Bench bench(source);
  expectRight(bench, {.qLens = {1, 1, 1}, .kvLens = {61, 64, 65}, .pageSize = 16});
  for (int page : {256, 512})
    expectRight(bench, {.qLens = {1, 1, 1, 1, 1}, .kvLens = {129, 255, 257, 511, 513}, .pageSize = page});
}

/// A query as a transposed product leaves it: heads further apart than tokens.
TEST(Case47, HeadsFurtherApartThanTokens) {
  Bench bench(narrow(8));
  HostOperands operands = bench.operands({.qLens = {1, 3, 2}, .kvLens = {70, 33, 64}, .pageSize = 16});
  auto &query = *operands.find(Role::query);
  auto before = query;
  query.strideToken = 88;
  query.strideHead = 88 * (operands.queryTokens() + 3);
  query.offset = 0;
  query.bytes.assign(static_cast<size_t>(2 * 8 * query.strideHead), 0xFF);
  for (int64_t token = 0; token < operands.queryTokens(); ++token)
    for (int64_t head = 0; head < 8; ++head)
      std::copy_n(before.data() + 2 * before.element(token, head), 2 * 80,
                  query.data() + 2 * query.element(token, head));
  EXPECT_TRUE(bench.check(operands).passed());
}

/// Table entries past a request's pages are never read.
TEST(Case51, EntriesPastTheRequest) {
  Bench bench(narrow(8));
  RunConfig config{.qLens = {1, 3, 1}, .kvLens = {70, 33, 0}, .pageSize = 16, .seed = 6};
  HostOperands operands = bench.operands(config);
  bench.run(operands);
  std::vector<uint32_t> bits = allBits(operands);
  for (int32_t entry : {-1, static_cast<int32_t>(operands.pages), 0x7FFFFFFF}) {
    HostOperands again = bench.operands(config);
    std::replace(again.table.begin(), again.table.end(), mla::reference::unusedPage, entry);
    bench.run(again);
    EXPECT_EQ(allBits(again), bits) << entry;
  }
}

} // namespace
} // namespace mlac::test

// Hints never change the meaning: what a hint asks for is right, or refused.
#include "test/unit/pipeline/Bench.h"

#include <gtest/gtest.h>

namespace mlac::test {
namespace {

void expectRightOrRefused(const Source &source, bool refused) {
  SCOPED_TRACE(source.hints + ", " + std::to_string(source.heads) + " heads");
  std::string messages = refusal(source);
  EXPECT_EQ(!messages.empty(), refused) << messages;
  if (!messages.empty()) {
    EXPECT_NE(messages.find("[schedule-fit]"), std::string::npos) << messages;
    return;
  }
  mla::reference::Report report = Bench(source).check({.qLens = {1, 3}, .kvLens = {97, 41}, .pageSize = 16});
  EXPECT_TRUE(report.passed()) << report.toText();
}

TEST(Hints, Tokens) {
  Source source;
  for (int tokens : {8, 16, 24, 32, 40, 64, 96}) {
    source.hints = "tokens = " + std::to_string(tokens);
    expectRightOrRefused(source, tokens != 16 && tokens != 32 && tokens != 64);
  }
}

TEST(Hints, Rows) {
  Source source;
  source.heads = 20;
  for (int rows : {4, 8, 12, 16, 32, 48}) {
    source.hints = "rows = " + std::to_string(rows);
    expectRightOrRefused(source, rows != 8 && rows != 16 && rows != 32);
  }
}

TEST(Hints, QueryTokens) {
  Source source;
  source.heads = 5;
  for (int tokens : {1, 2, 3, 7, 16}) {
    source.hints = "query_tokens = " + std::to_string(tokens);
    expectRightOrRefused(source, false);
  }
}

} // namespace
} // namespace mlac::test

#include "TestKernel.h"

#include "runtime/PlanSummary.h"

using namespace mla;

namespace {

std::optional<PlanSummary> summarise(std::vector<int32_t> q, std::vector<int32_t> kv, int blocks,
                                     Layout layout = Layout::paged) {
  std::string problem;
  auto kernel = test::makeKernel({.heads = 16, .tileRows = 16, .tileTokens = 64, .layout = layout});
  return summarisePlan(kernel, q, kv, 64, blocks, problem);
}

} // namespace

TEST(PlanSummary, EvenWorkIsTheMeanOfTheBlocks) {
  for (Layout layout : {Layout::paged, Layout::ragged}) {
    std::optional<PlanSummary> summary = summarise(std::vector(8, 1), std::vector(8, 4096), 8, layout);
    ASSERT_TRUE(summary);
    EXPECT_EQ(summary->blocks, 8);
    EXPECT_EQ(summary->tiles, 8 * 64);
    EXPECT_EQ(summary->busiestTiles, 64);
    EXPECT_EQ(summary->busiestItems, 1);
    EXPECT_EQ(summary->splits, 0);
  }
}

TEST(PlanSummary, OneLongRequestIsSplit) {
  std::optional<PlanSummary> summary = summarise({1}, {64 * 80}, 8);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->busiestTiles, 10);
  EXPECT_EQ(summary->splits, 1);
}

TEST(PlanSummary, NothingToDo) {
  std::optional<PlanSummary> summary = summarise({0, 1}, {100, 0}, 8);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->tiles, 0);
  EXPECT_EQ(summary->busiestTiles, 0);
}

TEST(PlanSummary, WhatPlanRefusesIsAProblem) {
  std::string problem;
  KernelInfo kernel = test::makeKernel();
  EXPECT_FALSE(summarisePlan(kernel, {1}, {1, 2}, 64, 8, problem));
  EXPECT_FALSE(problem.empty());
  for (int32_t page : {0, -1}) {
    problem.clear();
    EXPECT_FALSE(summarisePlan(kernel, {1}, {1}, page, 8, problem));
    EXPECT_NE(problem.find("page"), std::string::npos) << problem;
  }
  EXPECT_FALSE(summarisePlan(kernel, {INT32_MAX, 1}, {1, 1}, 64, 8, problem));
  EXPECT_NE(problem.find("2147483648"), std::string::npos) << problem;
}

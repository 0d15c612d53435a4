// Edits as artefacts spell them.
#include "runtime/ScoreEdit.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace mla;

static std::string problem(const ScoreEdit &edit) {
  return problemOf(edit, [](std::string_view name) { return name == "cap" || name == "slopes"; });
}

static std::optional<double> evaluate(const ScoreEdit &edit, double score, std::vector<double> values = {}) {
  EXPECT_EQ(problem(edit), "");
  return ScoreProgram(edit).evaluate(score, {.queryPosition = 10, .cachedPosition = 7, .head = 2}, values);
}

TEST(ScoreEdit, EveryOperation) {
  double infinity = std::numeric_limits<double>::infinity();
  const std::pair<const char *, double> expected[] = {{"add score 3", 4.5},
                                                      {"sub score 3", -1.5},
                                                      {"mul score -2", -3},
                                                      {"div score 0", infinity},
                                                      {"min score nan", 1.5},
                                                      {"max score 2e0", 2},
                                                      {"neg score", -1.5},
                                                      {"abs -3", 3},
                                                      {"tanh score", std::tanh(1.5)},
                                                      {"exp2 q_pos", 1024},
                                                      {"float head", 2},
                                                      {"lt kv_pos q_pos", 1},
                                                      {"le 3 3", 1},
                                                      {"gt kv_pos q_pos", 0},
                                                      {"ge head 2", 1},
                                                      {"eq score score", 1},
                                                      {"ne nan nan", 1},
                                                      {"and 1 0", 0},
                                                      {"or 1 0", 1},
                                                      {"xor 1 1", 0},
                                                      {"select 0 score head", 2},
                                                      {"select 1 score head", 1.5}};
  for (const auto &[step, value] : expected)
    EXPECT_EQ(evaluate({{step}, "%0", ""}, 1.5), value) << step;
}

TEST(ScoreEdit, StepsNamesAndConditions) {
  ScoreEdit edit{
      {"div score $cap", "tanh %0", "mul %1 $cap", "mul $slopes kv_pos", "add %2 %3", "ge %4 0"}, "%4", "%5"};
  EXPECT_EQ(ScoreProgram(edit).names(), (std::vector<std::string>{"cap", "slopes"}));
  EXPECT_NEAR(*evaluate(edit, 3, {2, 0.5}), 2 * std::tanh(1.5) + 3.5, 1e-12);
  EXPECT_EQ(evaluate(edit, -30, {2, 0.125}), std::nullopt) << "hidden where the condition does not hold";
  EXPECT_EQ(evaluate({{}, "score", ""}, 3), 3);
}

TEST(ScoreEdit, Problems) {
  for (const char *step :
       {"", "add", "add score", "add score score score", "plus score 1", "add score other", "add score $kv",
        "add score %0", "add score %-1", "add score %", "add score 1x", "tanh score  "})
    EXPECT_NE(problem({{step}, "%0", ""}), "") << step;
  EXPECT_NE(problem({{}, "%0", ""}), "");
  EXPECT_NE(problem({{"tanh score"}, "", ""}), "") << "steps without a value";
  EXPECT_NE(problem({{"tanh score"}, "%0", "%1"}), "");
  EXPECT_EQ(problem({}), "");
}

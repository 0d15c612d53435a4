// Arithmetic on scores, and the functions over them.
#include "frontend/Checker.h"

#include <cmath>

using namespace llvm;
using namespace mlac;

/// So that positions minus a window stay within 32 bits.
static constexpr int64_t kWidestWindow = int64_t(1) << 30;

/// Whether a value can be an exact 32-bit integer beside a position.
static bool isInteger(const ValueType &type) {
  if (type.kind == ValueType::Element)
    return type.integer;
  double number = type.scale.number;
  return type.isNumber() && number == std::floor(number) && std::fabs(number) < 0x1p31;
}

static bool isPosition(const ValueType &type) { return type.kind == ValueType::Element && type.integer; }

/// Takes up in `into` what an operand depends on: the scores of one product, values of one number of heads.
bool BodyChecker::join(ValueType &into, const Expr &operand) {
  const ValueType &type = operand.type;
  if (type.sunk) {
    diagnostics.error(operand.begin(), "sink-last", "nothing is computed on scores that have a sink")
        .fix("add the sink last: softmax(sink(scores, logits))");
    return false;
  }
  if (into.heads && type.heads && into.heads != type.heads) {
    diagnostics.error(operand.begin(), "head-values",
                      "what has " + Twine(type.heads) + " heads meets what has " + Twine(into.heads));
    return false;
  }
  if (into.dot.isValid() && type.dot.isValid() && into.dot != type.dot) {
    diagnostics.error(operand.begin(), "score-mix", "scores of two products meet")
        .note(into.dot, "one is made here")
        .note(type.dot, "the other is made here");
    return false;
  }
  into.heads = std::max(into.heads, type.heads);
  if (type.dot.isValid()) {
    into.dot = type.dot;
    into.key = type.key;
  }
  into.depth = std::max(into.depth, type.depth + 1);
  if (into.depth <= Parser::kDeepestNesting)
    return true;
  diagnostics
      .error(operand.begin(), "nesting",
             "values nested more than " + Twine(Parser::kDeepestNesting) + " deep")
      .fix("add them to scores, and give those names with let");
  return false;
}

/// The type of a value computed from operands, one for each score: scores if one of them is.
ValueType BodyChecker::checkElementwise(ArrayRef<const Expr *> operands) {
  ValueType result{.kind = ValueType::Element, .integer = true};
  bool anyPosition = false;
  for (const Expr *operand : operands) {
    const ValueType &type = operand->type;
    if (!type.isElementwise())
      return wrongOperand(*operand, "arithmetic takes scores, f32 values, numbers and positions",
                          "rows are multiplied with dot(query, key) and softmax(scores) @ value");
    if (!join(result, *operand))
      return {};
    result.integer &= isInteger(type);
    anyPosition |= isPosition(type);
    if (type.kind != ValueType::Scores)
      continue;
    result.kind = ValueType::Scores;
    result.width = type.width;
    result.scaled |= type.scaled;
  }
  result.integer &= anyPosition;
  if (result.kind == ValueType::Scores)
    result.depth = 0;
  return result;
}

ValueType BodyChecker::checkSum(const Expr &expr) {
  const Expr &left = *expr.operands[0], &right = *expr.operands[1];
  if (left.type.isNumber() && right.type.isNumber()) {
    ValueType type = left.type;
    type.scale.number += expr.op == '-' ? -right.type.scale.number : right.type.scale.number;
    return type.scale.number == 0 ? type : checkRange(expr, type);
  }
  if (left.type.isElementwise() && right.type.isElementwise())
    return checkElementwise({&left, &right});
  diagnostics
      .error(expr.loc, "operand-type",
             "'" + expr.text + "' has no meaning between " + left.type.spelling() + " and " +
                 right.type.spelling())
      .fix("+ and - are for scores, f32 values, numbers and positions");
  return {};
}

ValueType BodyChecker::checkComparison(const Expr &expr) {
  ValueType type = checkElementwise(expr.operands);
  if (type.kind == ValueType::Invalid)
    return {};
  return {.kind = ValueType::Condition,
          .heads = type.heads,
          .dot = type.dot,
          .depth = type.depth,
          .key = type.key};
}

ValueType BodyChecker::checkConditions(const Expr &expr) {
  ValueType result{.kind = ValueType::Condition};
  for (const Expr *operand : expr.operands) {
    if (operand->type.kind != ValueType::Condition)
      return wrongOperand(*operand, "'" + expr.text + "' takes conditions",
                          "a condition compares values: kv_pos < q_pos");
    if (!join(result, *operand))
      return {};
  }
  return result;
}

ValueType BodyChecker::checkUnary(Expr &expr) {
  ValueType type = check(*expr.operands[0]);
  if (type.kind == ValueType::Invalid)
    return {};
  if (expr.op != '-')
    return checkConditions(expr);
  if (type.kind == ValueType::Scalar) {
    type.scale.number = -type.scale.number;
    return type;
  }
  if (type.isElementwise())
    return checkElementwise(expr.operands);
  diagnostics.error(expr.loc, "operand-type", "'-' has no meaning before " + type.spelling());
  return {};
}

//===-- Functions over scores
//----------------------------------------------------------------------------===//

bool BodyChecker::expectScores(const Expr &expr, const Expr &operand) {
  ValueType ignored;
  return expectKind(operand, operand.type.kind == ValueType::Scores, expr.text + " takes scores") &&
         join(ignored, operand);
}

ValueType BodyChecker::checkWindow(Expr &expr) {
  const Expr &scores = *expr.operands[0];
  std::optional<int64_t> left =
      constants.evaluate(*expr.operands[1], "window-left", "a window", 0, kWidestWindow);
  if (!expectScores(expr, scores) || !left)
    return {};
  expr.windowLeft = *left;
  return scores.type;
}

ValueType BodyChecker::checkKeep(const Expr &expr) {
  const Expr &scores = *expr.operands[0], &condition = *expr.operands[1];
  if (!expectScores(expr, scores))
    return {};
  if (condition.type.kind != ValueType::Condition)
    return wrongOperand(condition, "keep takes a condition", "a condition compares values: kv_pos < q_pos");
  ValueType type = scores.type;
  if (!join(type, condition))
    return {};
  type.depth = 0;
  return type;
}

ValueType BodyChecker::checkSoftCap(const Expr &expr) {
  const Expr &cap = *expr.operands[1];
  if (!expectScores(expr, *expr.operands[0]))
    return {};
  if (!cap.type.isNumber() || cap.type.scale.number > 0)
    return checkElementwise(expr.operands);
  diagnostics.error(cap.begin(), "softcap-cap", "a cap of " + cap.type.scale.spelling())
      .fix("a cap is above 0");
  return {};
}

ValueType BodyChecker::checkSink(const Expr &expr) {
  const Expr &scores = *expr.operands[0], &logits = *expr.operands[1];
  if (!expectScores(expr, scores))
    return {};
  if (logits.type.kind != ValueType::HeadValues)
    return wrongOperand(logits, "the logits of a sink are values of heads",
                        "declare a parameter as f32[heads]");
  ValueType type = scores.type;
  if (!join(type, logits))
    return {};
  type.depth = 0;
  type.sunk = true;
  return type;
}

ValueType BodyChecker::checkSelect(const Expr &expr) {
  const Expr &condition = *expr.operands[0];
  if (condition.type.kind != ValueType::Condition)
    return wrongOperand(condition, "select chooses by a condition",
                        "a condition compares values: kv_pos < q_pos");
  ValueType type = checkElementwise(ArrayRef<const Expr *>(expr.operands).drop_front());
  if (type.kind == ValueType::Invalid || !join(type, condition))
    return {};
  if (type.kind == ValueType::Scores)
    type.depth = 0;
  return type;
}

//===-- Functions of the program
//-------------------------------------------------------------------------===//

ValueType BodyChecker::checkFnCall(Expr &expr, FnDecl &fn) {
  if (expr.operands.size() != fn.params.size()) {
    diagnostics
        .error(expr.loc, "arity",
               "'" + expr.text + "' takes " + Twine(fn.params.size()) + " operands, not " +
                   Twine(expr.operands.size()))
        .note(fn.name.loc, "it is defined here");
    return {};
  }
  if (!checkLabels(expr, [&](size_t index) { return fn.params[index].text; }) || fn.broken)
    return {};
  Diagnostics::InCall call(diagnostics, expr.loc, fn.name.text);
  inlinedHeight += fn.body->height;
  ValueType type;
  if (inlinedHeight > Parser::kDeepestNesting)
    diagnostics.error(expr.loc, "nesting",
                      "calls nested more than " + Twine(Parser::kDeepestNesting) + " deep");
  else if ((expr.inlined = functions.inlineCall(expr, fn)))
    type = check(*expr.inlined);
  inlinedHeight -= fn.body->height;
  fn.broken |= type.kind == ValueType::Invalid; // said once is enough
  return type;
}

/// Labels name the operands that they stand before.
bool BodyChecker::checkLabels(const Expr &expr, function_ref<StringRef(size_t)> nameOf) {
  for (auto [index, label] : llvm::enumerate(expr.labels)) {
    if (label.text.empty() || label.text == nameOf(index))
      continue;
    Report report = diagnostics.error(label.loc, "operand-label",
                                      "operand " + Twine(index + 1) + " of '" + expr.text +
                                          "' is not called '" + label.text + "'");
    if (!nameOf(index).empty())
      report.fix("it is '" + nameOf(index) + "'");
    else
      report.fix("it has no name: leave the name out");
    return false;
  }
  return true;
}

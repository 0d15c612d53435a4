// Integer arithmetic with overflow and inexact division reported.
#include "frontend/Constants.h"

#include "frontend/Suggest.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mlac;

void Constants::define(std::deque<ConstDecl> &consts, const std::map<std::string, int64_t> &defines) {
  for (ConstDecl &decl : consts)
    define(decl);
  for (const auto &[name, value] : defines)
    override(name, value);
  // Once more, now that a constant may depend on a replaced one.
  for (ConstDecl &decl : consts)
    if (!defines.count(decl.name.text.str()) && decl.evaluated)
      decl.evaluated = evaluate(*decl.value);
}

void Constants::define(ConstDecl &decl) {
  auto [entry, isNew] = known.try_emplace(decl.name.text, &decl);
  if (!isNew) {
    diagnostics.error(decl.name.loc, "duplicate-name", "constant '" + decl.name.text + "' is defined twice")
        .note(entry->second->name.loc, "the first is here");
    return;
  }
  if (decl.value)
    decl.evaluated = evaluate(*decl.value);
  names.push_back(decl.name.text);
}

void Constants::override(StringRef name, int64_t value) {
  if (ConstDecl *decl = known.lookup(name))
    decl->evaluated = value;
  else
    diagnostics.error("define-unknown", "-D " + name + ": the file has no constant '" + name + "'")
        .fix(names.empty()
                 ? "it defines no constants: add const " + name.str() + " = " + std::to_string(value) + ";"
                 : suggestName(name, names));
}

std::optional<int64_t> Constants::evaluate(const Expr &expr) {
  switch (expr.kind) {
  case Expr::Number:
    return evaluateNumber(expr);
  case Expr::Name:
    return evaluateName(expr);
  case Expr::Binary:
    return evaluateBinary(expr);
  case Expr::Unary:
    if (expr.op == '-')
      return evaluateNegation(expr);
    break;
  case Expr::Call:
  case Expr::Slice:
    break;
  }
  diagnostics.error(expr.loc, "const-expr", "not a constant integer expression")
      .fix("it is made of integers, constants, + - * / and parentheses");
  return std::nullopt;
}

std::optional<int64_t> Constants::evaluate(const Expr &expr, StringRef rule, const Twine &what, int64_t least,
                                           int64_t most) {
  std::optional<int64_t> value = evaluate(expr);
  if (!value || (*value >= least && *value <= most))
    return value;
  diagnostics.error(expr.begin(), rule,
                    what + " of " + Twine(*value) + " is outside " + Twine(least) + ".." + Twine(most));
  return std::nullopt;
}

std::optional<int64_t> Constants::evaluateNumber(const Expr &expr) {
  int64_t value;
  if (!expr.text.getAsInteger(10, value))
    return value;
  if (expr.text.find_first_not_of("0123456789") != StringRef::npos)
    diagnostics.error(expr.loc, "const-expr", "'" + expr.text + "' is not an integer");
  else
    diagnostics.error(expr.loc, "number-range", "'" + expr.text + "' does not fit in 64 bits");
  return std::nullopt;
}

std::optional<int64_t> Constants::evaluateNegation(const Expr &expr) {
  std::optional<int64_t> operand = evaluate(*expr.operands[0]);
  int64_t value;
  if (!operand || !SubOverflow(int64_t(0), *operand, value))
    return operand ? std::optional(value) : std::nullopt;
  diagnostics.error(expr.loc, "number-range", "the result does not fit in 64 bits");
  return std::nullopt;
}

std::optional<int64_t> Constants::evaluateName(const Expr &expr) {
  if (auto *bound = dyn_cast_or_null<BoundDecl>(expr.decl))
    return evaluate(*bound->argument);
  if (ConstDecl *decl = known.lookup(expr.text)) {
    decl->used = true;
    return decl->evaluated; // empty: its definition was reported
  }
  diagnostics.error(expr.loc, "unknown-name", "unknown constant '" + expr.text + "'")
      .fix(names.empty() ? "define it before: const " + expr.text.str() + " = ...;"
                         : suggestName(expr.text, names));
  return std::nullopt;
}

std::optional<int64_t> Constants::evaluateBinary(const Expr &expr) {
  std::optional<int64_t> left = evaluate(*expr.operands[0]), right = evaluate(*expr.operands[1]);
  if (!left || !right)
    return std::nullopt;
  int64_t value;
  bool overflow = false;
  switch (expr.op) {
  case '+':
    overflow = AddOverflow(*left, *right, value);
    break;
  case '-':
    overflow = SubOverflow(*left, *right, value);
    break;
  case '*':
    overflow = MulOverflow(*left, *right, value);
    break;
  case '/':
    return divide(expr, *left, *right);
  default:
    diagnostics.error(expr.loc, "const-expr", "'" + expr.text + "' has no meaning between integers");
    return std::nullopt;
  }
  if (!overflow)
    return value;
  diagnostics.error(expr.loc, "number-range", "the result does not fit in 64 bits");
  return std::nullopt;
}

std::optional<int64_t> Constants::divide(const Expr &expr, int64_t left, int64_t right) {
  // -1 apart: the one division that overflows, and always exact.
  if (right == -1 && left != INT64_MIN)
    return -left;
  if (right != 0 && right != -1 && left % right == 0)
    return left / right;
  diagnostics.error(expr.loc, "const-division", Twine(left) + " / " + Twine(right) + " is not an integer");
  return std::nullopt;
}

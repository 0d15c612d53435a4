// Expressions, by precedence climbing; the depth of what comes out is bounded.
#include "frontend/Parser.h"

using namespace llvm;
using namespace mlac;

namespace {
enum Precedence : unsigned { None, Or, And, Not, Comparison, Sum, Product };
} // namespace

/// Of a binary operator; None for anything else.
static unsigned precedenceOf(const Token &token) {
  if (token.isName("or"))
    return Or;
  if (token.isName("and"))
    return And;
  if (token.kind == Token::Compare)
    return Comparison;
  if (token.kind != Token::Symbol)
    return None;
  switch (token.text[0]) {
  case '+':
  case '-':
    return Sum;
  case '*':
  case '/':
  case '@':
    return Product;
  default:
    return None;
  }
}

Expr *Parser::tooDeep(SMLoc loc) {
  diagnostics.error(loc, "nesting", "expression nested more than " + Twine(kDeepestNesting) + " deep")
      .fix("give parts of it names with let");
  return nullptr;
}

Expr *Parser::make(Expr expr) {
  for (const Expr *operand : expr.operands)
    expr.height = std::max(expr.height, operand->height + 1);
  if (expr.height > kDeepestNesting)
    return tooDeep(expr.loc);
  return &program.exprs.emplace_back(std::move(expr));
}

Expr *Parser::parseExpr() {
  if (nesting >= kDeepestNesting)
    return tooDeep(token.loc);
  ++nesting;
  Expr *expr = parseBinary(Or);
  --nesting;
  return expr;
}

/// What stands beside a binary operator; `not` binds less than comparisons.
Expr *Parser::parseOperand(unsigned precedence) {
  if (!token.isName("not") || precedence > Not)
    return parseUnary();
  if (nesting >= kDeepestNesting)
    return tooDeep(token.loc);
  Token op = token;
  advance();
  ++nesting;
  Expr *operand = parseBinary(Not);
  --nesting;
  return operand ? make({.kind = Expr::Unary, .loc = op.loc, .text = op.text, .operands = {operand}})
                 : nullptr;
}

Expr *Parser::parseUnary() {
  if (!token.isSymbol('-'))
    return parsePostfix();
  if (nesting >= kDeepestNesting)
    return tooDeep(token.loc);
  Token op = token;
  advance();
  ++nesting;
  Expr *operand = parseUnary();
  --nesting;
  return operand
             ? make({.kind = Expr::Unary, .loc = op.loc, .text = op.text, .op = '-', .operands = {operand}})
             : nullptr;
}

Expr *Parser::parseBinary(unsigned precedence) {
  Expr *left = parseOperand(precedence);
  while (left && precedenceOf(token) >= precedence) {
    Token op = token;
    advance();
    Expr *right = parseBinary(precedenceOf(op) + 1);
    if (!right)
      return nullptr;
    left = make(
        {.kind = Expr::Binary, .loc = op.loc, .text = op.text, .op = op.text[0], .operands = {left, right}});
  }
  return left;
}

Expr *Parser::parsePostfix() {
  Expr *expr = parsePrimary();
  while (expr && token.isSymbol('['))
    expr = parseSlice(expr);
  return expr;
}

Expr *Parser::parseSlice(Expr *base) {
  SMLoc loc = token.loc;
  advance();
  Expr *begin = parseExpr();
  if (!begin || !expectSymbol(':'))
    return nullptr;
  Expr *end = parseExpr();
  if (!end || !expectSymbol(']'))
    return nullptr;
  return make({.kind = Expr::Slice, .loc = loc, .operands = {base, begin, end}});
}

Expr *Parser::parsePrimary() {
  if (token.isSymbol('('))
    return parseParentheses();
  if (token.kind == Token::Name && !token.isKeyword())
    return parseNameOrCall();
  if (token.kind != Token::Number) {
    expected("an expression");
    return nullptr;
  }
  Token number = token;
  advance();
  return make({.kind = Expr::Number, .loc = number.loc, .text = number.text});
}

Expr *Parser::parseParentheses() {
  advance();
  Expr *inner = parseExpr();
  return inner && expectSymbol(')') ? inner : nullptr;
}

/// `value` or `left = value`: what turns out to be a name before `=` is a label.
bool Parser::parseArgument(Expr &call) {
  Identifier label;
  Expr *argument = parseExpr();
  if (argument && argument->kind == Expr::Name && token.isSymbol('=')) {
    label = {argument->text, argument->loc};
    advance();
    argument = parseExpr();
  }
  call.operands.push_back(argument);
  call.labels.push_back(label);
  return argument != nullptr;
}

Expr *Parser::parseNameOrCall() {
  Expr expr{.kind = Expr::Name, .loc = token.loc, .text = token.text};
  advance();
  if (!consumeSymbol('('))
    return make(std::move(expr));
  expr.kind = Expr::Call;
  while (!token.isSymbol(')')) {
    if (!parseArgument(expr))
      return nullptr;
    if (!consumeSymbol(','))
      break;
  }
  if (!token.isSymbol(')') && !expected("',' or ')'"))
    return nullptr;
  advance();
  return make(std::move(expr));
}

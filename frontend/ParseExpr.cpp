// Expressions, by precedence climbing; the depth of what comes out is bounded.
#include "frontend/Parser.h"

using namespace llvm;
using namespace mlac;

/// `+ -` bind less than `* / @`; 0 for anything else.
static unsigned precedenceOf(const Token &token) {
  if (token.kind != Token::Symbol)
    return 0;
  switch (token.text[0]) {
  case '+':
  case '-':
    return 1;
  case '*':
  case '/':
  case '@':
    return 2;
  default:
    return 0;
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
  Expr *expr = parseBinary(1);
  --nesting;
  return expr;
}

Expr *Parser::parseBinary(unsigned precedence) {
  Expr *left = parsePostfix();
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

Expr *Parser::parseNameOrCall() {
  Expr expr{.kind = Expr::Name, .loc = token.loc, .text = token.text};
  advance();
  if (!consumeSymbol('('))
    return make(std::move(expr));
  expr.kind = Expr::Call;
  while (!token.isSymbol(')')) {
    Expr *argument = parseExpr();
    if (!argument)
      return nullptr;
    expr.operands.push_back(argument);
    if (!consumeSymbol(','))
      break;
  }
  if (!token.isSymbol(')') && !expected("',' or ')'"))
    return nullptr;
  advance();
  return make(std::move(expr));
}

// Functions of the program.
#include "frontend/Functions.h"

#include "frontend/Suggest.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlac;

std::optional<Position> mlac::findPosition(StringRef name) {
  return StringSwitch<std::optional<Position>>(name)
      .Case("q_pos", Position::Query)
      .Case("kv_pos", Position::Cached)
      .Case("head", Position::Head)
      .Default(std::nullopt);
}

FnDecl *Functions::find(StringRef name) {
  for (FnDecl &fn : program.fns)
    if (fn.name.text == name)
      return &fn;
  return nullptr;
}

SmallVector<StringRef> Functions::names() const {
  SmallVector<StringRef> names;
  for (const FnDecl &fn : program.fns)
    names.push_back(fn.name.text);
  for (const BuiltinInfo &info : kBuiltins)
    names.push_back(info.name);
  return names;
}

const ConstDecl *Functions::findConstant(StringRef name) const {
  for (const ConstDecl &decl : program.consts)
    if (decl.name.text == name)
      return &decl;
  return nullptr;
}

void Functions::check() {
  for (FnDecl &fn : program.fns) {
    if (fn.name.text.empty() || diagnostics.full())
      continue;
    unsigned before = diagnostics.count();
    checkHeader(fn);
    if (fn.body)
      checkBody(fn, *fn.body);
    fn.broken |= diagnostics.count() != before;
  }
}

void Functions::checkHeader(const FnDecl &fn) {
  if (findBuiltin(fn.name.text))
    diagnostics.error(fn.name.loc, "reserved-name", "'" + fn.name.text + "' is the name of a function");
  if (const FnDecl *first = find(fn.name.text); first != &fn)
    diagnostics.error(fn.name.loc, "duplicate-name", "a second function '" + fn.name.text + "'")
        .note(first->name.loc, "the first is here");
  StringMap<SMLoc> seen;
  for (const Identifier &param : fn.params) {
    auto [entry, isNew] = seen.try_emplace(param.text, param.loc);
    if (!isNew)
      diagnostics.error(param.loc, "duplicate-name", "parameter '" + param.text + "' is given twice")
          .note(entry->second, "the first is here");
  }
}

void Functions::checkBody(FnDecl &fn, const Expr &expr) {
  if (expr.kind == Expr::Name)
    return checkName(fn, expr);
  if (expr.kind == Expr::Call)
    checkCall(fn, expr);
  bool isCast = expr.kind == Expr::Call && expr.text == "cast";
  for (const Expr *operand : ArrayRef(expr.operands).take_front(isCast ? 1 : expr.operands.size()))
    checkBody(fn, *operand);
}

void Functions::checkName(FnDecl &fn, const Expr &expr) {
  auto isIt = [&](const Identifier &param) { return param.text == expr.text; };
  if (llvm::any_of(fn.params, isIt) || findConstant(expr.text) || findPosition(expr.text))
    return;
  diagnostics
      .error(expr.loc, "unknown-name", "unknown name '" + expr.text + "' in function '" + fn.name.text + "'")
      .fix("a function knows its parameters, constants, q_pos, kv_pos and head: pass the rest as parameters");
}

void Functions::checkCall(FnDecl &fn, const Expr &expr) {
  if (findBuiltin(expr.text))
    return;
  const FnDecl *callee = find(expr.text);
  if (!callee) {
    diagnostics.error(expr.loc, "unknown-function", "unknown function '" + expr.text + "'")
        .fix(suggestName(expr.text, names()));
    return;
  }
  if (callee->name.loc.getPointer() < fn.name.loc.getPointer())
    return;
  diagnostics
      .error(expr.loc, "fn-recursion",
             callee == &fn ? "function '" + fn.name.text + "' calls itself"
                           : "function '" + expr.text + "' is called before its definition")
      .note(callee->name.loc, "it is defined here")
      .fix("functions are inlined: each calls those defined before it only");
}

//===-- Inlining
//-----------------------------------------------------------------------------------------===//

Expr *Functions::inlineCall(const Expr &call, const FnDecl &fn) {
  StringMap<BoundDecl *> bound;
  for (auto [param, argument] : llvm::zip(fn.params, call.operands))
    bound[param.text] = &program.bounds.emplace_back(param, argument);
  Expr *body = copy(*fn.body, bound);
  if (!body)
    diagnostics
        .error(call.loc, "fn-size",
               "the program's calls become more than " + Twine(kMostNodes) + " operations")
        .fix("functions are inlined: give intermediate values names with let");
  return body;
}

Expr *Functions::copy(const Expr &expr, const StringMap<BoundDecl *> &bound) {
  if (++nodes > kMostNodes)
    return nullptr;
  Expr result = expr;
  result.type = {};
  if (expr.kind == Expr::Name) {
    if (BoundDecl *decl = bound.lookup(expr.text))
      result.decl = decl;
    else if (const ConstDecl *constant = findConstant(expr.text))
      result.decl = constant;
    else
      result.position = findPosition(expr.text); // none: the type of a cast
  }
  for (Expr *&operand : result.operands)
    if (!(operand = copy(*operand, bound)))
      return nullptr;
  return &program.exprs.emplace_back(std::move(result));
}

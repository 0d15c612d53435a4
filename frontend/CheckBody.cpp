// Statements: every name once, every result once, and nothing unused.
#include "frontend/Checker.h"

#include "frontend/Suggest.h"

using namespace llvm;
using namespace mlac;

void BodyChecker::check() {
  for (Statement &statement : kernel.statements) {
    if (diagnostics.full())
      return;
    checkStatement(statement);
  }
  if (!kernel.brokenBody)
    checkAllUsed();
}

void BodyChecker::checkStatement(Statement &statement) {
  ValueType value = statement.value ? check(*statement.value) : ValueType();
  if (!statement.let)
    return checkAssignment(statement, value);
  statement.let->type = value;
  statement.let->defined = true;
}

ResultDecl *BodyChecker::findResult(const Identifier &target) {
  Decl *decl = scope.find(target.text);
  if (auto *result = dyn_cast_or_null<ResultDecl>(decl))
    return result;
  if (decl) {
    diagnostics.error(target.loc, "assign-target", "'" + target.text + "' is not a result")
        .note(decl->name.loc, "it is declared here")
        .fix("only results are assigned; bind a new name with let");
    return nullptr;
  }
  SmallVector<StringRef> results;
  for (const ResultDecl &result : kernel.results)
    results.push_back(result.name.text);
  diagnostics.error(target.loc, "unknown-name", "unknown result '" + target.text + "'")
      .fix(suggestName(target.text, results));
  return nullptr;
}

void BodyChecker::checkAssignment(Statement &statement, const ValueType &value) {
  ResultDecl *result = statement.result = findResult(statement.target);
  if (!result)
    return;
  if (result->assigned)
    diagnostics
        .error(statement.target.loc, "result-twice",
               "result '" + statement.target.text + "' is assigned twice")
        .note(*result->assigned, "the first time is here");
  result->assigned = statement.target.loc;
  if (value.kind == ValueType::Invalid || result->type.kind == ValueType::Invalid)
    return;
  if (result->type.kind == ValueType::Lse)
    checkLseResult(*result, *statement.value);
  else if (result->isCache())
    checkCacheResult(*result, *statement.value);
  else
    checkBufferResult(*result, *statement.value);
}

void BodyChecker::checkBufferResult(const ResultDecl &result, const Expr &value) {
  const ValueType &type = value.type;
  if (!type.isAttended()) {
    diagnostics
        .error(value.loc, "result-type",
               "result '" + result.name.text + "' takes attended rows, not " + type.spelling())
        .note(result.name.loc, "it is declared here")
        .fix("attended rows are softmax(scores) @ value");
    return;
  }
  if (type.heads == result.type.heads && type.width == result.type.width)
    return;
  diagnostics
      .error(value.loc, "result-shape", type.spelling() + " do not fit result '" + result.name.text + "'")
      .note(result.name.loc, "it is declared here as " + result.type.rowSpelling());
}

void BodyChecker::checkLseResult(ResultDecl &result, const Expr &value) {
  StringRef declared = mlir::mla::stringifyLseBase(*result.type.base);
  if (value.type.kind != ValueType::Lse) {
    diagnostics
        .error(value.loc, "result-type",
               "result '" + result.name.text + "' takes a log-sum-exp, not " + value.type.spelling())
        .note(result.name.loc, "it is declared here")
        .fix("a log-sum-exp is logsumexp(scores)");
    return;
  }
  result.type.heads = value.type.heads;
  if (value.type.base && value.type.base != result.type.base)
    diagnostics
        .error(value.loc, "lse-base",
               "a log-sum-exp in " + mlir::mla::stringifyLseBase(*value.type.base) + " where " + declared +
                   " is declared")
        .note(result.name.loc, "it is declared here")
        .fix("the base is part of the type; use logsumexp(scores) once for each result");
}

void BodyChecker::checkAllUsed() {
  for (const ResultDecl &result : kernel.results)
    if (!result.assigned)
      diagnostics.error(result.name.loc, "result-missing",
                        "result '" + result.name.text + "' is never assigned");
  if (diagnostics.hasErrors())
    return; // what is unused may be so because of them
  for (const ParamDecl &param : kernel.params)
    if (!param.used)
      diagnostics.warning(param.name.loc, "unused-parameter",
                          "parameter '" + param.name.text + "' is never used");
  for (const LetDecl &let : kernel.lets)
    if (!let.used)
      diagnostics.warning(let.name.loc, "unused-let", "'" + let.name.text + "' is never used");
}

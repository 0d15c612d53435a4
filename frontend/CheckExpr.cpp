// The type of every expression.
#include "frontend/Checker.h"

#include "frontend/Suggest.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Error.h"

#include <cmath>

using namespace llvm;
using namespace mlac;

ValueType BodyChecker::check(Expr &expr) {
  switch (expr.kind) {
  case Expr::Number:
    return expr.type = checkNumber(expr);
  case Expr::Name:
    return expr.type = checkName(expr);
  case Expr::Call:
    return expr.type = checkCall(expr);
  case Expr::Slice:
    return expr.type = checkSlice(expr);
  case Expr::Unary:
    return expr.type = checkUnary(expr);
  case Expr::Binary:
    return expr.type = checkBinary(expr);
  }
  llvm_unreachable("every kind is listed");
}

ValueType BodyChecker::wrongOperand(const Expr &operand, const Twine &what, const Twine &fix) {
  if (operand.type.kind != ValueType::Invalid)
    diagnostics.error(operand.begin(), "operand-type", what + ", not " + operand.type.spelling()).fix(fix);
  return {};
}

//===-- Numbers and names
//-----------------------------------------------------------------------------------===//

static ValueType numberOf(double value) {
  ValueType type{.kind = ValueType::Scalar};
  type.scale.number = value;
  return type;
}

ValueType BodyChecker::checkNumber(const Expr &expr) {
  APFloat value(APFloat::IEEEsingle());
  Expected<APFloat::opStatus> status = value.convertFromString(expr.text, APFloat::rmNearestTiesToEven);
  bool fits = bool(status) && value.isFinite() && !(value.isZero() && (*status & APFloat::opUnderflow));
  if (!status)
    consumeError(status.takeError());
  if (fits)
    return numberOf(value.convertToFloat());
  diagnostics.error(expr.loc, "number-range", "'" + expr.text + "' does not fit in f32");
  return {};
}

ValueType BodyChecker::unknownName(const Expr &expr) {
  std::string fix = suggestName(expr.text, scope.names());
  if (const BuiltinInfo *info = findBuiltin(expr.text))
    fix = "it is a function: " + info->signature.str();
  else if (functions.find(expr.text))
    fix = "it is a function: call it";
  diagnostics.error(expr.loc, "unknown-name", "unknown name '" + expr.text + "'").fix(fix);
  return {};
}

/// What nothing declares may be a position; in a function's body names were resolved when it was inlined.
ValueType BodyChecker::checkName(Expr &expr) {
  if (expr.decl)
    return checkDecl(expr, *expr.decl);
  Decl *decl = expr.position ? nullptr : scope.find(expr.text);
  if (decl) {
    expr.decl = decl;
    decl->used = true;
    return checkDecl(expr, *decl);
  }
  if (!expr.position && !(expr.position = findPosition(expr.text)))
    return unknownName(expr);
  return {.kind = ValueType::Element, .integer = true};
}

ValueType BodyChecker::checkDecl(const Expr &expr, const Decl &declared) {
  const Decl *decl = &declared;
  if (auto *bound = dyn_cast<BoundDecl>(decl))
    return bound->argument->type;
  if (auto *constant = dyn_cast<ConstDecl>(decl))
    return constant->evaluated ? numberOf(*constant->evaluated) : ValueType();
  if (auto *param = dyn_cast<ParamDecl>(decl))
    return param->type;
  if (auto *let = dyn_cast<LetDecl>(decl))
    return checkLet(expr, *let);
  return checkResultRead(expr, *cast<ResultDecl>(decl));
}

ValueType BodyChecker::checkLet(const Expr &expr, const LetDecl &let) {
  if (let.defined)
    return let.type;
  diagnostics.error(expr.loc, "use-before-definition", "'" + expr.text + "' is used before its definition")
      .note(let.name.loc, "it is defined here");
  return {};
}

/// A log-sum-exp result can be read once it is assigned: its base is then fixed.
ValueType BodyChecker::checkResultRead(const Expr &expr, const ResultDecl &result) {
  if (result.assigned && result.type.kind != ValueType::Rows)
    return result.type;
  diagnostics
      .error(expr.loc, "result-read",
             "result '" + expr.text + "' cannot be read" + (result.assigned ? "" : " before it is assigned"))
      .note(result.name.loc, "it is declared here")
      .fix("give the value a name with let, and use that");
  return {};
}

//===-- Operators
//---------------------------------------------------------------------------------------------===//

ValueType BodyChecker::checkBinary(Expr &expr) {
  ValueType left = check(*expr.operands[0]), right = check(*expr.operands[1]);
  if (left.kind == ValueType::Invalid || right.kind == ValueType::Invalid)
    return {};
  if (expr.text == "*")
    return checkProduct(expr);
  if (expr.text == "/")
    return checkQuotient(expr);
  if (expr.text == "@")
    return checkAttend(expr);
  if (expr.text == "+" || expr.text == "-")
    return checkSum(expr);
  return expr.text == "and" || expr.text == "or" ? checkConditions(expr) : checkComparison(expr);
}

/// The number in a product must be one that f32 can hold.
ValueType BodyChecker::checkRange(const Expr &expr, const ValueType &type) {
  float number = float(type.scale.number);
  if (std::isfinite(number) && number != 0)
    return type;
  diagnostics.error(expr.loc, "number-range", "the result does not fit in f32");
  return {};
}

ValueType BodyChecker::checkProduct(const Expr &expr) {
  const Expr &left = *expr.operands[0], &right = *expr.operands[1];
  for (const Expr *factor : {&left, &right})
    if (factor->type.isNumber() && factor->type.scale.number == 0) {
      diagnostics.error(factor->loc, "scale-zero", "multiplied by 0, everything is 0");
      return {};
    }
  bool elementwise = left.type.isElementwise() && right.type.isElementwise();
  bool scaling = !elementwise || left.type.kind == ValueType::Scores ||
                 right.type.kind == ValueType::Scores ||
                 (left.type.kind == ValueType::Scalar && right.type.kind == ValueType::Scalar);
  if (scaling && right.type.kind == ValueType::Scalar)
    return checkScaled(expr, left, right.type.scale);
  if (scaling && left.type.kind == ValueType::Scalar)
    return checkScaled(expr, right, left.type.scale);
  if (elementwise) {
    ValueType type = checkElementwise(expr.operands);
    type.scaled = true;
    return type;
  }
  diagnostics
      .error(expr.loc, "scale-type",
             "cannot multiply " + left.type.spelling() + " by " + right.type.spelling())
      .fix("* multiplies by an f32 scalar or a number; products of rows are dot(query, key) and "
           "softmax(scores) @ value");
  return {};
}

/// What to write instead of a product with something that cannot be multiplied.
static std::string scaleInstead(const ValueType &type) {
  switch (type.kind) {
  case ValueType::Stored:
    return "multiply what is read from it: dequant(" + type.buffer->name.text.str() + ") * scale";
  case ValueType::Probs:
    return "multiply the attended rows: (softmax(scores) @ value) * scale";
  default:
    return "multiply the scores before: logsumexp(scores * scale)";
  }
}

ValueType BodyChecker::checkScaled(const Expr &expr, const Expr &operand, const Scale &factor) {
  ValueType type = operand.type;
  bool scalable =
      type.kind == ValueType::Scalar || type.kind == ValueType::Rows || type.kind == ValueType::Scores;
  if (!scalable) {
    diagnostics.error(expr.loc, "scale-type", "cannot multiply " + type.spelling())
        .fix(kernel.isWriter ? "what is stored is divided by its scale: quant(rows / kv_scale)" : scaleInstead(type));
    return {};
  }
  if (ValueType ignored; type.kind == ValueType::Scores && !join(ignored, operand))
    return {};
  type.scale = type.scale * factor;
  type.scaled = true;
  return checkRange(expr, type);
}

ValueType BodyChecker::checkQuotient(const Expr &expr) {
  const ValueType &left = expr.operands[0]->type, &right = expr.operands[1]->type;
  if (kernel.isWriter && left.isWritable())
    return checkDivided(expr);
  bool byZero = right.isNumber() && right.scale.number == 0;
  bool scaling = right.isNumber() && (left.kind == ValueType::Scalar || left.kind == ValueType::Scores);
  if (!scaling && !byZero && left.isElementwise() && right.isElementwise()) {
    ValueType type = checkElementwise(expr.operands);
    type.scaled = true;
    type.integer = false;
    return type;
  }
  if (ValueType ignored; left.kind == ValueType::Scores && !join(ignored, *expr.operands[0]))
    return {};
  if (!scaling || byZero) {
    diagnostics
        .error(expr.loc, "divide-type",
               "cannot divide " + left.spelling() + " by " + (byZero ? "0" : right.spelling()))
        .fix("/ divides scores, f32 values, numbers and positions; multiply rows by the reciprocal");
    return {};
  }
  ValueType type = left;
  type.scaled = true;
  type.scale.number /= right.scale.number;
  return checkRange(expr, type);
}

ValueType BodyChecker::checkSlice(Expr &expr) {
  ValueType type = check(*expr.operands[0]);
  std::optional<int64_t> begin = constants.evaluate(*expr.operands[1]),
                         end = constants.evaluate(*expr.operands[2]);
  if (type.kind == ValueType::Invalid || !begin || !end)
    return {};
  if (!type.isRowish())
    return wrongOperand(*expr.operands[0], "only rows have columns",
                        "slice the rows: dot(q[0:512], k[0:512])");
  if (*begin < 0 || *begin >= *end || *end > type.width) {
    diagnostics.error(expr.loc, "slice-bounds",
                      "[" + Twine(*begin) + ":" + Twine(*end) + "] is not within a row of " +
                          Twine(type.width));
    return {};
  }
  expr.sliceBegin = *begin;
  expr.sliceEnd = *end;
  type.begin += *begin;
  type.width = *end - *begin;
  return type;
}

//===-- Calls
//-------------------------------------------------------------------------------------------------===//

ValueType BodyChecker::unknownFunction(const Expr &expr) {
  diagnostics.error(expr.loc, "unknown-function", "unknown function '" + expr.text + "'")
      .fix(suggestName(expr.text, functions.names()));
  return {};
}

ValueType BodyChecker::checkCall(Expr &expr) {
  expr.builtin = findBuiltin(expr.text);
  FnDecl *fn = expr.builtin ? nullptr : functions.find(expr.text);
  // The rest of a cast is a type, that of a window a constant.
  bool firstOnly =
      expr.builtin && (expr.builtin->builtin == Builtin::Cast || expr.builtin->builtin == Builtin::Window);
  bool valid = true;
  for (size_t i = 0; i < expr.operands.size(); ++i)
    if (!firstOnly || i == 0)
      valid &= check(*expr.operands[i]).kind != ValueType::Invalid;
  if (fn)
    return valid ? checkFnCall(expr, *fn) : ValueType();
  if (!expr.builtin)
    return unknownFunction(expr);
  if (expr.operands.size() != expr.builtin->arity) {
    diagnostics
        .error(expr.loc, "arity",
               "'" + expr.text + "' takes " + Twine(expr.builtin->arity) + " operand" +
                   (expr.builtin->arity == 1 ? "" : "s") + ", not " + Twine(expr.operands.size()))
        .fix("it is " + expr.builtin->signature);
    return {};
  }
  if (!checkLabels(
          expr, [&](size_t index) { return StringRef(expr.builtin->operands[std::min<size_t>(index, 2)]); }))
    return {};
  return valid ? checkBuiltin(expr) : ValueType();
}

ValueType BodyChecker::checkBuiltin(Expr &expr) {
  if (!checkFamilyOf(expr))
    return {};
  switch (expr.builtin->builtin) {
  case Builtin::Dequant:
    return checkDequant(expr);
  case Builtin::Cast:
    return checkCast(expr);
  case Builtin::Dot:
    return checkDot(expr);
  case Builtin::Causal:
    return expectKind(*expr.operands[0], expr.operands[0]->type.kind == ValueType::Scores,
                      "causal masks scores") &&
                   expectScores(expr, *expr.operands[0])
               ? expr.operands[0]->type
               : ValueType();
  case Builtin::Window:
    return checkWindow(expr);
  case Builtin::Keep:
    return checkKeep(expr);
  case Builtin::SoftCap:
    return checkSoftCap(expr);
  case Builtin::Alibi:
    return expectScores(expr, *expr.operands[0]) ? checkElementwise(expr.operands) : ValueType();
  case Builtin::Sink:
    return checkSink(expr);
  case Builtin::Select:
    return checkSelect(expr);
  case Builtin::Min:
  case Builtin::Max:
  case Builtin::Abs:
    return checkElementwise(expr.operands);
  case Builtin::Tanh:
  case Builtin::Exp2: {
    ValueType type = checkElementwise(expr.operands);
    type.integer = false;
    return type;
  }
  case Builtin::Softmax:
    return checkNormalised(expr, ValueType::Probs);
  case Builtin::LogSumExp:
    return checkNormalised(expr, ValueType::Lse);
  case Builtin::Concat:
    return checkConcat(expr);
  case Builtin::Quant:
    return checkQuant(expr);
  }
  llvm_unreachable("every function is listed");
}

ValueType BodyChecker::checkDequant(const Expr &expr) {
  const Expr &source = *expr.operands[0];
  ValueType type = source.type;
  if (type.kind != ValueType::Stored)
    return wrongOperand(source, "dequant reads a buffer",
                        "dequant comes first: dequant(kv) * scale, dequant(kv)[0:512]");
  if (!kernel.computeType)
    return {};
  type.kind = ValueType::Rows;
  type.element = *kernel.computeType;
  type.dequantised = true;
  return type;
}

ValueType BodyChecker::checkCast(const Expr &expr) {
  ValueType type = expr.operands[0]->type;
  if (!type.isRowish())
    return wrongOperand(*expr.operands[0], "cast converts rows", "scores and probabilities are f32");
  const Expr &target = *expr.operands[1];
  std::optional<Dtype> dtype = target.kind == Expr::Name ? parseDtype(target.text) : std::nullopt;
  if (!dtype) {
    diagnostics.error(target.loc, "cast-type", "the second operand of cast is a type")
        .fix("it is e4m3, e5m2, int8, bf16, f16 or f32");
    return {};
  }
  type.kind = ValueType::Rows;
  type.element = *dtype;
  type.dequantised = false;
  return type;
}

ValueType BodyChecker::checkDot(const Expr &expr) {
  const Expr &query = *expr.operands[0], &key = *expr.operands[1];
  bool rows = expectKind(query, query.type.isRowish(), "the query of a dot is rows");
  rows &= expectKind(key, key.type.isRowish(), "the key of a dot is rows");
  if (!rows)
    return {};
  if (!checkQuery(query) || !checkHeads(key, query.type.heads, "key", "dot-key") || !checkWidths(expr))
    return {};
  if (isEightBit(query.type.element))
    checkStorage(query, "query", "dot-storage");
  checkQuantisedScale(query);
  checkCached(key, "key", "dot-storage");
  return {.kind = ValueType::Scores,
          .heads = query.type.heads,
          .width = query.type.width,
          .dot = expr.loc,
          .key = key.type.buffer};
}

ValueType BodyChecker::checkAttend(const Expr &expr) {
  const Expr &probs = *expr.operands[0], &value = *expr.operands[1];
  if (probs.type.kind != ValueType::Probs)
    return wrongOperand(probs, "the left of @ is probabilities", "probabilities are softmax(scores)");
  if (!value.type.isRowish())
    return wrongOperand(value, "the right of @ is rows", "rows are a buffer or dequant(buffer)");
  if (!checkHeads(value, probs.type.heads, "value", "attend-value"))
    return {};
  if (probs.type.key && !checkFamily(value, *probs.type.key))
    return {};
  checkCached(value, "value", "attend-storage");
  return {.kind = ValueType::Rows, .heads = probs.type.heads, .width = value.type.width};
}

/// softmax and logsumexp.
ValueType BodyChecker::checkNormalised(const Expr &expr, ValueType::Kind result) {
  const Expr &scores = *expr.operands[0];
  if (!expectKind(scores, scores.type.kind == ValueType::Scores, expr.text + " normalises scores"))
    return {};
  checkSoftmaxScale(expr, scores.type);
  return {.kind = result, .heads = scores.type.heads, .key = scores.type.key};
}

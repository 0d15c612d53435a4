// Kernels that write new rows into a cache: what is read, what is done to it, and what a cache takes.
#include "frontend/Checker.h"

using namespace llvm;
using namespace mlac;
using mlir::mla::Layout;

/// Functions of attention and functions of writers do not meet in one kernel.
bool BodyChecker::checkFamilyOf(const Expr &call) {
  if (isWriters(call.builtin->builtin) == kernel.isWriter)
    return true;
  Report report = diagnostics.error(call.loc, "writer-function",
                                    "'" + call.text + "' is not for a kernel that " +
                                        (kernel.isWriter ? "writes into a cache" : "attends"));
  report.fix(kernel.isWriter ? "a writer has concat(rows, rows), rows / scale and quant(rows)"
                             : "declare a result that is a cache, such as paged e4m3[576]");
  return false;
}

/// New rows are read from ragged buffers of 16-bit values.
bool BodyChecker::checkSource(const Expr &rows) {
  if (!expectKind(rows, rows.type.isWritable(), "new rows are made of buffers"))
    return false;
  const ParamDecl *buffer = rows.type.buffer;
  if (!buffer)
    return true;
  auto refuse = [&](const Twine &what, const Twine &fix) {
    diagnostics.error(rows.begin(), "writer-source", what)
        .note(buffer->name.loc, "'" + buffer->name.text + "' is declared here")
        .fix(fix);
    return false;
  };
  if (buffer->layout != Layout::ragged || buffer->type.heads)
    return refuse("new rows are read from ragged buffers without heads", "declare it as ragged bf16[512]");
  if (isEightBit(buffer->type.element) || buffer->type.element == Dtype::Record)
    return refuse(spell(buffer->type.element) + " values are already quantised", "new rows are bf16 or f16");
  if (rows.type.width != buffer->type.width)
    return refuse("columns of a buffer cannot be written", "write whole rows; strides may skip what lies between them");
  return true;
}

ValueType BodyChecker::checkConcat(const Expr &expr) {
  const Expr &left = *expr.operands[0], &right = *expr.operands[1];
  if (!checkSource(left) || !checkSource(right))
    return {};
  for (const Expr *part : {&left, &right})
    if (part->type.scaled) {
      diagnostics.error(part->begin(), "writer-scale", "a part of the row is divided by a scale of its own")
          .fix("a row has one scale, for all of its parts: concat(latent, rope) / kv_scale");
      return {};
    }
  return {.kind = ValueType::NewRows,
          .element = left.type.element == right.type.element ? left.type.element : Dtype::F32,
          .width = left.type.width + right.type.width};
}

/// What is stored is x / scale, so that the readers' dequant(kv) * scale gives x back.
ValueType BodyChecker::checkDivided(const Expr &expr) {
  const Expr &rows = *expr.operands[0], &scale = *expr.operands[1];
  if (!checkSource(rows))
    return {};
  bool byZero = scale.type.isNumber() && scale.type.scale.number == 0;
  if (scale.type.kind != ValueType::Scalar || byZero) {
    diagnostics.error(expr.loc, "divide-type", "cannot divide new rows by " + (byZero ? "0" : scale.type.spelling()))
        .fix("/ divides them by an f32 scalar or a number, their scale");
    return {};
  }
  if (rows.type.scaled) {
    diagnostics.error(expr.loc, "writer-scale", "the rows are divided a second time")
        .fix("divide once, by the product: rows / (a * b)");
    return {};
  }
  return {.kind = ValueType::NewRows, .element = Dtype::F32, .width = rows.type.width, .scaled = true};
}

ValueType BodyChecker::checkQuant(const Expr &expr) {
  const Expr &rows = *expr.operands[0];
  if (!checkSource(rows))
    return {};
  return {.kind = ValueType::Quantised, .element = rows.type.element, .width = rows.type.width, .scaled = rows.type.scaled};
}

/// A cache takes quantised rows, or rows that have its storage already.
void BodyChecker::checkCacheResult(const ResultDecl &result, const Expr &value) {
  const ValueType &type = value.type;
  StringRef storage = spell(result.type.element);
  auto refuse = [&](StringRef rule, const Twine &what, const Twine &fix) {
    diagnostics.error(value.begin(), rule, what).note(result.name.loc, "it is declared here").fix(fix);
  };
  if (type.kind != ValueType::Quantised && !type.isWritable())
    return refuse("result-type", "cache '" + result.name.text + "' takes new rows, not " + type.spelling(),
                  "new rows are concat(latent, rope), rows / scale, quant(rows)");
  if (type.isWritable() && !checkSource(value))
    return;
  if (type.width != result.type.width)
    return refuse("result-shape",
                  "rows of " + Twine(type.width) + " do not fit cache '" + result.name.text + "', whose rows have " +
                      Twine(result.type.width) + " values",
                  "join the parts of a row: concat(latent, rope)");
  if (type.kind != ValueType::Quantised && type.element != result.type.element)
    return refuse("quant-missing", spell(type.element) + " rows are not what the cache stores, " + storage,
                  "round them: quant(rows)" + (isEightBit(result.type.element) ? Twine(", of rows / scale") : Twine()));
  if (isEightBit(result.type.element) && !type.scaled)
    return refuse("quantised-scale", "values are stored as " + storage + " without a scale",
                  "divide by it: quant(rows / kv_scale), or / 1.0 if there is none");
}

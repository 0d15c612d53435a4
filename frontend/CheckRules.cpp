// Rules of the operands of matrix products: shape, storage and scales.
#include "frontend/Checker.h"

using namespace llvm;
using namespace mlac;

bool BodyChecker::expectKind(const Expr &operand, bool fits, const Twine &what) {
  if (!fits)
    diagnostics.error(operand.begin(), "operand-type", what + ", not " + operand.type.spelling());
  return fits;
}

bool BodyChecker::checkQuery(const Expr &query) {
  const ParamDecl *buffer = query.type.buffer;
  if (!buffer) {
    diagnostics.error(query.begin(), "dot-query", "attended rows cannot be a query")
        .fix("the query is read from a ragged buffer");
    return false;
  }
  if (query.type.heads && buffer->layout == mlir::mla::Layout::ragged)
    return true;
  diagnostics
      .error(query.begin(), "dot-query",
             query.type.heads ? "the query is not ragged" : "the query has no heads")
      .note(buffer->name.loc, "'" + buffer->name.text + "' is declared here")
      .fix("declare it as rows of heads: ragged bf16[heads = 8, 576]");
  return false;
}

/// A row without heads is shared by all of them; a row with heads by as many neighbours of the query's each.
bool BodyChecker::checkHeads(const Expr &operand, int64_t queryHeads, StringRef role, StringRef rule) {
  if (operand.type.isAttended()) {
    diagnostics.error(operand.begin(), rule, "attended rows cannot be a " + role)
        .fix("the " + role + " is read from a buffer");
    return false;
  }
  if (!operand.type.heads || queryHeads % operand.type.heads == 0)
    return true;
  const ParamDecl &buffer = *operand.type.buffer;
  diagnostics
      .error(operand.begin(), rule,
             "the " + Twine(operand.type.heads) + " heads of the " + role + " do not divide the query's " +
                 Twine(queryHeads))
      .note(buffer.name.loc, "'" + buffer.name.text + "' is declared here");
  return false;
}

/// Keys and values are columns of one latent row that all heads share (decode), or rows of two buffers, with heads (prefill).
bool BodyChecker::checkFamily(const Expr &value, const ParamDecl &key) {
  const ParamDecl &buffer = *value.type.buffer;
  auto refuse = [&](StringRef rule, const Twine &what, const Twine &fix) {
    Report report = diagnostics.error(value.begin(), rule, what);
    report.note(buffer.name.loc, "'" + buffer.name.text + "' is declared here");
    if (&key != &buffer)
      report.note(key.name.loc, "the key '" + key.name.text + "' is declared here");
    report.fix(fix);
    return false;
  };
  if (&key == &buffer)
    return !buffer.type.heads || refuse("latent-heads", "'" + buffer.name.text + "' is key and value, and has heads",
                                        "one latent row is shared by all heads: paged e4m3[576]; keys and values of heads "
                                        "are two buffers");
  if (!key.type.heads || key.type.heads != buffer.type.heads)
    return refuse("kv-heads", "key and value are two buffers, and do not have as many heads",
                  "give both heads that divide the query's, [heads = 1, ...] where all share one; or make them columns of "
                  "one latent row");
  if (key.layout != mlir::mla::Layout::ragged || buffer.layout != mlir::mla::Layout::ragged)
    return refuse("kv-layout", "key and value are two buffers, and are not both ragged",
                  "declare them ragged, or make them columns of one latent row");
  return true;
}

bool BodyChecker::checkWidths(const Expr &dot) {
  const ValueType &query = dot.operands[0]->type, &key = dot.operands[1]->type;
  if (query.width == key.width)
    return true;
  diagnostics
      .error(dot.loc, "dot-width",
             "a query row of " + Twine(query.width) + " does not contract with a key row of " +
                 Twine(key.width))
      .note(query.buffer->name.loc, "'" + query.buffer->name.text + "' is declared here")
      .note(key.buffer->name.loc, "'" + key.buffer->name.text + "' is declared here")
      .fix("slice the wider one: " + Twine(query.width > key.width ? "query" : "key") +
           "[0:" + Twine(std::min(query.width, key.width)) + "]");
  return false;
}

/// A key or a value: what is read from the cache.
void BodyChecker::checkCached(const Expr &operand, StringRef role, StringRef rule) {
  if (checkStorage(operand, role, rule) && checkQuantisedScale(operand))
    checkLatentScale(operand);
}

bool BodyChecker::checkStorage(const Expr &operand, StringRef role, StringRef rule) {
  const ValueType &type = operand.type;
  if (!kernel.computeType || type.element == *kernel.computeType)
    return true;
  StringRef how = type.kind == ValueType::Stored ? "stored as " : "cast to ";
  diagnostics
      .error(operand.begin(), rule,
             "the " + role + " is " + how + spell(type.element) + ", but the kernel computes in " +
                 spell(*kernel.computeType))
      .note(type.buffer->name.loc, "'" + type.buffer->name.text + "' is declared here")
      .fix("read it through dequant(" + type.buffer->name.text + ")");
  return false;
}

/// The values of 8-bit storage mean nothing without their scale, so that one is always written.
bool BodyChecker::checkQuantisedScale(const Expr &operand) {
  const ValueType &type = operand.type;
  if (!type.dequantised || type.scaled || !type.buffer->needsScale())
    return true;
  StringRef name = type.buffer->name.text;
  diagnostics
      .error(operand.begin(), "quantised-scale",
             spell(type.buffer->type.element) + " values of '" + name + "' are used without their scale")
      .note(type.buffer->name.loc, "'" + name + "' is declared here")
      .fix("multiply by its scale: dequant(" + name + ") * " + name + "_scale, or * 1.0 if it has none");
  return false;
}

/// Keys and values read from one latent row have one scale.
void BodyChecker::checkLatentScale(const Expr &operand) {
  const ValueType &type = operand.type;
  if (type.kind == ValueType::Rows && !type.dequantised)
    return; // a cast, which a pass refuses with more to say
  for (const LatentUse &use : latentUses) {
    if (use.buffer != type.buffer || use.scale == type.scale)
      continue;
    diagnostics
        .error(operand.begin(), "latent-scale",
               "rows of '" + type.buffer->name.text + "' are multiplied by " + type.scale.spelling() +
                   " here, but by " + use.scale.spelling() + " elsewhere")
        .note(use.loc, "the other use is here")
        .fix("a latent row has one scale: let k = dequant(" + type.buffer->name.text +
             ") * scale, and use k for both");
    return;
  }
  latentUses.push_back({type.buffer, type.scale, operand.begin()});
}

/// A trained model has its scale; a default would be wrong without looking wrong. One report a dot is enough.
void BodyChecker::checkSoftmaxScale(const Expr &function, const ValueType &scores) {
  if (scores.scaled || is_contained(unscaledDots, scores.dot))
    return;
  unscaledDots.push_back(scores.dot);
  diagnostics
      .error(function.loc, "softmax-scale",
             "the scores have no scale, and none is derived from their width of " + Twine(scores.width))
      .note(scores.dot, "the scores are made here")
      .fix("multiply them by the scale of the trained model: dot(query, key) * sm_scale");
}

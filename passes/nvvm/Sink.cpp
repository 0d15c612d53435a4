// The sink's term in a row's sum.
#include "passes/nvvm/Sink.h"

#include <numbers>

using namespace mlir;
using namespace mlac;

static Value lowest(Emitter &e) { return e.f32(-std::numeric_limits<double>::infinity()); }

Value RowSum::reference(Emitter &e) const {
  return e.select(e.equalF(maximum, lowest(e)), e.f32(0.0), maximum);
}

Value RowSum::lse(Emitter &e) const {
  return e.select(e.equalF(sum, e.f32(0.0)), lowest(e), e.addF(maximum, e.log2(sum)));
}

RowSum mlac::withSink(Emitter &e, const RowSum &row, Value sink) {
  RowSum result{e.maxF(row.maximum, sink), Value()};
  Value reference = result.reference(e);
  Value own = e.mulF(row.sum, e.exp2(e.subF(row.maximum, reference)));
  // Apart, so that a sink of +inf does not become inf - inf.
  Value term = e.select(e.equalF(sink, reference), e.f32(1.0), e.exp2(e.subF(sink, reference)));
  result.sum = e.addF(own, term);
  return result;
}

Value mlac::loadSink(Emitter &e, Value logits, Value head) {
  return e.mulF(loadHeadValue(e, logits, head), e.f32(std::numbers::log2e));
}

// Scales of groups of columns, from stored rows in shared memory.
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

/// An exponent without sign and mantissa; 255 is NaN.
static Value fromUE8M0(Emitter &e, Value code) {
  Value nan = e.f32(std::numeric_limits<double>::quiet_NaN());
  // 2^-127 has the exponent 0 and a mantissa.
  Value bits = e.select(e.equal(code, 0), e.i32(0x00400000), e.shl(code, 23));
  return e.select(e.equal(code, 255), nan, e.bitcast(bits, e.f32()));
}

Value mlac::loadScale(Emitter &e, const mla::StoredPart &part, Value row, int64_t group) {
  Value address = e.offset(row, part.scaleByte + group * mla::bytesOf(part.format));
  if (part.format == mla::ScaleFormat::ue8m0) {
    Value code = e.load(e.builder.getI8Type(), address, 1);
    return fromUE8M0(e, arith::ExtUIOp::create(e.builder, e.loc, e.i32(), code));
  }
  Value scale = e.load(e.f32(), address, 4);
  if (part.format == mla::ScaleFormat::f32)
    return scale;
  // Sign and exponent count; NaN, which has a mantissa, stays NaN.
  Value power = e.bitcast(e.bitAnd(e.bitcast(scale, e.i32()), 0xff800000), e.f32());
  return e.select(e.notEqualF(scale, scale), scale, power);
}

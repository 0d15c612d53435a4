// Emission helpers.
#include "passes/nvvm/Emitter.h"

using namespace mlir;

namespace mlac {

Emitter::Emitter(OpBuilder &builder, Operation *from)
    : builder(builder), loc(NameLoc::get(builder.getStringAttr(from->getName().getStringRef()), from->getLoc())) {}

//===-- Constants --------------------------------------------------------------------------------------===//

Value Emitter::i32(int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(int32_t(value)));
}
Value Emitter::i64(int64_t value) { return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value)); }
Value Emitter::f32(double value) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(float(value)));
}
Value Emitter::boolean(bool value) { return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(value)); }

//===-- Integers ---------------------------------------------------------------------------------------===//

Value Emitter::add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value Emitter::add(Value a, int64_t b) { return b ? add(a, a.getType().isInteger(64) ? i64(b) : i32(b)) : a; }
Value Emitter::sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
Value Emitter::mul(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
Value Emitter::mul(Value a, int64_t b) { return b == 1 ? a : mul(a, a.getType().isInteger(64) ? i64(b) : i32(b)); }
Value Emitter::divU(Value a, int64_t b) { return b == 1 ? a : arith::DivUIOp::create(builder, loc, a, i32(b)); }
Value Emitter::remU(Value a, int64_t b) { return arith::RemUIOp::create(builder, loc, a, i32(b)); }
Value Emitter::bitAnd(Value a, int64_t mask) { return arith::AndIOp::create(builder, loc, a, i32(mask)); }
Value Emitter::bitXor(Value a, int64_t mask) { return arith::XOrIOp::create(builder, loc, a, i32(mask)); }
Value Emitter::bitOr(Value a, Value b) { return arith::OrIOp::create(builder, loc, a, b); }
Value Emitter::shl(Value a, int64_t bits) { return bits ? arith::ShLIOp::create(builder, loc, a, i32(bits)) : a; }
Value Emitter::shrU(Value a, int64_t bits) { return bits ? arith::ShRUIOp::create(builder, loc, a, i32(bits)) : a; }
Value Emitter::shrU(Value a, Value bits) { return arith::ShRUIOp::create(builder, loc, a, bits); }
Value Emitter::less(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
}
Value Emitter::lessOrEqual(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, a, b);
}
Value Emitter::less(Value a, int64_t b) { return less(a, i32(b)); }
Value Emitter::equal(Value a, int64_t b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, i32(b));
}
Value Emitter::both(Value a, Value b) { return arith::AndIOp::create(builder, loc, a, b); }
Value Emitter::minS(Value a, Value b) { return arith::MinSIOp::create(builder, loc, a, b); }
Value Emitter::maxS(Value a, Value b) { return arith::MaxSIOp::create(builder, loc, a, b); }
Value Emitter::widen(Value a) { return arith::ExtSIOp::create(builder, loc, i64(), a); }
Value Emitter::widenUnsigned(Value a) { return arith::ExtUIOp::create(builder, loc, i64(), a); }
Value Emitter::narrow(Value a) { return arith::TruncIOp::create(builder, loc, i32(), a); }
Value Emitter::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}
Value Emitter::bitcast(Value value, Type type) {
  return value.getType() == type ? value : LLVM::BitcastOp::create(builder, loc, type, value);
}

//===-- Floats -----------------------------------------------------------------------------------------===//

Value Emitter::addF(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
Value Emitter::subF(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
Value Emitter::mulF(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
Value Emitter::fmaF(Value a, Value b, Value c) { return LLVM::FMAOp::create(builder, loc, a, b, c); }
Value Emitter::maxF(Value a, Value b) { return arith::MaxNumFOp::create(builder, loc, a, b); }
Value Emitter::equalF(Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, a, b);
}
Value Emitter::lessF(Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b);
}
Value Emitter::notEqualF(Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, a, b);
}
Value Emitter::exp2(Value a) { return call1(Instr::Exp2, a); }
Value Emitter::log2(Value a) { return call1(Instr::Log2, a); }
Value Emitter::reciprocal(Value a) { return call1(Instr::Reciprocal, a); }

//===-- Memory -----------------------------------------------------------------------------------------===//

Value Emitter::offset(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value Emitter::offset(Value pointer, int64_t bytes) {
  if (!bytes)
    return pointer;
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(bytes))});
}

Value Emitter::load(Type type, Value pointer, unsigned align) {
  return LLVM::LoadOp::create(builder, loc, type, pointer, align);
}

void Emitter::store(Value value, Value pointer, unsigned align) {
  LLVM::StoreOp::create(builder, loc, value, pointer, align);
}

Value Emitter::toInteger(Value pointer) { return LLVM::PtrToIntOp::create(builder, loc, i64(), pointer); }

Value Emitter::toGlobalPointer(Value low, Value high) {
  Value upper = arith::ShLIOp::create(builder, loc, widenUnsigned(high), i64(32));
  Value address = arith::OrIOp::create(builder, loc, widenUnsigned(low), upper);
  return LLVM::IntToPtrOp::create(builder, loc, ptr(kGlobal), address);
}

SmallVector<Value> Emitter::loadVector(Type element, int64_t count, Value pointer) {
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  if (count == 1)
    return {load(element, pointer, bytes)};
  Value vector = load(vec(count, element), pointer, bytes * unsigned(count));
  SmallVector<Value> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(LLVM::ExtractElementOp::create(builder, loc, vector, i32(i)));
  return result;
}

void Emitter::storeVector(ValueRange values, Value pointer) {
  Type element = values.front().getType();
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  if (values.size() == 1)
    return store(values.front(), pointer, bytes);
  Value vector = LLVM::PoisonOp::create(builder, loc, vec(values.size(), element));
  for (auto [i, value] : llvm::enumerate(values))
    vector = LLVM::InsertElementOp::create(builder, loc, vector, value, i32(int64_t(i)));
  store(vector, pointer, bytes * unsigned(values.size()));
}

//===-- Control ----------------------------------------------------------------------------------------===//

void Emitter::when(Value condition, function_ref<void()> body) {
  auto guard = scf::IfOp::create(builder, loc, condition);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(guard.thenBlock());
  body();
}

SmallVector<Value> Emitter::choose(Value condition, function_ref<SmallVector<Value>()> then,
                                   function_ref<SmallVector<Value>()> otherwise) {
  auto fill = [&](function_ref<SmallVector<Value>()> make) {
    return [&, make](OpBuilder &, Location) { scf::YieldOp::create(builder, loc, make()); };
  };
  OpBuilder::InsertionGuard insertion(builder);
  auto branch = scf::IfOp::create(builder, loc, condition, fill(then), fill(otherwise));
  return SmallVector<Value>(branch.getResults());
}

//===-- Instructions -----------------------------------------------------------------------------------===//

Type Emitter::typeOf(char letter) {
  switch (letter) {
  case 's':
  case 'T':
    return i16();
  case 'p':
    return i1();
  case 'f':
    return f32();
  case 'h':
    return vec(2, builder.getF16Type());
  case 'b':
    return vec(2, builder.getBF16Type());
  case 'G':
    return ptr(kGlobal);
  case 'S':
    return ptr(kShared);
  case 'P':
    return ptr(0);
  default:
    return i32();
  }
}

Value Emitter::extract(Value aggregate, int64_t position) {
  return LLVM::ExtractValueOp::create(builder, loc, aggregate, position);
}

SmallVector<Value> Emitter::call(Instr op, ValueRange operands) {
  const Instruction &row = get(op);
  assert(row.operands.size() == operands.size() && "operands do not match the instruction table");
  SmallVector<Value> arguments;
  for (auto [letter, value] : llvm::zip(row.operands, operands))
    arguments.push_back(letter == 'h' || letter == 'b' ? bitcast(value, typeOf(letter)) : value);
  SmallVector<Type> types = llvm::map_to_vector(row.results, [&](char letter) { return typeOf(letter); });
  SmallVector<Type> resultTypes;
  if (types.size() == 1)
    resultTypes = types;
  else if (types.size() > 1)
    resultTypes.push_back(LLVM::LLVMStructType::getLiteral(builder.getContext(), types));
  auto intrinsic = builder.getStringAttr(StringRef(row.intrinsic));
  auto call = LLVM::CallIntrinsicOp::create(builder, loc, resultTypes, intrinsic, arguments,
                                            LLVM::FastmathFlagsAttr());
  SmallVector<Value> results;
  for (size_t i = 0; i < types.size(); ++i) {
    Value value = types.size() == 1 ? call.getResult(0) : extract(call.getResult(0), int64_t(i));
    results.push_back(isa<VectorType>(value.getType()) ? bitcast(value, i32()) : value);
  }
  return results;
}

Value Emitter::reduceXor(Value value, ArrayRef<int64_t> distances, function_ref<Value(Value, Value)> combine) {
  for (int64_t distance : distances) {
    Value other = call1(Instr::ShuffleXor, {i32(-1), bitcast(value, i32()), i32(distance), i32(31)});
    value = combine(value, bitcast(other, value.getType()));
  }
  return value;
}

Value Emitter::reduce(Value value, int64_t lanes, function_ref<Value(Value, Value)> combine) {
  SmallVector<int64_t> distances;
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2)
    distances.push_back(distance);
  return reduceXor(value, distances, combine);
}

Value Emitter::reduceRow(Value value, function_ref<Value(Value, Value)> combine) {
  return reduceXor(value, {16, 8, 4}, combine);
}

} // namespace mlac

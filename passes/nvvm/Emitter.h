// Short names for the arithmetic, memory and instructions that lowering patterns emit. Every op gets the location of
// the tile op it came from, named after it, so that the emulator can say "tile.copy at file:line:col".
#pragma once

#include "codegen/Instructions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace mlac {

using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

inline constexpr unsigned kGlobal = 1, kShared = 3;

class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Operation *from);

  mlir::OpBuilder &builder;
  mlir::Location loc;

  //===-- Constants and types --===//
  Type i1() { return builder.getI1Type(); }
  Type i16() { return builder.getI16Type(); }
  Type i32() { return builder.getI32Type(); }
  Type i64() { return builder.getI64Type(); }
  Type f32() { return builder.getF32Type(); }
  Type ptr(unsigned space) { return mlir::LLVM::LLVMPointerType::get(builder.getContext(), space); }
  Type vec(int64_t count, Type element) { return mlir::VectorType::get(count, element); }
  Value i32(int64_t value);
  Value i64(int64_t value);
  Value f32(double value);
  Value boolean(bool value);

  //===-- Integers --===//
  Value add(Value a, Value b);
  Value add(Value a, int64_t b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value mul(Value a, int64_t b);
  Value divU(Value a, int64_t b);
  Value remU(Value a, int64_t b);
  Value bitAnd(Value a, int64_t mask);
  Value bitOr(Value a, Value b);
  Value bitXor(Value a, int64_t mask);
  Value shl(Value a, int64_t bits);
  Value shrU(Value a, int64_t bits);
  Value shrU(Value a, Value bits);
  Value less(Value a, Value b);
  Value less(Value a, int64_t b);
  Value lessOrEqual(Value a, Value b);
  Value equal(Value a, int64_t b);
  Value both(Value a, Value b);
  Value minS(Value a, Value b);
  Value maxS(Value a, Value b);
  Value widen(Value a);         // i32 to i64, signed
  Value widenUnsigned(Value a); // i32 to i64
  Value narrow(Value a);        // i64 to i32
  Value select(Value condition, Value a, Value b);
  Value bitcast(Value value, Type type);

  //===-- Floats --===//
  Value addF(Value a, Value b);
  Value subF(Value a, Value b);
  Value mulF(Value a, Value b);
  Value fmaF(Value a, Value b, Value c);
  Value maxF(Value a, Value b); // a NaN operand is ignored
  Value equalF(Value a, Value b);
  Value lessF(Value a, Value b);
  Value notEqualF(Value a, Value b); // true for NaN
  Value exp2(Value a);
  Value log2(Value a);
  Value reciprocal(Value a);

  //===-- Memory --===//
  Value offset(Value pointer, Value bytes);
  Value offset(Value pointer, int64_t bytes);
  Value toInteger(Value pointer);                   // i64
  Value toGlobalPointer(Value low, Value high);     // from the halves of an address
  Value load(Type type, Value pointer, unsigned align);
  void store(Value value, Value pointer, unsigned align);
  llvm::SmallVector<Value> loadVector(Type element, int64_t count, Value pointer); // naturally aligned
  void storeVector(ValueRange values, Value pointer);

  //===-- Control --===//
  /// Runs `body` where `condition` holds.
  void when(Value condition, llvm::function_ref<void()> body);
  /// Values of `then` where `condition` holds, else of `otherwise`.
  llvm::SmallVector<Value> choose(Value condition, llvm::function_ref<llvm::SmallVector<Value>()> then,
                                  llvm::function_ref<llvm::SmallVector<Value>()> otherwise);

  //===-- Instructions --===//
  /// Emits a row of the instruction table. 16-bit pairs go in and come out as i32.
  llvm::SmallVector<Value> call(Instr op, ValueRange operands);
  Value call1(Instr op, ValueRange operands) { return call(op, operands).front(); }
  Value thread() { return call1(Instr::ThreadId, {}); }
  Value lane() { return bitAnd(thread(), 31); }
  Value warp() { return shrU(thread(), 5); }
  /// Maximum or sum over groups of `lanes` neighbouring lanes.
  Value reduce(Value value, int64_t lanes, llvm::function_ref<Value(Value, Value)> combine);

  /// The same over the eight lanes that hold a row of an accumulator: those of equal lane % 4.
  Value reduceRow(Value value, llvm::function_ref<Value(Value, Value)> combine);

private:
  Value reduceXor(Value value, llvm::ArrayRef<int64_t> distances, llvm::function_ref<Value(Value, Value)> combine);
  Type typeOf(char letter);
  Value extract(Value aggregate, int64_t position);
};

} // namespace mlac

// Writers to the mla dialect.
#include "frontend/KernelBuilder.h"

using namespace llvm;
using namespace mlac;

mlir::Value KernelBuilder::emitConcat(const Expr &expr) {
  mlir::Value left = rows(*expr.operands[0]), right = rows(*expr.operands[1]);
  return mla::ConcatOp::create(builder, at(expr), rowsType(expr.type), left, right);
}

mlir::Value KernelBuilder::emitDivided(const Expr &expr) {
  mlir::Value source = rows(*expr.operands[0]), divisor = emit(*expr.operands[1]);
  return mla::DivideOp::create(builder, at(expr), rowsType(expr.type), source, divisor);
}

/// The value of an assignment to a cache. Here quantised rows take its storage, in an op of its own.
mlir::Value KernelBuilder::emitQuant(const ResultDecl &result, const Expr &expr) {
  mlir::Value value = rows(expr);
  if (expr.type.kind == ValueType::Stored) // copied as it is
    return mla::SliceOp::create(builder, at(expr), rowsType(expr.type), value, 0, expr.type.width);
  if (expr.type.kind == ValueType::NewRows)
    return value;
  ValueType stored = expr.type;
  stored.element = result.type.element;
  return mla::QuantOp::create(builder, at(expr), rowsType(stored), value);
}

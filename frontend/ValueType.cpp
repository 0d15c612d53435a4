// Spellings and products.
#include "frontend/ValueType.h"

#include "frontend/AST.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;
using namespace mlac;

std::optional<Dtype> mlac::parseDtype(StringRef name) {
  for (Dtype dtype : {Dtype::E4M3, Dtype::E5M2, Dtype::Int8, Dtype::BF16, Dtype::F16, Dtype::F32})
    if (spell(dtype) == name)
      return dtype;
  return std::nullopt;
}

StringRef mlac::spell(Dtype dtype) {
  switch (dtype) {
  case Dtype::E4M3:
    return "e4m3";
  case Dtype::E5M2:
    return "e5m2";
  case Dtype::Int8:
    return "int8";
  case Dtype::BF16:
    return "bf16";
  case Dtype::F16:
    return "f16";
  case Dtype::F32:
    return "f32";
  case Dtype::Record:
    return "record";
  }
  llvm_unreachable("every dtype is listed");
}

mlir::Type mlac::toMLIR(Dtype dtype, mlir::MLIRContext *context) {
  switch (dtype) {
  case Dtype::E4M3:
    return mlir::Float8E4M3FNType::get(context);
  case Dtype::E5M2:
    return mlir::Float8E5M2Type::get(context);
  case Dtype::Int8:
    return mlir::IntegerType::get(context, 8);
  case Dtype::BF16:
    return mlir::BFloat16Type::get(context);
  case Dtype::F16:
    return mlir::Float16Type::get(context);
  case Dtype::F32:
    return mlir::Float32Type::get(context);
  case Dtype::Record:
    break; // is of its parts: KernelBuilder knows them
  }
  llvm_unreachable("every dtype is listed");
}

bool mlac::isEightBit(Dtype dtype) {
  return dtype == Dtype::E4M3 || dtype == Dtype::E5M2 || dtype == Dtype::Int8;
}

int64_t RecordPart::bytes() const {
  int64_t values = width * (isEightBit(storage) ? 1 : 2);
  return values + (group && !apart ? width / group * mlir::mla::bytesOf(format) : 0);
}

Scale Scale::operator*(const Scale &other) const {
  Scale product = *this;
  product.number *= other.number;
  product.params.append(other.params.begin(), other.params.end());
  llvm::sort(product.params, [](const ParamDecl *a, const ParamDecl *b) { return a->index < b->index; });
  return product;
}

std::string Scale::spelling() const {
  std::string text;
  if (number != 1.0 || params.empty())
    raw_string_ostream(text) << format("%g", number);
  for (const ParamDecl *param : params)
    text += (text.empty() ? "" : " * ") + param->name.text.str();
  return text;
}

std::string ValueType::rowSpelling() const {
  std::string shape = (heads ? std::to_string(heads) + "x" : "") + std::to_string(width);
  return spell(element).str() + " rows of " + shape;
}

std::string ValueType::spelling() const {
  switch (kind) {
  case Invalid:
    return "an invalid value";
  case Scalar:
    return isNumber() ? "a number" : "an f32 scalar";
  case Stored:
    return "stored " + rowSpelling();
  case Rows:
    return (isAttended() ? "attended " : "") + rowSpelling();
  case NewRows:
    return "new " + rowSpelling();
  case Quantised:
    return "quantised rows of " + std::to_string(width);
  case HeadValues:
    return "values of " + std::to_string(heads) + " heads";
  case Element:
    return integer ? "a position" : "a value of each score";
  case Condition:
    return "a condition";
  case Scores:
    return "scores";
  case Probs:
    return "probabilities";
  case Lse:
    return "a log-sum-exp";
  }
  llvm_unreachable("every kind is listed");
}

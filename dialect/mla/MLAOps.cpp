// The mla dialect's ops: syntax and verifier rules. A rule's id, in brackets, is the same in docs/language.md.
#include "dialect/mla/MLA.h"
#include "dialect/mla/ScoreRegion.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace mlir::mla;

#define GET_OP_CLASSES
#include "dialect/mla/MLAOps.cpp.inc"

//===-- Helpers ----------------------------------------------------------------------------------------===//

static ArrayRef<int64_t> shapeOf(Type type) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return buffer.getShape();
  return cast<RowsType>(type).getShape();
}

static Type elementOf(Type type) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return buffer.getElementType();
  return cast<RowsType>(type).getElementType();
}

/// The kernel's compute type, or null outside a kernel.
static Type computeOf(Operation *op) {
  auto kernel = op->getParentOfType<KernelOp>();
  return kernel ? kernel.getCompute() : Type();
}

/// A stored operand of a matrix product must already have the compute type.
static LogicalResult verifyStorage(Operation *op, Type operand, StringRef what, StringRef rule) {
  Type compute = computeOf(op);
  if (!compute || elementOf(operand) == compute)
    return success();
  return op->emitOpError() << "uses a " << what << " stored as " << elementOf(operand) << " where the kernel computes in "
                           << compute << "; read it through mla.dequant [" << rule << "]";
}

//===-- Structure --------------------------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(inputs, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

/// Whether a result of this type is a cache, which holds other rows already.
static bool isCache(Type type) {
  auto buffer = dyn_cast<BufferType>(type);
  return buffer && buffer.getLayout() == Layout::paged;
}

StringRef KernelOp::getArgName(unsigned index) {
  auto name = getArgAttrOfType<StringAttr>(index, kNameAttr);
  return name ? name.getValue() : StringRef();
}

StringRef KernelOp::getResName(unsigned index) {
  auto name = getResultAttrOfType<StringAttr>(index, kNameAttr);
  return name ? name.getValue() : StringRef();
}

bool KernelOp::isWriter() { return llvm::any_of(getResultTypes(), isCache); }

LogicalResult KernelOp::verify() {
  if (isWriter() ? !getCompute().isF32() : !isa<Float16Type, BFloat16Type>(getCompute()))
    return emitOpError() << "cannot compute in " << getCompute() << "; f16 or bf16, and f32 in a writer [kernel-compute]";
  for (Type type : getResultTypes())
    if (!isa<BufferType, LseType>(type))
      return emitOpError() << "cannot return " << type << "; buffers and log-sum-exps [kernel-results]";
  return success();
}

LogicalResult ReturnOp::verify() {
  auto kernel = cast<KernelOp>((*this)->getParentOp());
  ArrayRef<Type> declared = kernel.getResultTypes();
  if (declared.size() != getValues().size())
    return emitOpError() << "returns " << getValues().size() << " values, the kernel declares " << declared.size()
                         << " [return-count]";
  for (auto [value, type] : llvm::zip(getValues(), declared)) {
    auto rows = dyn_cast<RowsType>(value.getType());
    auto buffer = dyn_cast<BufferType>(type);
    bool fits = rows && buffer ? rows.getShape() == buffer.getShape() : value.getType() == type;
    if (isCache(type)) // what attention gives is rounded when it is stored; what a writer gives, by mla.quant
      fits = fits && rows.getElementType() == buffer.getElementType();
    if (!fits)
      return emitOpError() << "returns " << value.getType() << " where " << type << " is declared [return-type]";
  }
  return success();
}

//===-- Stored values become numbers --------------------------------------------------------------------===//

LogicalResult DequantOp::verify() {
  RowsType result = getResult().getType();
  if (result.getShape() != getSource().getType().getShape())
    return emitOpError() << "changes the row's shape [dequant-shape]";
  Type compute = computeOf(*this);
  if (compute && result.getElementType() != compute)
    return emitOpError() << "makes " << result.getElementType() << " where the kernel computes in " << compute
                         << " [dequant-compute]";
  return success();
}

LogicalResult CastOp::verify() {
  if (shapeOf(getSource().getType()) != getResult().getType().getShape())
    return emitOpError() << "changes the row's shape [cast-shape]";
  return success();
}

LogicalResult SliceOp::verify() {
  int64_t begin = getBegin(), end = getEnd(), width = shapeOf(getSource().getType()).back();
  if (begin < 0 || begin >= end || end > width)
    return emitOpError() << "[" << begin << ":" << end << "] is not within a row of " << width << " [slice-bounds]";
  SmallVector<int64_t> shape(shapeOf(getSource().getType()));
  shape.back() = end - begin;
  if (getResult().getType() != RowsType::get(getContext(), shape, elementOf(getSource().getType())))
    return emitOpError() << "has a result type that is not its slice [slice-bounds]";
  return success();
}

//===-- Attention ---------------------------------------------------------------------------------------===//

/// A row without heads is shared by all; heads of it by as many of the query's each.
static bool sharesHeads(int64_t queryHeads, ArrayRef<int64_t> row) {
  return row.size() == 1 || (row.front() > 0 && queryHeads % row.front() == 0);
}

LogicalResult DotOp::verify() {
  ArrayRef<int64_t> query = shapeOf(getQuery().getType()), key = shapeOf(getKey().getType());
  if (query.size() != 2)
    return emitOpError() << "has a query without heads [dot-query]";
  if (!sharesHeads(query.front(), key))
    return emitOpError() << "has a key of " << key.front() << " heads, which do not divide the query's " << query.front()
                         << " [dot-key]";
  if (query.back() != key.back())
    return emitOpError() << "contracts a query row of " << query.back() << " with a key row of " << key.back()
                         << " [dot-width]";
  if (getScores().getType().getHeads() != query.front())
    return emitOpError() << "has scores of " << getScores().getType().getHeads() << " heads for a query of "
                         << query.front() << " [dot-query]";
  return verifyStorage(*this, getKey().getType(), "key", "dot-storage");
}

LogicalResult WindowOp::verify() {
  if (int64_t left = getLeft(); left < 0)
    return emitOpError() << "reaches " << left << " tokens to the left; 0 or more [window-left]";
  return success();
}

LogicalResult EditOp::verify() {
  for (Value scores : getScores())
    if (scores.getType() != getResult().getType())
      return emitOpError() << "makes " << getResult().getType() << " from " << scores.getType()
                           << " [edit-scores]";
  if (getScores().empty())
    return emitOpError() << "edits no scores [edit-scores]";
  return verifyScoreRegion(*this, getBody(), getScores().size(), getResult().getType().getHeads());
}

LogicalResult SinkOp::verify() {
  if (getLogits().getType().getHeads() != getScores().getType().getHeads())
    return emitOpError() << "has logits of " << getLogits().getType().getHeads() << " heads for scores of "
                         << getScores().getType().getHeads() << " [sink-heads]";
  return success();
}

LogicalResult SoftmaxOp::verify() {
  if (getScores().getType().getHeads() != getProbs().getType().getHeads())
    return emitOpError() << "changes the number of heads [softmax-heads]";
  return success();
}

LogicalResult AttendOp::verify() {
  ArrayRef<int64_t> value = shapeOf(getValue().getType());
  if (!sharesHeads(getProbs().getType().getHeads(), value))
    return emitOpError() << "has a value of " << value.front() << " heads, which do not divide the query's "
                         << getProbs().getType().getHeads() << " [attend-value]";
  SmallVector<int64_t> shape{getProbs().getType().getHeads(), value.back()};
  if (getResult().getType() != RowsType::get(getContext(), shape, Float32Type::get(getContext())))
    return emitOpError() << "must give f32 rows of " << shape[0] << "x" << shape[1] << " [attend-result]";
  return verifyStorage(*this, getValue().getType(), "value", "attend-storage");
}

LogicalResult LogSumExpOp::verify() {
  if (getScores().getType().getHeads() != getLse().getType().getHeads())
    return emitOpError() << "changes the number of heads [lse-heads]";
  return success();
}

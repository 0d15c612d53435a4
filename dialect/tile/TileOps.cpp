// The tile dialect's ops: verifier rules.
#include "dialect/tile/Tile.h"

#include "dialect/mla/ScoreRegion.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace mlir::tile;

#define GET_OP_CLASSES
#include "dialect/tile/TileOps.cpp.inc"

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

StringRef KernelOp::getArgName(unsigned index) {
  auto name = getArgAttrOfType<StringAttr>(index, mla::kNameAttr);
  return name ? name.getValue() : StringRef();
}

LogicalResult KernelOp::verify() {
  if (!getResultTypes().empty())
    return emitOpError() << "returns nothing [tile-kernel-results]";
  int64_t kvHeads = getKvHeads().value_or(1);
  if (kvHeads < 1 || getHeads() % kvHeads)
    return emitOpError() << "has " << getHeads() << " heads, which " << kvHeads
                         << " KV heads do not divide [tile-kernel-heads]";
  return success();
}

LogicalResult ItemsOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() < 1 || !isa<ItemType>(body.getArgument(0).getType()))
    return emitOpError() << "has a body whose first argument is a !tile.item [items-argument]";
  TypeRange carried = getInits().getTypes();
  if (TypeRange(body.getArgumentTypes()).drop_front() != carried ||
      body.getTerminator()->getOperandTypes() != carried)
    return emitOpError() << "hands on other types than it is handed [items-carried]";
  return success();
}

LogicalResult ItemsOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getInits().getTypes());
  return success();
}

void YieldOp::build(OpBuilder &, OperationState &) {}

//===-- Values -----------------------------------------------------------------------------------------===//

LogicalResult QueryOp::verify() {
  if (getResult().getType().getColumns() != getSource().getType().getWidth())
    return emitOpError() << "changes the row's width [query-width]";
  return success();
}

LogicalResult LoadOp::verify() {
  TileType tile = getResult().getType();
  if (tile.getColumns() != getSource().getType().getWidth())
    return emitOpError() << "changes the row's width [load-width]";
  Type storage = tile.getStorage() ? tile.getStorage() : tile.getElementType();
  if (storage != getSource().getType().getElementType())
    return emitOpError() << "loads " << getSource().getType().getElementType() << " as " << storage
                         << " [load-storage]";
  return success();
}

LogicalResult DequantOp::verify() {
  if (getSource().getType().getShape() != getResult().getType().getShape())
    return emitOpError() << "changes the tile's shape [tile-dequant-shape]";
  return success();
}

LogicalResult SliceOp::verify() {
  int64_t begin = getBegin(), end = getEnd(), columns = getSource().getType().getColumns();
  if (begin < 0 || begin >= end || end > columns || getResult().getType().getColumns() != end - begin)
    return emitOpError() << "[" << begin << ":" << end << "] is not within " << columns
                         << " columns [tile-slice-bounds]";
  return success();
}

LogicalResult DotOp::verify() {
  TileType query = getQuery().getType(), key = getKey().getType(), scores = getScores().getType();
  if (query.getColumns() != key.getColumns())
    return emitOpError() << "contracts " << query.getColumns() << " with " << key.getColumns()
                         << " columns [tile-dot-width]";
  if (query.getElementType() != key.getElementType())
    return emitOpError() << "multiplies " << query.getElementType() << " by " << key.getElementType()
                         << " [tile-dot-element]";
  if (scores.getRows() != query.getRows() || scores.getColumns() != key.getRows() || !scores.getElementType().isF32())
    return emitOpError() << "gives f32 scores of query rows x key rows [tile-dot-shape]";
  return success();
}

/// What tile.mask, tile.mask_scores and tile.mask_rows have in common.
template <typename OpT>
static LogicalResult verifyMask(OpT op) {
  if (auto window = int64_t(op.getWindow().value_or(0)); window < 0)
    return op.emitOpError() << "has a window of " << window << " tokens; 0 or more [tile-window]";
  auto kernel = op->template getParentOfType<KernelOp>();
  if (op.getEdit().empty() || !kernel)
    return success();
  return mla::verifyScoreRegion(op, op.getEdit(), /*scores=*/1, kernel.getHeads());
}

LogicalResult MaskOp::verify() { return verifyMask(*this); }

LogicalResult OnlineSoftmaxOp::verify() {
  for (Value stat : {getMaximum(), getSum(), getNewMaximum(), getNewSum(), getShrink()}) {
    auto type = cast<TileType>(stat.getType());
    if (type.getColumns() != 1 || !type.getElementType().isF32())
      return emitOpError() << "keeps one f32 a row, not " << type << " [softmax-stats]";
  }
  return success();
}

LogicalResult AccumulateOp::verify() {
  if (getValue().getType().getColumns() != getAccumulator().getType().getColumns())
    return emitOpError() << "adds " << getValue().getType().getColumns() << " columns to "
                         << getAccumulator().getType().getColumns() << " [accumulate-width]";
  if (getValue().getType().getElementType() != getProbs().getType().getElementType())
    return emitOpError() << "multiplies " << getProbs().getType().getElementType() << " by "
                         << getValue().getType().getElementType() << " [accumulate-element]";
  return success();
}

//===-- Scheduled --------------------------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  if (getOffset() % 16)
    return emitOpError() << "offset " << getOffset() << " is not a multiple of 16 [alloc-align]";
  return success();
}

LogicalResult MaskScoresOp::verify() { return verifyMask(*this); }

LogicalResult SoftmaxOp::verify() {
  if (!getScales())
    return success();
  SharedType ring = getScales().getType();
  int64_t begin = getColumn().value_or(0), width = getWidth().value_or(0);
  mla::StoredPart part = mla::partOf(ring.getElementType(), ring.getColumns(), begin, begin + width);
  if (!part.isScaled() || (begin - part.column) % part.group)
    return emitOpError() << "takes scales of columns " << begin << " + " << width << ", which have none [softmax-scales]";
  int64_t copies = (width + part.group - 1) / part.group;
  if (getProbs().getType().getStages() % copies)
    return emitOpError() << "keeps " << getProbs().getType().getStages() << " planes of probabilities, no multiple of the "
                         << copies << " groups of columns [softmax-copies]";
  return success();
}

/// Row and stage have one width and element.
static LogicalResult verifyCopy(Operation *op, mla::BufferType source, SharedType ring) {
  if (source.getWidth() == ring.getColumns() && source.getElementType() == ring.getElementType())
    return success();
  return op->emitOpError() << "copies " << source << " into " << ring << " [copy-width]";
}

LogicalResult CopyOp::verify() { return verifyCopy(*this, getSource().getType(), getRing().getType()); }
LogicalResult CopyRowsOp::verify() { return verifyCopy(*this, getSource().getType(), getRing().getType()); }

//===-- Prefill ----------------------------------------------------------------------------------------===//

LogicalResult ScoreRowsOp::verify() {
  FragmentType scores = getScores().getType();
  if (scores.getRole() != Role::accumulator || scores.getShape()[1] != getRing().getType().getRows() ||
      getQuery().getType().getColumns() != getRing().getType().getColumns())
    return emitOpError() << "gives accumulators of rows x tokens, from query and keys of one width [score-rows-shape]";
  return success();
}

LogicalResult MaskRowsOp::verify() {
  if (!getEdit().empty() && !getScale())
    return emitOpError() << "edits scores that have no scale [mask-rows-scale]";
  return verifyMask(*this);
}

LogicalResult SoftmaxRowsOp::verify() {
  FragmentType scores = getScores().getType(), probs = getProbs().getType(), stats = getMaximum().getType();
  if (probs.getRole() != Role::operand || probs.getShape() != scores.getShape() || stats.getRole() != Role::row_stats ||
      stats.getShape()[0] != scores.getShape()[0])
    return emitOpError() << "gives operands of the scores' shape, and a statistic a row [softmax-rows-shape]";
  return success();
}

LogicalResult WeighRowsOp::verify() {
  FragmentType sums = getAccumulator().getType(), probs = getProbs().getType();
  SharedType values = getRing().getType();
  if (sums.getShape()[0] != probs.getShape()[0] || sums.getShape()[1] != values.getColumns() ||
      probs.getShape()[1] != values.getRows())
    return emitOpError() << "adds rows x tokens times tokens x value dimensions [weigh-rows-shape]";
  return success();
}

//===-- Planning on the device -------------------------------------------------------------------------===//

LogicalResult PlanBatchOp::verify() {
  if (getRows() <= 0 || getTokens() <= 0 || getThreads() <= 0 || getThreads() % 32)
    return emitOpError() << "has " << getRows() << " rows, " << getTokens() << " tokens and " << getThreads()
                         << " threads; all are positive, threads a multiple of 32 [plan-batch-sizes]";
  return success();
}

LogicalResult CheckTableOp::verify() {
  if (getSource().getType().getLayout() != mla::Layout::paged)
    return emitOpError() << "checks the table of " << getSource().getType() << ", which has none [check-table-paged]";
  return success();
}

// Sizes and offsets of a scheduled kernel's shared memory.
#include "passes/SharedLayout.h"

#include "passes/ScoreEdit.h"
#include "runtime/Abi.h"

using namespace mlir;

namespace mlac {

KernelShape shapeOf(tile::KernelOp kernel) {
  KernelShape shape{};
  shape.compute = kernel.getCompute();
  shape.heads = kernel.getHeads();
  kernel.walk([&](tile::QueryOp op) { shape.query = op.getSource().getType(); });
  kernel.walk([&](tile::MaskOp op) { shape.editInstructions = costOfEdit(op.getEdit()).instructions; });
  kernel.walk([&](tile::LoadOp op) { shape.cache = op.getSource().getType(); });
  kernel.walk([&](tile::AccumulateOp op) {
    shape.valueWidth = op.getValue().getType().getColumns();
    auto slice = op.getValue().getDefiningOp<tile::SliceOp>();
    shape.valueColumn = slice ? slice.getBegin() : 0;
  });
  return shape;
}

mlir::mla::StoredPart KernelShape::valuePart() const {
  return mlir::mla::partOf(cache.getElementType(), rowWidth(), valueColumn, valueColumn + valueWidth);
}

int64_t KernelShape::valueGroups() const {
  mlir::mla::StoredPart part = valuePart();
  return part.isScaled() ? (valueWidth + part.group - 1) / part.group : 1;
}

int64_t conflictFreePitch(int64_t rowBytes) {
  int64_t units = (rowBytes + 15) / 16;
  return 16 * (units | 1);
}

int64_t leastMergeBytes(tile::ScheduleAttr schedule) {
  return schedule.getGroups() / 2 * schedule.getThreadsPerGroup() * 16;
}

int64_t combineSharedBytes(int64_t threads) {
  int64_t parts = threads * 4 / ::mla::combineSpan;
  return parts * (4 * ::mla::combineSpan + 8);
}

SharedLayout layoutShared(const KernelShape &shape, tile::ScheduleAttr schedule) {
  MLIRContext *context = schedule.getContext();
  Type f32 = Float32Type::get(context);
  int64_t rows = schedule.getRows(), tokens = schedule.getTokens(), groups = schedule.getGroups(), end = 0;
  int64_t planes = groups * schedule.getTokenWarps();
  auto place = [&](StringRef name, ArrayRef<int64_t> dims, Type element, int64_t pitch) {
    auto type = tile::SharedType::get(context, dims, element, pitch);
    Allocation allocation{name, type, end};
    end += (type.getBytes() + 15) / 16 * 16;
    return allocation;
  };
  SharedLayout layout{};
  layout.ring = place("kv", {groups * schedule.getStages(), tokens, shape.rowWidth()}, shape.cache.getElementType(),
                      conflictFreePitch(shape.cache.getTileRowBytes()));
  layout.query = place("query", {1, rows, shape.rowWidth()}, shape.compute, conflictFreePitch(2 * shape.rowWidth()));
  layout.probs = place("probs", {groups * shape.valueGroups(), rows, tokens}, shape.compute, conflictFreePitch(2 * tokens));
  layout.maxima = place("maxima", {planes, 1, rows}, f32, 4 * rows);
  if (schedule.getRowWarps() > 1)
    layout.shrinks = place("shrinks", {groups, 1, rows}, f32, 4 * rows);
  layout.stats = place("stats", {groups + planes, 1, rows}, f32, 4 * rows);
  layout.bytes = end;
  return layout;
}

} // namespace mlac

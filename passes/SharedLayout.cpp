// Sizes and offsets of a scheduled kernel's shared memory.
#include "passes/SharedLayout.h"

using namespace mlir;

namespace mlac {

KernelShape shapeOf(tile::KernelOp kernel) {
  KernelShape shape{};
  shape.compute = kernel.getCompute();
  shape.heads = kernel.getHeads();
  kernel.walk([&](tile::QueryOp op) { shape.query = op.getSource().getType(); });
  kernel.walk([&](tile::LoadOp op) { shape.cache = op.getSource().getType(); });
  kernel.walk([&](tile::AccumulateOp op) {
    shape.valueWidth = op.getValue().getType().getColumns();
    auto slice = op.getValue().getDefiningOp<tile::SliceOp>();
    shape.valueColumn = slice ? slice.getBegin() : 0;
  });
  return shape;
}

/// Rows an odd number of 16-byte units apart: eight consecutive rows then touch all 32 banks, so ldmatrix has no conflicts.
static int64_t conflictFreePitch(int64_t rowBytes) {
  int64_t units = (rowBytes + 15) / 16;
  return 16 * (units | 1);
}

SharedLayout layoutShared(const KernelShape &shape, tile::ScheduleAttr schedule) {
  MLIRContext *context = schedule.getContext();
  Type f32 = Float32Type::get(context);
  int64_t rows = schedule.getRows(), tokens = schedule.getTokens(), end = 0;
  auto place = [&](StringRef name, ArrayRef<int64_t> dims, Type element, int64_t pitch) {
    auto type = tile::SharedType::get(context, dims, element, pitch);
    Allocation allocation{name, type, end};
    end += (type.getBytes() + 15) / 16 * 16;
    return allocation;
  };
  SharedLayout layout{};
  int64_t rowBytes = shape.cache.getTokenBytes();
  layout.ring = place("kv", {schedule.getStages(), tokens, shape.rowWidth()}, shape.cache.getElementType(),
                      conflictFreePitch(rowBytes));
  // Four floats of padding spread the columns that a quad of lanes writes over the banks.
  layout.planes = place("scores", {schedule.getDimWarps(), rows, tokens}, f32, 4 * (tokens + 4));
  layout.probs = place("probs", {1, rows, tokens}, shape.compute, conflictFreePitch(2 * tokens));
  layout.rowFactor = place("row_factor", {1, 1, rows}, f32, 4 * rows);
  layout.bytes = end;
  return layout;
}

} // namespace mlac

// Sizes and offsets of a scheduled prefill kernel's shared memory.
#include "passes/PrefillLayout.h"

using namespace mlir;

namespace mlac {

/// Whether scores must be scaled before the softmax takes their maximum: they are edited, or the scale is not
/// above 0.
static bool editsScores(tile::MaskOp op) {
  auto info = op->getParentOfType<tile::KernelOp>()->getAttrOfType<DictionaryAttr>("mlac.info");
  auto scale = info ? info.getAs<DictionaryAttr>("score_scale") : DictionaryAttr();
  return !op.getEdit().empty() || (scale && scale.getAs<FloatAttr>("constant").getValueAsDouble() <= 0);
}

PrefillShape prefillShapeOf(tile::KernelOp kernel) {
  PrefillShape shape{};
  shape.compute = kernel.getCompute();
  shape.heads = kernel.getHeads();
  shape.kvHeads = int64_t(kernel.getKvHeads().value_or(1));
  auto take = [&](mla::BufferType type, bool first) { (first ? shape.key : shape.value) = type; };
  kernel.walk([&](tile::QueryOp op) { shape.query = op.getSource().getType(); });
  kernel.walk([&](tile::LoadQueryRowsOp op) { shape.query = op.getSource().getType(); });
  kernel.walk([&](tile::MaskOp op) {
    shape.editedScores = editsScores(op);
    shape.window = op.getWindow().has_value();
    shape.scores = costOfRows(op.getEdit(), shape.editedScores);
  });
  kernel.walk([&](tile::MaskRowsOp op) {
    shape.editedScores = op.getScale() != nullptr;
    shape.window = op.getWindow().has_value();
    shape.scores = costOfRows(op.getEdit(), shape.editedScores);
  });
  kernel.walk([&](tile::LoadOp op) { take(op.getSource().getType(), !shape.key); });
  kernel.walk([&](tile::CopyRowsOp op) {
    bool ofKeys = llvm::any_of(op.getRing().getUsers(), llvm::IsaPred<tile::ScoreRowsOp>);
    take(op.getSource().getType(), ofKeys);
  });
  return shape;
}

PrefillLayout layoutPrefill(const PrefillShape &shape, tile::PrefillScheduleAttr schedule) {
  MLIRContext *context = schedule.getContext();
  int64_t tokens = schedule.getTokens(), stages = schedule.getStages(), end = 0;
  auto place = [&](StringRef name, ArrayRef<int64_t> dims, Type element) {
    int64_t pitch = conflictFreePitch(dims.back() * element.getIntOrFloatBitWidth() / 8);
    auto type = tile::SharedType::get(context, dims, element, pitch);
    Allocation allocation{name, type, end};
    end += type.getBytes();
    return allocation;
  };
  PrefillLayout layout{};
  layout.keys = place("keys", {stages, tokens, shape.keyWidth()}, shape.key.getElementType());
  layout.values = place("values", {stages, tokens, shape.valueWidth()}, shape.value.getElementType());
  layout.query = place("query", {1, schedule.getRows(), shape.keyWidth()}, shape.compute);
  layout.bytes = end;
  return layout;
}

} // namespace mlac

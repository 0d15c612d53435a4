// One step of the online softmax, in the registers of the warps that scored.
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Maximum over a warp's tokens of each of its rows, [row tile][odd]; the same in all lanes of a row.
SmallVector<Value> rowMaxima(Emitter &e, ValueRange scores, int64_t rowTiles) {
  SmallVector<Value> maxima(2 * rowTiles);
  for (auto [index, score] : llvm::enumerate(scores)) {
    Value &maximum = maxima[index / 4 % rowTiles * 2 + index % 2];
    maximum = maximum ? e.maxF(maximum, score) : score;
  }
  for (Value &maximum : maxima)
    maximum = e.reduceRow(maximum, [&](Value a, Value b) { return e.maxF(a, b); });
  return maxima;
}

/// Runs `body` in the lanes that speak for their rows: one of the eight that hold each.
void inFirstLanes(Emitter &e, function_ref<void()> body) { e.when(e.less(e.lane(), 4), body); }

struct LowerStoreMaxima : OpConversionPattern<tile::StoreMaximaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::StoreMaximaOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    tile::ScheduleAttr schedule = scheduleOf(op);
    GroupView view(e, schedule);
    SmallVector<Value> maxima = rowMaxima(e, adaptor.getScores(), schedule.getRowsPerWarp() / 8);
    Value plane = e.add(e.mul(view.group, schedule.getTokenWarps()), e.remU(view.warp, schedule.getTokenWarps()));
    Value firstRow = e.mul(e.divU(view.warp, schedule.getTokenWarps()), schedule.getRowsPerWarp());
    Value base = stageAddress(e, adaptor.getMaxima().front(), op.getMaxima().getType(), plane);
    base = e.offset(base, e.shl(e.add(firstRow, statsRow(e, 0)), 2));
    inFirstLanes(e, [&] {
      for (size_t n = 0; n < maxima.size(); n += 2)
        e.storeVector({maxima[n], maxima[n + 1]}, e.offset(base, 16 * int64_t(n)));
    });
    rewriter.eraseOp(op);
    return success();
  }
};

class SoftmaxEmitter {
public:
  SoftmaxEmitter(Emitter &e, tile::SoftmaxOp op, tile::SoftmaxOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor)
      : e(e), op(op), adaptor(adaptor), schedule(scheduleOf(op)), view(e, schedule),
        rowTiles(schedule.getRowsPerWarp() / 8), rowWarp(e.divU(view.warp, schedule.getTokenWarps())) {}

  /// New maxima, new sums, shrink factors.
  SmallVector<SmallVector<Value>> run() {
    SmallVector<Value> maxima = newMaxima(), references, shrinks;
    for (auto [maximum, old] : llvm::zip(maxima, adaptor.getMaximum())) {
      // A row that has seen no token keeps -inf; subtracting 0 then gives exp2(-inf) = 0 instead of NaN.
      Value none = e.equalF(maximum, e.f32(-kInfinity));
      references.push_back(e.select(none, e.f32(0.0), maximum));
      shrinks.push_back(e.exp2(e.subF(old, references.back())));
    }
    SmallVector<Value> sums(adaptor.getSum());
    SmallVector<Value> probs = probabilities(references, shrinks, sums);
    if (op.getScales())
      writeScaledProbs(probs);
    else
      writeProbs(probs, /*copies=*/1, 0);
    return {maxima, sums, shrinks};
  }

private:
  SmallVector<Value> newMaxima() {
    SmallVector<Value> maxima(adaptor.getMaximum());
    if (!op.getMaxima()) {
      SmallVector<Value> own = rowMaxima(e, adaptor.getScores(), rowTiles);
      for (auto [maximum, value] : llvm::zip(maxima, own))
        maximum = e.maxF(maximum, value);
      return maxima;
    }
    tile::SharedType type = op.getMaxima().getType();
    for (int64_t plane = 0; plane < schedule.getTokenWarps(); ++plane) {
      Value index = e.add(e.mul(view.group, schedule.getTokenWarps()), plane);
      Value base = e.offset(stageAddress(e, adaptor.getMaxima().front(), type, index), e.shl(statsRow(e, 0), 2));
      for (size_t n = 0; n < maxima.size(); n += 2)
        for (auto [odd, value] : llvm::enumerate(e.loadVector(e.f32(), 2, e.offset(base, 16 * int64_t(n)))))
          maxima[n + odd] = e.maxF(maxima[n + odd], value);
    }
    return maxima;
  }

  /// The one of all rows' values that register `index` of this warp's own rows has.
  Value own(ArrayRef<Value> all, int64_t index) {
    Value value = all[index];
    for (int64_t warp = 1; warp < schedule.getRowWarps(); ++warp)
      value = e.select(e.equal(rowWarp, warp), all[2 * rowTiles * warp + index], value);
    return value;
  }

  /// exp2(score - reference); the warp's own sums take them up.
  SmallVector<Value> probabilities(ArrayRef<Value> references, ArrayRef<Value> shrinks, MutableArrayRef<Value> sums) {
    SmallVector<Value> ownReferences;
    for (int64_t i = 0; i < 2 * rowTiles; ++i) {
      ownReferences.push_back(own(references, i));
      sums[i] = e.mulF(sums[i], own(shrinks, i));
    }
    SmallVector<Value> probs;
    for (auto [index, score] : llvm::enumerate(adaptor.getScores())) {
      int64_t row = index / 4 % rowTiles * 2 + index % 2;
      probs.push_back(e.exp2(e.subF(score, ownReferences[row])));
      sums[row] = e.addF(sums[row], probs.back());
    }
    return probs;
  }

  /// Once for each group of the value's columns, times the scale that each token has of it.
  void writeScaledProbs(ArrayRef<Value> probs) {
    int64_t column = *op.getColumn(), width = *op.getWidth();
    tile::SharedType ring = op.getScales().getType();
    mla::StoredPart part = mla::partOf(ring.getElementType(), ring.getColumns(), column, column + width);
    int64_t first = (column - part.column) / part.group, copies = op.getProbs().getType().getStages() / schedule.getGroups();
    for (int64_t copy = 0; copy < copies; ++copy) {
      SmallVector<Value> scales = tokenScales(part, ring, first + copy), scaled;
      for (auto [index, prob] : llvm::enumerate(probs))
        scaled.push_back(e.mulF(prob, scales[index / 4 / rowTiles * 2 + index % 4 / 2]));
      writeProbs(scaled, copies, copy);
    }
  }

  /// The scales of a group that the lane's tokens have, 2^kGroupShift too large: [token tile][upper half].
  SmallVector<Value> tokenScales(const mla::StoredPart &part, tile::SharedType ring, int64_t group) {
    Value token = e.add(e.mul(e.remU(view.warp, schedule.getTokenWarps()), schedule.getTokensPerWarp()),
                        e.shrU(e.lane(), 2));
    Value row = e.offset(ringAddress(e, adaptor.getScales().front(), ring, schedule, view, adaptor.getStage().front()),
                         e.mul(token, ring.getPitch()));
    SmallVector<Value> scales;
    for (int64_t half = 0; half < schedule.getTokensPerWarp() / 8; ++half) {
      Value scale = loadScale(e, part, e.offset(row, 8 * half * ring.getPitch()), group);
      scales.push_back(e.mulF(scale, e.f32(1 << tile::kGroupShift)));
    }
    return scales;
  }

  /// To [row][token] of one of the group's copies, the order in which the values' products read them.
  void writeProbs(ArrayRef<Value> probs, int64_t copies, int64_t copy) {
    tile::SharedType type = op.getProbs().getType();
    Value row = e.add(e.mul(rowWarp, schedule.getRowsPerWarp()), statsRow(e, 0));
    Value token = e.add(e.mul(e.remU(view.warp, schedule.getTokenWarps()), schedule.getTokensPerWarp()),
                        e.shrU(e.lane(), 2));
    Value plane = copies == 1 ? view.group : e.mul(view.group, copies);
    Value base = e.offset(stageAddress(e, adaptor.getProbs().front(), type, plane), copy * type.getStageBytes());
    base = e.offset(base, e.add(e.mul(row, type.getPitch()), e.shl(token, 1)));
    Instr pack = computeOf(op) == Element::F16 ? Instr::F32ToF16 : Instr::F32ToBF16;
    auto half = [&](Value v) -> Value { return arith::TruncIOp::create(e.builder, e.loc, e.i16(), v); };
    for (size_t index = 0; index < probs.size(); index += 2) {
      int64_t upper = index / 2 % 2, n = index / 4 % rowTiles, t = index / 4 / rowTiles;
      int64_t at = 8 * n * type.getPitch() + 2 * (16 * t + 8 * upper);
      Value pair = e.call1(pack, {probs[index + 1], probs[index]});
      e.store(half(pair), e.offset(base, at), 2);
      e.store(half(e.shrU(pair, 16)), e.offset(base, at + type.getPitch()), 2);
    }
  }

  Emitter &e;
  tile::SoftmaxOp op;
  tile::SoftmaxOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor;
  tile::ScheduleAttr schedule;
  GroupView view;
  int64_t rowTiles;
  Value rowWarp;
};

struct LowerSoftmax : OpConversionPattern<tile::SoftmaxOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::SoftmaxOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    rewriter.replaceOpWithMultiple(op, SoftmaxEmitter(e, op, adaptor).run());
    return success();
  }
};

/// The running maxima of a group, and every warp's own part of the sums.
struct LowerStoreStats : OpConversionPattern<tile::StoreStatsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::StoreStatsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    tile::ScheduleAttr schedule = scheduleOf(op);
    GroupView view(e, schedule);
    tile::SharedType type = op.getStats().getType();
    Value base = e.offset(adaptor.getStats().front(), e.shl(statsRow(e, 0), 2));
    SmallVector<Value> sums;
    for (int64_t i = 0; i < schedule.getRowsPerWarp() / 4; ++i)
      sums.push_back(e.reduceRow(adaptor.getSum()[i], [&](Value a, Value b) { return e.addF(a, b); }));
    inFirstLanes(e, [&] {
      e.when(e.equal(view.warp, 0), [&] { storeRows(e, adaptor.getMaximum(), stageAddress(e, base, type, view.group)); });
      Value plane = e.add(e.mul(view.group, schedule.getTokenWarps()), e.remU(view.warp, schedule.getTokenWarps()));
      Value firstRow = e.mul(e.divU(view.warp, schedule.getTokenWarps()), schedule.getRowsPerWarp());
      Value own = stageAddress(e, base, type, e.add(plane, schedule.getGroups()));
      storeRows(e, sums, e.offset(own, e.shl(firstRow, 2)));
    });
    rewriter.eraseOp(op);
    return success();
  }

  static void storeRows(Emitter &e, ValueRange values, Value base) {
    for (size_t n = 0; n < values.size(); n += 2)
      e.storeVector({values[n], values[n + 1]}, e.offset(base, 16 * int64_t(n)));
  }
};

} // namespace

void mlac::populateSoftmax(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerStoreMaxima, LowerSoftmax, LowerStoreStats>(converter, patterns.getContext());
}

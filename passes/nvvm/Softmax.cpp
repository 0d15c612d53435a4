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

/// Where a lane's first row lies in an array of f32, the warp's rows beginning at `firstRow`.
Value rowAddress(Emitter &e, Value base, Value firstRow) {
  return e.offset(base, e.shl(e.add(firstRow, statsRow(e, 0)), 2));
}

/// A value of each of a lane's rows, [row tile][odd].
SmallVector<Value> loadRows(Emitter &e, Value base, Value firstRow, int64_t rowTiles) {
  SmallVector<Value> values;
  Value address = rowAddress(e, base, firstRow);
  for (int64_t n = 0; n < rowTiles; ++n)
    llvm::append_range(values, e.loadVector(e.f32(), 2, e.offset(address, 32 * n)));
  return values;
}

void storeRows(Emitter &e, ValueRange values, Value base, Value firstRow) {
  Value address = rowAddress(e, base, firstRow);
  for (size_t n = 0; n < values.size(); n += 2)
    e.storeVector({values[n], values[n + 1]}, e.offset(address, 16 * int64_t(n)));
}

struct LowerStoreMaxima : OpConversionPattern<tile::StoreMaximaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::StoreMaximaOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    tile::ScheduleAttr schedule = scheduleOf(op);
    GroupView view(e, schedule);
    SmallVector<Value> maxima = rowMaxima(e, adaptor.getScores(), schedule.getRowsPerWarp() / 8);
    Value plane =
        e.add(e.mul(view.group, schedule.getTokenWarps()), e.remU(view.warp, schedule.getTokenWarps()));
    Value firstRow = e.mul(e.divU(view.warp, schedule.getTokenWarps()), schedule.getRowsPerWarp());
    Value base = stageAddress(e, adaptor.getMaxima().front(), op.getMaxima().getType(), plane);
    inFirstLanes(e, [&] { storeRows(e, maxima, base, firstRow); });
    rewriter.eraseOp(op);
    return success();
  }
};

class SoftmaxEmitter {
public:
  SoftmaxEmitter(Emitter &e, tile::SoftmaxOp op,
                 tile::SoftmaxOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor)
      : e(e), op(op), adaptor(adaptor), schedule(scheduleOf(op)), view(e, schedule),
        rowTiles(schedule.getRowsPerWarp() / 8), rowWarp(e.divU(view.warp, schedule.getTokenWarps())) {}

  /// New references, new sums, shrink factors.
  SmallVector<SmallVector<Value>> run() {
    Stats stats = follow(tileMaxima());
    SmallVector<Value> probs = probabilities(stats);
    if (op.getScales())
      writeScaledProbs(probs);
    else
      writeProbs(probs, /*copies=*/1, 0);
    return {stats.references, stats.sums, stats.shrinks};
  }

private:
  struct Stats {
    SmallVector<Value> references, sums, shrinks;
  };

  /// The rows' maxima over the group's tile.
  SmallVector<Value> tileMaxima() {
    if (!op.getMaxima())
      return rowMaxima(e, adaptor.getScores(), rowTiles);
    tile::SharedType type = op.getMaxima().getType();
    SmallVector<Value> maxima(2 * rowTiles);
    for (int64_t plane = 0; plane < schedule.getTokenWarps(); ++plane) {
      Value index = e.add(e.mul(view.group, schedule.getTokenWarps()), plane);
      Value base = stageAddress(e, adaptor.getMaxima().front(), type, index);
      for (auto [maximum, value] : llvm::zip(maxima, loadRows(e, base, firstRow(), rowTiles)))
        maximum = maximum ? e.maxF(maximum, value) : value;
    }
    return maxima;
  }

  Value firstRow() { return e.mul(rowWarp, schedule.getRowsPerWarp()); }

  /// References that follow the maxima, and sums in their measure. Warps none of whose rows' maxima have
  /// grown beyond the headroom, which is nearly all, skip the work.
  Stats follow(ArrayRef<Value> maxima) {
    ValueRange references = adaptor.getReference(), sums = adaptor.getSum();
    Value any = e.boolean(false);
    SmallVector<Value> grown;
    for (auto [maximum, reference] : llvm::zip(maxima, references)) {
      Value limit = e.addF(reference, e.f32(double(op.getHeadroom())));
      grown.push_back(e.lessF(limit, maximum));
      any = e.bitOr(any, grown.back());
    }
    size_t rows = maxima.size();
    SmallVector<Value> all = e.choose(
        e.call1(Instr::VoteAny, {e.i32(-1), any}),
        [&] {
          SmallVector<Value> moved(3 * rows);
          for (size_t i = 0; i < rows; ++i) {
            moved[i] = e.select(grown[i], maxima[i], references[i]);
            Value shrink = e.exp2(e.subF(references[i], finite(moved[i])));
            moved[rows + i] = e.mulF(sums[i], shrink);
            moved[2 * rows + i] = shrink;
          }
          return moved;
        },
        [&] {
          SmallVector<Value> kept(references);
          llvm::append_range(kept, sums);
          kept.append(rows, e.f32(1.0));
          return kept;
        });
    ArrayRef<Value> parts(all);
    return {SmallVector<Value>(parts.take_front(rows)), SmallVector<Value>(parts.slice(rows, rows)),
            SmallVector<Value>(parts.take_back(rows))};
  }

  /// A row that has seen no token keeps -inf; subtracting 0 then gives exp2(-inf) = 0 instead of NaN.
  Value finite(Value reference) {
    return e.select(e.equalF(reference, e.f32(-kInfinity)), e.f32(0.0), reference);
  }

  /// exp2(score - reference); the warp's own sums take them up.
  SmallVector<Value> probabilities(Stats &stats) {
    SmallVector<Value> references = llvm::map_to_vector(stats.references, [&](Value r) { return finite(r); });
    SmallVector<Value> probs;
    for (auto [index, score] : llvm::enumerate(adaptor.getScores())) {
      int64_t row = index / 4 % rowTiles * 2 + index % 2;
      probs.push_back(e.exp2(e.subF(score, references[row])));
      stats.sums[row] = e.addF(stats.sums[row], probs.back());
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
    Value row = e.add(firstRow(), statsRow(e, 0));
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
      Value pair = lifted(e.call1(pack, {probs[index + 1], probs[index]}));
      e.store(half(pair), e.offset(base, at), 2);
      e.store(half(e.shrU(pair, 16)), e.offset(base, at + type.getPitch()), 2);
    }
  }

  /// Probabilities that meet values which their conversion leaves too small (see Lift): exact, as bf16.
  Value lifted(Value pair) {
    if (!op.getLift())
      return pair;
    Type type = e.vec(2, e.builder.getBF16Type());
    int64_t power = (127 + op.getLift()) << 7; // 2^lift as bf16
    Value factor = e.bitcast(e.i32(power << 16 | power), type);
    return e.bitcast(LLVM::FMulOp::create(e.builder, e.loc, e.bitcast(pair, type), factor), e.i32());
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

/// Runs `body` where a warp speaks for its rows: the first of the warps that share them, in its first lanes.
void inFirstTokenWarp(Emitter &e, tile::ScheduleAttr schedule, const GroupView &view,
                      function_ref<void()> body) {
  inFirstLanes(e, [&] {
    if (schedule.getTokenWarps() == 1)
      return body();
    e.when(e.equal(e.remU(view.warp, schedule.getTokenWarps()), 0), body);
  });
}

Value firstRowOf(Emitter &e, tile::ScheduleAttr schedule, const GroupView &view) {
  return e.mul(e.divU(view.warp, schedule.getTokenWarps()), schedule.getRowsPerWarp());
}

struct LowerShareRows : OpConversionPattern<tile::ShareRowsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::ShareRowsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    tile::ScheduleAttr schedule = scheduleOf(op);
    GroupView view(e, schedule);
    Value base = stageAddress(e, adaptor.getMemory().front(), op.getMemory().getType(), view.group);
    inFirstTokenWarp(e, schedule, view,
                     [&] { storeRows(e, adaptor.getValues(), base, firstRowOf(e, schedule, view)); });
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerAllRows : OpConversionPattern<tile::AllRowsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::AllRowsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    tile::ScheduleAttr schedule = scheduleOf(op);
    GroupView view(e, schedule);
    Value base = stageAddress(e, adaptor.getMemory().front(), op.getMemory().getType(), view.group);
    SmallVector<SmallVector<Value>> results{loadRows(e, base, e.i32(0), schedule.getRows() / 8)};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

/// The references of a group, and every warp's own part of the sums.
struct LowerStoreStats : OpConversionPattern<tile::StoreStatsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::StoreStatsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    tile::ScheduleAttr schedule = scheduleOf(op);
    GroupView view(e, schedule);
    tile::SharedType type = op.getStats().getType();
    Value stats = adaptor.getStats().front(), firstRow = firstRowOf(e, schedule, view);
    SmallVector<Value> sums = llvm::map_to_vector(adaptor.getSum(), [&](Value sum) {
      return e.reduceRow(sum, [&](Value a, Value b) { return e.addF(a, b); });
    });
    inFirstTokenWarp(e, schedule, view, [&] {
      storeRows(e, adaptor.getReference(), stageAddress(e, stats, type, view.group), firstRow);
    });
    inFirstLanes(e, [&] {
      Value plane =
          e.add(e.mul(view.group, schedule.getTokenWarps()), e.remU(view.warp, schedule.getTokenWarps()));
      storeRows(e, sums, stageAddress(e, stats, type, e.add(plane, schedule.getGroups())), firstRow);
    });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlac::populateSoftmax(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerStoreMaxima, LowerSoftmax, LowerShareRows, LowerAllRows, LowerStoreStats>(
      converter, patterns.getContext());
}

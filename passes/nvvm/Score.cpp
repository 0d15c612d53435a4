// A warp's partial scores: S^T = K Q^T over its tokens and its columns.
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

namespace {

/// The 16 x 16 step of a key tile at (token tile, step): what one ldmatrix register or four of them hold.
struct KeyStep {
  int64_t tokenTile, step;
};

class ScoreEmitter {
public:
  ScoreEmitter(Emitter &e, tile::ScoreOp op, ValueRange query, Value ring, Value stage, Instr mma)
      : e(e), schedule(scheduleOf(op)), type(op.getRing().getType()), storage(elementOf(type.getElementType())),
        compute(computeOf(op)), layout(storage, compute), mma(mma), query(query),
        tokenTiles(schedule.getTokensPerWarp() / 16), rowTiles(schedule.getRows() / 8),
        steps(schedule.getStepsPerWarp(type.getColumns())), total(type.getColumns() / 16) {
    Value warp = e.warp();
    firstStep = e.mul(e.remU(warp, schedule.getDimWarps()), steps);
    Value firstToken = e.mul(e.divU(warp, schedule.getDimWarps()), schedule.getTokensPerWarp());
    tile = e.offset(stageAddress(e, ring, type, stage), e.mul(firstToken, type.getPitch()));
    accumulators.assign(tokenTiles * rowTiles * 4, e.f32(0.0));
    nanBits.assign(tokenTiles * 2, Value());
  }

  SmallVector<Value> run() {
    int64_t step = 0;
    for (; step < steps; step += 2)
      guarded(step, [&] { pairOfSteps(step); });
    poisonNaNTokens();
    return accumulators;
  }

private:
  /// Whether some warp has no work at this step: the row's steps do not divide by the dim warps.
  bool uneven(int64_t step) const { return (schedule.getDimWarps() - 1) * steps + step >= total; }

  /// Runs `body`, which updates the accumulators, only in warps that have work at `step`.
  void guarded(int64_t step, function_ref<void()> body) {
    if (!uneven(step))
      return body();
    SmallVector<Value> state = save();
    SmallVector<Value> result = e.choose(
        e.less(e.add(firstStep, step), total),
        [&] {
          body();
          return save();
        },
        [&] { return state; });
    restore(result);
  }

  SmallVector<Value> save() {
    SmallVector<Value> state(accumulators);
    if (scansNaN())
      for (Value &bits : nanBits)
        state.push_back(bits = bits ? bits : e.i32(0));
    return state;
  }
  void restore(ArrayRef<Value> state) {
    llvm::copy(state.take_front(accumulators.size()), accumulators.begin());
    if (scansNaN())
      llvm::copy(state.drop_front(accumulators.size()), nanBits.begin());
  }

  void pairOfSteps(int64_t step) {
    bool hasSecond = step + 1 < steps;
    if (layout.byteStorage() && hasSecond && !uneven(step + 1)) {
      for (int64_t t = 0; t < tokenTiles; ++t)
        byteSteps({t, step}, {t, step + 1});
      return;
    }
    singleStep(step);
    if (hasSecond)
      guarded(step + 1, [&] { singleStep(step + 1); });
  }

  void singleStep(int64_t step) {
    if (!layout.byteStorage()) {
      for (int64_t t = 0; t < tokenTiles; ++t)
        wideStep({t, step});
      return;
    }
    int64_t t = 0;
    for (; t + 1 < tokenTiles; t += 2)
      byteSteps({t, step}, {t + 1, step});
    if (t < tokenTiles)
      lastByteStep({t, step});
  }

  /// Address for this lane: row within a 16-token tile, and for lanes 16 to 31 `upper` bytes further.
  Value laneAddress(KeyStep at, int64_t upper) {
    Value lane = e.lane();
    Value offset = e.add(e.mul(e.bitAnd(lane, 15), type.getPitch()), e.mul(e.shrU(lane, 4), upper));
    Value column = e.mul(firstStep, layout.stepBytes());
    return e.offset(e.offset(tile, e.add(offset, column)), at.tokenTile * 16 * type.getPitch() + at.step * layout.stepBytes());
  }

  /// Two steps of 8-bit storage from one x4 load: the same tokens or the same step.
  void byteSteps(KeyStep a, KeyStep b) {
    int64_t upper = (b.tokenTile - a.tokenTile) * 16 * type.getPitch() + (b.step - a.step) * 16;
    SmallVector<Value> words = e.call(Instr::LdmatrixX4, laneAddress(a, upper));
    multiplyBytes(a, words[0], words[1]);
    multiplyBytes(b, words[2], words[3]);
  }

  void lastByteStep(KeyStep at) {
    SmallVector<Value> words = e.call(Instr::LdmatrixX2, laneAddress(at, 0));
    multiplyBytes(at, words[0], words[1]);
  }

  /// `low` holds tokens 0 to 7, `high` tokens 8 to 15 of the tile.
  void multiplyBytes(KeyStep at, Value low, Value high) {
    scanNaN(2 * at.tokenTile, low);
    scanNaN(2 * at.tokenTile + 1, high);
    auto [a0, a2] = convertBytes(e, low, storage, compute);
    auto [a1, a3] = convertBytes(e, high, storage, compute);
    multiply(at, {a0, a1, a2, a3});
  }

  void wideStep(KeyStep at) {
    SmallVector<Value> words = e.call(Instr::LdmatrixX4, laneAddress(at, 16));
    for (Value &word : words)
      word = convertPair(e, word, storage, compute);
    multiply(at, words);
  }

  void multiply(KeyStep at, ArrayRef<Value> key) {
    for (int64_t n = 0; n < rowTiles; ++n) {
      MutableArrayRef<Value> sums = MutableArrayRef(accumulators).slice((at.tokenTile * rowTiles + n) * 4, 4);
      SmallVector<Value> operands(key);
      operands.push_back(query[(at.step * rowTiles + n) * 2]);
      operands.push_back(query[(at.step * rowTiles + n) * 2 + 1]);
      llvm::append_range(operands, sums);
      llvm::copy(e.call(mma, operands), sums.begin());
    }
  }

  //===-- NaN codes --===//
  // The bit moves to bf16 read the e4m3 NaN code as 480. A scan of the key's bytes finds the code, and the token's
  // scores become NaN, as they are when NaN takes part in a product. Values need no scan: their token's
  // probability is NaN already.

  bool scansNaN() const { return storage == Element::E4M3 && compute == Element::BF16; }

  void scanNaN(int64_t slot, Value word) {
    if (!scansNaN())
      return;
    Value carry = e.bitAnd(e.add(e.bitAnd(word, 0x7f7f7f7f), 0x01010101), 0x80808080);
    nanBits[slot] = nanBits[slot] ? e.bitOr(nanBits[slot], carry) : carry;
  }

  void poisonNaNTokens() {
    if (!scansNaN())
      return;
    Value nan = e.f32(std::numeric_limits<double>::quiet_NaN());
    for (int64_t slot = 0; slot < tokenTiles * 2; ++slot) {
      Value bits = e.reduce(nanBits[slot], 4, [&](Value a, Value b) { return e.bitOr(a, b); });
      Value clean = e.equal(bits, 0);
      for (int64_t n = 0; n < rowTiles; ++n)
        for (int64_t reg : {0, 1}) {
          Value &sum = accumulators[(slot / 2 * rowTiles + n) * 4 + slot % 2 * 2 + reg];
          sum = e.select(clean, sum, nan);
        }
    }
  }

  Emitter &e;
  tile::ScheduleAttr schedule;
  tile::SharedType type;
  Element storage, compute;
  FragmentLayout layout;
  Instr mma;
  ValueRange query;
  int64_t tokenTiles, rowTiles, steps, total;
  Value firstStep, tile;
  SmallVector<Value> accumulators, nanBits;
};

struct LowerScore : OpConversionPattern<tile::ScoreOp> {
  LowerScore(TileTypeConverter &converter, MLIRContext *context, const LoweringOptions &options)
      : OpConversionPattern(converter, context), options(options) {}

  LogicalResult matchAndRewrite(tile::ScoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const MmaRow *mma = findMma(computeOf(op), options.target, options.ptx);
    if (!mma)
      return op.emitError() << "the target has no matrix instruction for these operands [target-mma]";
    Emitter e(rewriter, op);
    ScoreEmitter emitter(e, op, adaptor.getQuery(), adaptor.getRing().front(), adaptor.getStage().front(), mma->op);
    SmallVector<SmallVector<Value>> results{emitter.run()};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

  LoweringOptions options;
};

/// Partial scores to their plane: token along the row, so that the softmax reads vectors.
struct LowerStoreScores : OpConversionPattern<tile::StoreScoresOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::StoreScoresOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    tile::ScheduleAttr schedule = scheduleOf(op);
    tile::SharedType planes = op.getPlanes().getType();
    Value warp = e.warp(), lane = e.lane();
    Value plane = stageAddress(e, adaptor.getPlanes().front(), planes, e.remU(warp, schedule.getDimWarps()));
    Value token = e.add(e.mul(e.divU(warp, schedule.getDimWarps()), schedule.getTokensPerWarp()), e.shrU(lane, 2));
    Value row = e.shl(e.bitAnd(lane, 3), 1);
    Value base = e.offset(plane, e.add(e.mul(row, planes.getPitch()), e.mul(token, 4)));
    int64_t rowTiles = schedule.getRows() / 8;
    for (auto [index, value] : llvm::enumerate(adaptor.getScores())) {
      int64_t reg = index % 4, n = index / 4 % rowTiles, t = index / 4 / rowTiles;
      int64_t at = (8 * n + reg % 2) * planes.getPitch() + (16 * t + 8 * (reg / 2)) * 4;
      e.store(value, e.offset(base, at), 4);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlac::populateScore(TileTypeConverter &converter, RewritePatternSet &patterns, const LoweringOptions &options) {
  patterns.add<LowerScore>(converter, patterns.getContext(), options);
  patterns.add<LowerStoreScores>(converter, patterns.getContext());
}

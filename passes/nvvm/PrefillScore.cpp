// Prefill: a warp's scores, S = Q K^T, and their mask.
#include "passes/nvvm/Prefill.h"
#include "passes/nvvm/ScoreMask.h"

using namespace mlir;
using namespace mlac;

namespace {

/// Accumulator registers are [block of 16 rows][eight tokens][4], of which 0 and 1 are of row g, 2 and 3 of
/// row g + 8.
class RowScorer {
public:
  RowScorer(Emitter &e, tile::ScoreRowsOp op, Value query, Value ring, Value stage, Instr mma)
      : e(e), schedule(prefillOf(op)), type(op.getRing().getType()), queryType(op.getQuery().getType()),
        storage(elementOf(type.getElementType())), compute(computeOf(op)), layout(prefillLayout(storage)),
        mma(mma), rowBlocks(schedule.getRowsPerWarp() / 16), steps(type.getColumns() / 16),
        sums(op.getScores().getType().getRegisters(), e.f32(0.0)) {
    Value lane = e.lane();
    // Lanes 0 to 15 name the rows of a block, lanes 16 to 31 the same rows 16 bytes further.
    Value row = e.add(e.mul(e.warp(), schedule.getRowsPerWarp()), e.bitAnd(lane, 15));
    this->query = e.offset(query, e.add(e.mul(row, queryType.getPitch()), e.shl(e.shrU(lane, 4), 4)));
    // The four matrices of a load are, of 16-bit storage, both halves of a step for eight tokens and for the
    // next eight; of 8-bit storage a step for 32 tokens.
    Value matrix = e.shrU(lane, 3);
    Value token = layout.byteStorage() ? lane : e.add(e.shl(e.shrU(matrix, 1), 3), e.bitAnd(lane, 7));
    key = e.offset(stageAddress(e, ring, type, stage), e.mul(token, type.getPitch()));
    if (!layout.byteStorage())
      key = e.offset(key, e.shl(e.bitAnd(matrix, 1), 4));
  }

  SmallVector<Value> run() {
    int64_t tokens = schedule.getTokens(),
            perLoad = layout.byteStorage() ? std::min<int64_t>(32, tokens) : 16;
    for (int64_t step = 0; step < steps; ++step) {
      loadQuery(step);
      for (int64_t token = 0; token < tokens; token += perLoad)
        layout.byteStorage() ? multiplyBytes(token, step, perLoad) : multiplyWide(token, step);
    }
    return sums;
  }

private:
  /// Operand registers of a step, one quadruple a block.
  void loadQuery(int64_t step) {
    operands.clear();
    for (int64_t block = 0; block < rowBlocks; ++block)
      operands.push_back(
          e.call(Instr::LdmatrixX4, e.offset(query, 16 * block * queryType.getPitch() + 32 * step)));
  }

  Value keyAt(int64_t token, int64_t step) {
    return e.offset(key, token * type.getPitch() + step * layout.stepBytes());
  }

  void multiplyWide(int64_t token, int64_t step) {
    SmallVector<Value> words = e.call(Instr::LdmatrixX4, keyAt(token, step));
    for (Value &word : words)
      word = convertPair(e, word, storage, compute);
    multiply(token / 8, words[0], words[1]);
    multiply(token / 8 + 1, words[2], words[3]);
  }

  /// Each word is a step of eight tokens.
  void multiplyBytes(int64_t token, int64_t step, int64_t tokens) {
    SmallVector<Value> words =
        e.call(tokens == 32 ? Instr::LdmatrixX4 : Instr::LdmatrixX2, keyAt(token, step));
    for (auto [index, word] : llvm::enumerate(words)) {
      SmallVector<Value> pairs = computePairs(e, word, storage, compute);
      multiply(token / 8 + int64_t(index), pairs[0], pairs[1]);
    }
  }

  void multiply(int64_t tokenTile, Value low, Value high) {
    int64_t tokenTiles = schedule.getTokens() / 8;
    for (int64_t block = 0; block < rowBlocks; ++block) {
      MutableArrayRef<Value> sum = MutableArrayRef(sums).slice((block * tokenTiles + tokenTile) * 4, 4);
      SmallVector<Value> arguments(operands[block]);
      arguments.append({low, high});
      llvm::append_range(arguments, sum);
      llvm::copy(e.call(mma, arguments), sum.begin());
    }
  }

  Emitter &e;
  tile::PrefillScheduleAttr schedule;
  tile::SharedType type, queryType;
  Element storage, compute;
  FragmentLayout layout;
  Instr mma;
  int64_t rowBlocks, steps;
  SmallVector<Value> sums;
  Value query, key;
  SmallVector<SmallVector<Value>> operands;
};

struct LowerScoreRows : ProductPattern<tile::ScoreRowsOp> {
  using ProductPattern::ProductPattern;

  LogicalResult matchAndRewrite(tile::ScoreRowsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<Instr> mma = productOf(op);
    if (failed(mma))
      return failure();
    Emitter e(rewriter, op);
    RowScorer scorer(e, op, adaptor.getQuery().front(), adaptor.getRing().front(), adaptor.getStage().front(),
                     *mma);
    SmallVector<SmallVector<Value>> results{scorer.run()};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

/// Of score register `index` ([block of 16 rows][eight tokens][4]) its statistics register, and its token of
/// the tile counted from the lane's first.
int64_t statOfScore(tile::PrefillScheduleAttr schedule, int64_t index) {
  return index / (schedule.getTokens() / 2) * 2 + index % 4 / 2;
}
int64_t columnOfScore(tile::PrefillScheduleAttr schedule, int64_t index) {
  return index % (schedule.getTokens() / 2) / 4 * 8 + index % 2;
}

/// Hides tokens in the tiles that need it: those at the end of the request's tokens, with a causal mask those
/// on its diagonal, with a window those that it begins in.
class RowMasker {
public:
  RowMasker(Emitter &e, tile::MaskRowsOp op, const ItemView &item, Value first, ValueRange scores)
      : e(e), op(op), schedule(prefillOf(op)), item(item), first(first), scores(scores) {}

  /// The two ends of what rows see are masked one after the other: a tile is seldom cut at both, and their
  /// bounds are not held at once.
  SmallVector<Value> run() {
    // The first row of a warp sees the least.
    Value row = e.add(item.rowBegin, e.mul(e.warp(), schedule.getRowsPerWarp()));
    Value cut = e.less(visibleTokens(row), e.add(first, schedule.getTokens()));
    SmallVector<Value> result = e.choose(cut, [&] { return maskedAtEnd(); }, [&] { return scores; });
    if (!op.getWindow())
      return result;
    scores = result;
    // The last row's window begins last.
    cut = e.less(first, firstVisible(e.add(row, schedule.getRowsPerWarp() - 1)));
    return e.choose(cut, [&] { return maskedAtBeginning(); }, [&] { return scores; });
  }

private:
  /// Cached tokens before the query token of a packed row.
  Value positionOf(Value packed) {
    int64_t heads = headsPerKvOf(op);
    Value earlier = e.sub(item.kvLen, e.divU(item.rows, heads));
    return e.add(earlier, e.divU(packed, heads));
  }

  /// Tokens [0, n) that a packed row may see. Of a row past the request's end, which is not stored, n may lie
  /// past the tokens' end.
  Value visibleTokens(Value packed) { return op.getCausal() ? e.add(positionOf(packed), 1) : item.kvLen; }

  /// Where a packed row's window begins.
  Value firstVisible(Value packed) { return e.sub(positionOf(packed), e.i32(*op.getWindow())); }

  /// A bound of each statistics register, counted from `start`; `byRow`: rows differ in it.
  SmallVector<Value> boundsFrom(Value start, bool byRow, function_ref<Value(Value)> boundOf) {
    SmallVector<Value> bounds;
    for (int64_t i = 0; i < schedule.getRowsPerWarp() / 8; ++i)
      if (i == 0 || (byRow && headsPerKvOf(op) > 1))
        bounds.push_back(e.sub(boundOf(e.add(item.rowBegin, warpRow(e, schedule, i))), start));
      else // one register tells of all rows
        bounds.push_back(byRow ? e.add(bounds[0], i / 2 * 16 + i % 2 * 8) : bounds[0]);
    return bounds;
  }

  /// Visible tokens are counted from this lane's first of the tile.
  Value laneStart() { return e.add(first, e.shl(e.bitAnd(e.lane(), 3), 1)); }

  SmallVector<Value> maskedAtEnd() {
    SmallVector<Value> ends =
        boundsFrom(laneStart(), op.getCausal(), [&](Value row) { return visibleTokens(row); });
    return select([&](Value token, int64_t stat) { return e.less(token, ends[stat]); }, true);
  }

  SmallVector<Value> maskedAtBeginning() {
    SmallVector<Value> begins = boundsFrom(laneStart(), true, [&](Value row) { return firstVisible(row); });
    return select([&](Value token, int64_t stat) { return e.less(token, begins[stat]); }, false);
  }

  /// The scores whose condition on (token of the tile, statistics register) is `wanted`; -inf for the others.
  SmallVector<Value> select(function_ref<Value(Value, int64_t)> condition, bool wanted) {
    Value hidden = e.f32(-std::numeric_limits<double>::infinity());
    SmallVector<Value> result;
    for (auto [index, score] : llvm::enumerate(scores)) {
      Value token = e.i32(columnOfScore(schedule, int64_t(index)));
      Value holds = condition(token, statOfScore(schedule, int64_t(index)));
      result.push_back(wanted ? e.select(holds, score, hidden) : e.select(holds, hidden, score));
    }
    return result;
  }

  Emitter &e;
  tile::MaskRowsOp op;
  tile::PrefillScheduleAttr schedule;
  const ItemView &item;
  Value first; // token of the tile
  SmallVector<Value> scores;
};

struct LowerMaskRows : OpConversionPattern<tile::MaskRowsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::MaskRowsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    ItemView item(adaptor.getItem());
    Value first = e.mul(adaptor.getTile().front(), prefillOf(op).getTokens());
    SmallVector<Value> scores(adaptor.getScores());
    if (op.getScale())
      scores = edited(e, op, item, first, adaptor, rewriter);
    SmallVector<SmallVector<Value>> results{RowMasker(e, op, item, first, scores).run()};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

  /// Bounds are left to the masker, which most tiles do not need.
  static SmallVector<Value> edited(Emitter &e, tile::MaskRowsOp op, const ItemView &item, Value first,
                                   OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) {
    tile::PrefillScheduleAttr schedule = prefillOf(op);
    ScoreRules rules{false, std::nullopt, &op.getEdit(),
                     [&](Value value) { return rewriter.getRemappedValue(value); }};
    ScoreFinisher finisher = beforeLoop(e, op, item, [&] {
      int64_t heads = headsPerKvOf(op);
      return ScoreFinisher(e, rules, rowsOf(e, schedule, item, heads),
                           {e.divU(item.rows, heads), item.kvLen});
    });
    ScorePlaces places;
    Value start = e.add(first, e.shl(e.bitAnd(e.lane(), 3), 1));
    for (int64_t tile = 0; tile < schedule.getTokens() / 8; ++tile)
      for (int64_t odd : {0, 1})
        places.tokens.push_back(e.add(start, 8 * tile + odd));
    places.rowOf = [=](size_t index) { return size_t(statOfScore(schedule, int64_t(index))); };
    places.tokenOf = [=](size_t index) {
      return index % size_t(schedule.getTokens() / 2) / 4 * 2 + index % 2;
    };
    return finisher.edited(e, adaptor.getScale().front(), places, adaptor.getScores());
  }

  static SmallVector<ScoreRow> rowsOf(Emitter &e, tile::PrefillScheduleAttr schedule, const ItemView &item,
                                      int64_t heads) {
    SmallVector<ScoreRow> rows;
    for (int64_t i = 0; i < schedule.getRowsPerWarp() / 8; ++i) {
      Value packed = e.add(item.rowBegin, warpRow(e, schedule, i));
      auto [token, head] = tokenAndHead(e, item, packed, heads);
      rows.push_back({token, head, e.less(packed, item.rows)});
    }
    return rows;
  }
};

} // namespace

void mlac::populatePrefillScore(TileTypeConverter &converter, RewritePatternSet &patterns,
                                const LoweringOptions &options) {
  patterns.add<LowerScoreRows>(converter, patterns.getContext(), options);
  patterns.add<LowerMaskRows>(converter, patterns.getContext());
}

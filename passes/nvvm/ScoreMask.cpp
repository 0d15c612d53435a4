// Scale, edit and mask of scores.
#include "passes/nvvm/ScoreMask.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlac;

ScoreRow mlac::packedRow(Emitter &e, const ItemView &item, Value packed, int64_t heads) {
  auto [token, head] = tokenAndHead(e, packed, heads);
  return {token, head, e.less(packed, item.rows)};
}

//===-- Rows -------------------------------------------------------------------------------------------===//

ScoreFinisher::ScoreFinisher(Emitter &e, ScoreRules given, ArrayRef<ScoreRow> scoreRows,
                             const ScoreLengths &lengths)
    : rules(std::move(given)) {
  for (const ScoreRow &row : scoreRows)
    rows.push_back(prepare(e, row, lengths));
}

ScoreFinisher::RowState ScoreFinisher::prepare(Emitter &e, const ScoreRow &row,
                                               const ScoreLengths &lengths) const {
  RowState state;
  Value behind = e.sub(lengths.query, row.queryToken), end = lengths.cached;
  if (rules.causal)
    end = e.minS(end, e.add(e.sub(lengths.cached, behind), 1));
  state.end = e.select(row.inside, end, e.i32(0)); // nothing for a row past the request's end
  if (rules.window)
    state.first = e.sub(e.sub(lengths.cached, behind), e.i32(*rules.window));
  if (!rules.edits())
    return state;
  state.position = e.sub(lengths.cached, behind);
  state.head = row.head;
  for (auto value : rules.edit->getOps<mla::HeadValueOp>())
    state.headValues.push_back({value, loadHeadValue(e, rules.captured(value.getValues()), row.head)});
  return state;
}

Value ScoreFinisher::isVisible(Emitter &e, const RowState &row, Value token) const {
  Value visible = e.less(token, row.end);
  return row.first ? e.both(visible, e.less(e.add(row.first, -1), token)) : visible;
}

//===-- Edits ------------------------------------------------------------------------------------------===//

static Value divide(Emitter &e, arith::DivFOp division, Value value, Value by) {
  Value inverse = e.reciprocal(by);
  return matchPattern(division.getLhs(), m_OneFloat()) ? inverse : e.mulF(value, inverse);
}

/// One op of an edit on operands of its own.
static Value emitEdited(Emitter &e, Operation *op, ArrayRef<Value> operands) {
  if (isa<math::Exp2Op>(op))
    return e.exp2(operands[0]);
  if (isa<math::AbsFOp>(op))
    return LLVM::FAbsOp::create(e.builder, e.loc, operands[0]);
  if (isa<math::AbsIOp>(op))
    return arith::MaxSIOp::create(e.builder, e.loc, operands[0], e.sub(e.i32(0), operands[0]));
  if (auto division = dyn_cast<arith::DivFOp>(op))
    return divide(e, division, operands[0], operands[1]);
  IRMapping mapping;
  mapping.map(op->getOperands(), operands);
  return e.builder.clone(*op, mapping)->getResult(0);
}

/// The edited score, and where it counts (null: everywhere). What is computed of a row or a token alone comes
/// out the same for several scores, and common subexpressions are left to CSE.
std::pair<Value, Value> ScoreFinisher::edit(Emitter &e, const RowState &row, Value score, Value token) const {
  Block &body = rules.edit->front();
  IRMapping values;
  values.map(body.getArguments(), ValueRange{score, row.position, token, row.head});
  for (auto [op, value] : row.headValues)
    values.map(op->getResult(0), value);
  auto at = [&](Value value) {
    Value inside = values.lookupOrNull(value);
    return inside ? inside : rules.captured(value);
  };
  for (Operation &op : body.without_terminator())
    if (!isa<mla::HeadValueOp>(op))
      values.map(op.getResult(0), emitEdited(e, &op, llvm::map_to_vector(op.getOperands(), at)));
  auto yield = cast<mla::YieldOp>(body.getTerminator());
  return {at(yield.getScore()), yield.getKeep() ? at(yield.getKeep()) : Value()};
}

SmallVector<Value> ScoreFinisher::finish(Emitter &e, Value scale, const ScorePlaces &places,
                                         ValueRange scores) const {
  Value hidden = e.f32(-std::numeric_limits<double>::infinity());
  SmallVector<Value> result;
  for (auto [index, score] : llvm::enumerate(scores)) {
    const RowState &row = rows[places.rowOf(index)];
    Value token = places.tokens[places.tokenOf(index)], keep;
    Value visible = isVisible(e, row, token), value = e.mulF(score, scale);
    if (rules.edits())
      std::tie(value, keep) = edit(e, row, value, token);
    if (keep)
      visible = e.both(visible, keep);
    result.push_back(e.select(visible, value, hidden));
  }
  return result;
}

SmallVector<Value> ScoreFinisher::edited(Emitter &e, Value scale, const ScorePlaces &places,
                                         ValueRange scores) const {
  Value hidden = e.f32(-std::numeric_limits<double>::infinity());
  SmallVector<Value> result;
  for (auto [index, score] : llvm::enumerate(scores)) {
    Value value = e.mulF(score, scale), keep;
    if (rules.edits())
      std::tie(value, keep) = edit(e, rows[places.rowOf(index)], value, places.tokens[places.tokenOf(index)]);
    result.push_back(keep ? e.select(keep, value, hidden) : value);
  }
  return result;
}

//===-- tile.mask_scores -------------------------------------------------------------------------------===//

namespace {

/// Accumulator registers are [token tile][row tile][4], of which 0 and 1 are of token g, 2 and 3 of token g
/// + 8.
struct LowerMaskScores : OpConversionPattern<tile::MaskScoresOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::MaskScoresOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    tile::ScheduleAttr schedule = scheduleOf(op);
    ItemView item(adaptor.getItem());
    ScoreRules rules{op.getCausal(), op.getWindow(), &op.getEdit(),
                     [&](Value value) { return rewriter.getRemappedValue(value); }};
    ScoreFinisher finisher = beforeLoop(e, op, item, [&] {
      int64_t heads = headsOf(op);
      return ScoreFinisher(e, rules, rowsOf(e, schedule, item, heads),
                           {e.divU(item.rows, heads), item.kvLen});
    });
    ScorePlaces places = placesOf(e, schedule, adaptor.getTile().front());
    SmallVector<SmallVector<Value>> results{
        finisher.finish(e, adaptor.getScale().front(), places, adaptor.getScores())};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

  static SmallVector<ScoreRow> rowsOf(Emitter &e, tile::ScheduleAttr schedule, const ItemView &item,
                                      int64_t heads) {
    GroupView view(e, schedule);
    Value firstRow = e.mul(e.divU(view.warp, schedule.getTokenWarps()), schedule.getRowsPerWarp());
    SmallVector<ScoreRow> rows;
    for (int64_t i = 0; i < schedule.getRowsPerWarp() / 4; ++i)
      rows.push_back(packedRow(e, item, e.add(item.rowBegin, e.add(firstRow, statsRow(e, i))), heads));
    return rows;
  }

  static ScorePlaces placesOf(Emitter &e, tile::ScheduleAttr schedule, Value tileIndex) {
    GroupView view(e, schedule);
    int64_t rowTiles = schedule.getRowsPerWarp() / 8, tokenTiles = schedule.getTokensPerWarp() / 16;
    Value tile = e.add(e.mul(tileIndex, schedule.getGroups()), view.group);
    Value token = e.add(e.mul(tile, schedule.getTokens()), e.shrU(e.lane(), 2));
    token = e.add(token, e.mul(e.remU(view.warp, schedule.getTokenWarps()), schedule.getTokensPerWarp()));
    ScorePlaces places;
    for (int64_t i = 0; i < 2 * tokenTiles; ++i)
      places.tokens.push_back(e.add(token, 8 * i));
    places.rowOf = [=](size_t index) { return index / 4 % rowTiles * 2 + index % 2; };
    places.tokenOf = [=](size_t index) { return index / 4 / rowTiles * 2 + index % 4 / 2; };
    return places;
  }
};

} // namespace

void mlac::populateScoreMask(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerMaskScores>(converter, patterns.getContext());
}

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

namespace {

//===-- Edits ------------------------------------------------------------------------------------------===//

/// Runs an edit on one score. What it computes of rows and tokens alone comes out the same for several scores; common
/// subexpressions are left to CSE.
class EditEmitter {
public:
  EditEmitter(Emitter &e, const ScoreRules &rules) : e(e), rules(rules) {}

  /// The new score, and where it counts (null: everywhere).
  std::pair<Value, Value> run(Value score, Value queryPosition, Value token, Value head) {
    Block &body = rules.edit->front();
    values.clear();
    values.map(body.getArguments(), ValueRange{score, queryPosition, token, head});
    this->head = head;
    for (Operation &op : body.without_terminator())
      values.map(op.getResult(0), emit(&op));
    auto yield = cast<mla::YieldOp>(body.getTerminator());
    return {at(yield.getScore()), yield.getKeep() ? at(yield.getKeep()) : Value()};
  }

private:
  Value at(Value value) {
    if (Value inside = values.lookupOrNull(value))
      return inside;
    return rules.captured(value);
  }

  Value emit(Operation *op) {
    if (auto value = dyn_cast<mla::HeadValueOp>(op))
      return loadHeadValue(e, at(value.getValues()), head);
    if (isa<math::Exp2Op>(op))
      return e.exp2(at(op->getOperand(0)));
    if (isa<math::AbsFOp>(op))
      return LLVM::FAbsOp::create(e.builder, e.loc, at(op->getOperand(0)));
    if (isa<math::AbsIOp>(op))
      return absolute(at(op->getOperand(0)));
    if (auto division = dyn_cast<arith::DivFOp>(op))
      return divide(at(division.getLhs()), at(division.getRhs()), matchPattern(division.getLhs(), m_OneFloat()));
    IRMapping operands;
    for (Value operand : op->getOperands())
      operands.map(operand, at(operand));
    return e.builder.clone(*op, operands)->getResult(0);
  }

  Value absolute(Value value) {
    return arith::MaxSIOp::create(e.builder, e.loc, value, e.sub(e.i32(0), value));
  }

  Value divide(Value value, Value by, bool valueIsOne) {
    Value inverse = e.reciprocal(by);
    return valueIsOne ? inverse : e.mulF(value, inverse);
  }

  Emitter &e;
  const ScoreRules &rules;
  IRMapping values;
  Value head;
};

//===-- Masks ------------------------------------------------------------------------------------------===//

/// What a row may see: tokens [first, end); `first` is null where it is 0.
struct Visible {
  Value first, end;
};

/// Nothing for a row past the request's end.
Visible visibleTokens(Emitter &e, const ScoreRules &rules, const ScoreLengths &lengths, const ScoreRow &row) {
  Value end = lengths.cached, first;
  Value behind = e.sub(lengths.query, row.queryToken);
  if (rules.causal)
    end = e.minS(end, e.add(e.sub(lengths.cached, behind), 1));
  if (rules.window)
    first = e.sub(e.sub(lengths.cached, behind), e.i32(*rules.window));
  return {first, e.select(row.inside, end, e.i32(0))};
}

bool isEdited(const ScoreRules &rules) { return rules.edit && !rules.edit->empty(); }

} // namespace

SmallVector<Value> mlac::finishScores(Emitter &e, const ScoreRules &rules, const ScorePlaces &places,
                                      const ScoreLengths &lengths, ValueRange scores) {
  SmallVector<Visible> bounds;
  SmallVector<Value> positions;
  for (const ScoreRow &row : places.rows) {
    bounds.push_back(visibleTokens(e, rules, lengths, row));
    if (isEdited(rules))
      positions.push_back(e.add(row.queryToken, e.sub(lengths.cached, lengths.query)));
  }
  EditEmitter edit(e, rules);
  Value hidden = e.f32(-std::numeric_limits<double>::infinity());
  SmallVector<Value> result;
  for (auto [index, score] : llvm::enumerate(scores)) {
    size_t row = places.rowOf(index);
    Value token = places.tokens[places.tokenOf(index)];
    Value visible = e.less(token, bounds[row].end), keep;
    if (bounds[row].first)
      visible = e.both(visible, e.less(e.sub(bounds[row].first, e.i32(1)), token));
    Value value = e.mulF(score, rules.scale);
    if (isEdited(rules))
      std::tie(value, keep) = edit.run(value, positions[row], token, places.rows[row].head);
    if (keep)
      visible = e.both(visible, keep);
    result.push_back(e.select(visible, value, hidden));
  }
  return result;
}

namespace {

/// Accumulator registers are [token tile][row tile][4], of which 0 and 1 are of token g, 2 and 3 of token g + 8.
struct LowerMaskScores : OpConversionPattern<tile::MaskScoresOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::MaskScoresOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    ItemView item(adaptor.getItem());
    int64_t heads = headsOf(op);
    ScoreRules rules{adaptor.getScale().front(), op.getCausal(), op.getWindow(), &op.getEdit(),
                     [&](Value value) { return rewriter.getRemappedValue(value); }};
    ScorePlaces places = placesOf(e, scheduleOf(op), item, adaptor.getTile().front(), heads);
    ScoreLengths lengths{e.divU(item.rows, heads), item.kvLen};
    SmallVector<SmallVector<Value>> results{finishScores(e, rules, places, lengths, adaptor.getScores())};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

  static ScorePlaces placesOf(Emitter &e, tile::ScheduleAttr schedule, const ItemView &item, Value tileIndex,
                              int64_t heads) {
    GroupView view(e, schedule);
    int64_t rowTiles = schedule.getRowsPerWarp() / 8, tokenTiles = schedule.getTokensPerWarp() / 16;
    Value tile = e.add(e.mul(tileIndex, schedule.getGroups()), view.group);
    Value token = e.add(e.mul(tile, schedule.getTokens()), e.shrU(e.lane(), 2));
    token = e.add(token, e.mul(e.remU(view.warp, schedule.getTokenWarps()), schedule.getTokensPerWarp()));
    Value firstRow = e.mul(e.divU(view.warp, schedule.getTokenWarps()), schedule.getRowsPerWarp());
    ScorePlaces places;
    for (int64_t i = 0; i < 2 * rowTiles; ++i)
      places.rows.push_back(packedRow(e, item, e.add(item.rowBegin, e.add(firstRow, statsRow(e, i))), heads));
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

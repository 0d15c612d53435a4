// Scale and mask of scores.
#include "passes/nvvm/ScoreMask.h"

using namespace mlir;
using namespace mlac;

ScoreRow mlac::packedRow(Emitter &e, const ItemView &item, Value packed, int64_t heads) {
  auto [token, head] = tokenAndHead(e, packed, heads);
  return {token, head, e.less(packed, item.rows)};
}

/// Tokens [0, n) that a row may see; 0 for a row past the request's end.
static Value visibleTokens(Emitter &e, const ScoreRules &rules, const ScoreLengths &lengths, const ScoreRow &row) {
  Value limit = lengths.cached;
  if (rules.causal) {
    Value behind = e.sub(lengths.query, row.queryToken);
    limit = e.minS(limit, e.add(e.sub(lengths.cached, behind), 1));
  }
  return e.select(row.inside, limit, e.i32(0));
}

SmallVector<Value> mlac::finishScores(Emitter &e, const ScoreRules &rules, const ScorePlaces &places,
                                      const ScoreLengths &lengths, ValueRange scores) {
  SmallVector<Value> limits = llvm::map_to_vector(
      places.rows, [&](const ScoreRow &row) { return visibleTokens(e, rules, lengths, row); });
  Value hidden = e.f32(-std::numeric_limits<double>::infinity());
  SmallVector<Value> masked;
  for (auto [index, score] : llvm::enumerate(scores)) {
    Value visible = e.less(places.tokens[places.tokenOf(index)], limits[places.rowOf(index)]);
    masked.push_back(e.select(visible, e.mulF(score, rules.scale), hidden));
  }
  return masked;
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
    ScoreRules rules{adaptor.getScale().front(), op.getCausal()};
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

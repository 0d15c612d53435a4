// The stream of KV tiles that a block copies. It runs ahead of what the block computes, over the ends of items: the next
// item's first tiles are under way while this one's results are stored.
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

WorkItem::WorkItem(Emitter &e, const PlanView &plan, Value index)
    : address(e.offset(plan.work, e.mul(e.widen(index), 32))) {}

std::pair<Value, Value> mlac::blockItems(Emitter &e, const PlanView &plan) {
  Value range = e.offset(plan.workIndptr, e.mul(e.widen(e.call1(Instr::BlockId, {})), 4));
  return {e.load(e.i32(), range, 4), e.load(e.i32(), e.offset(range, 4), 4)};
}

namespace {

/// The cursor itself where it stands on a tile, else on the first tile of the next item that has any. Past the last item
/// the tile stays at the end of its range, so that no row is valid.
SmallVector<Value> settle(Emitter &e, const PlanView &plan, const CursorView &cursor) {
  SmallVector<Value> fields = cursor.pack();
  auto before = [&](OpBuilder &, Location, ValueRange values) {
    CursorView at(values);
    Value ended = e.lessOrEqual(at.tileEnd, at.tile);
    scf::ConditionOp::create(e.builder, e.loc, e.both(ended, e.less(at.next, at.last)), values);
  };
  auto after = [&](OpBuilder &, Location, ValueRange values) {
    CursorView at(values);
    WorkItem work(e, plan, at.next);
    at.request = work.request(e);
    at.tile = work.field(e, 2);
    at.tileEnd = work.field(e, 3);
    at.kvLen = e.load(e.i32(), e.offset(plan.kvLen, e.mul(e.widen(at.request), 4)), 4);
    at.next = e.add(at.next, 1);
    scf::YieldOp::create(e.builder, e.loc, at.pack());
  };
  OpBuilder::InsertionGuard guard(e.builder);
  auto loop = scf::WhileOp::create(e.builder, e.loc, TypeRange(ValueRange(fields)), fields, before, after);
  return SmallVector<Value>(loop.getResults());
}

struct LowerStream : OpConversionPattern<tile::StreamOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::StreamOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    PlanView plan(adaptor.getPlan());
    auto [begin, end] = blockItems(e, plan);
    Value zero = e.i32(0);
    SmallVector<SmallVector<Value>> results{
        settle(e, plan, CursorView(SmallVector<Value>{begin, end, zero, zero, zero, zero}))};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct LowerAdvance : OpConversionPattern<tile::AdvanceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::AdvanceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    CursorView cursor(adaptor.getCursor());
    cursor.tile = e.add(cursor.tile, 1);
    SmallVector<SmallVector<Value>> results{settle(e, PlanView(adaptor.getPlan()), cursor)};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

void mlac::populateStream(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerStream, LowerAdvance>(converter, patterns.getContext());
}

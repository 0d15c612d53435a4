// The stream of KV tiles that a block copies. It runs ahead of what the block computes, over the ends of items: the next
// item's first tiles are under way while this one's results are stored.
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

SmallVector<Value> mlac::loadItem(Emitter &e, const PlanView &plan, Value index) {
  Value address = e.offset(plan.work, e.mul(e.widen(index), 32));
  SmallVector<Value> fields = e.loadVector(e.i32(), 4, address);
  llvm::append_range(fields, e.loadVector(e.i32(), 4, e.offset(address, 16)));
  fields.push_back(index);
  return fields;
}

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
    ItemView item(loadItem(e, plan, at.next));
    at.request = item.request;
    at.tile = item.tileBegin;
    at.tileEnd = item.tileEnd;
    at.kvLen = item.kvLen;
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

/// The item at `index` where that is before `end`, else one without rows.
SmallVector<Value> itemBefore(Emitter &e, const PlanView &plan, Value index, Value end) {
  return e.choose(
      e.less(index, end), [&] { return loadItem(e, plan, index); },
      [&] { return SmallVector<Value>(9, e.i32(0)); });
}

struct LowerFirstItem : OpConversionPattern<tile::FirstItemOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::FirstItemOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    PlanView plan(adaptor.getPlan());
    auto [begin, end] = blockItems(e, plan);
    SmallVector<SmallVector<Value>> results{itemBefore(e, plan, begin, end)};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct LowerNextItem : OpConversionPattern<tile::NextItemOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::NextItemOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    PlanView plan(adaptor.getPlan());
    Value index = e.add(ItemView(adaptor.getItem()).index, 1), end = blockItems(e, plan).second;
    SmallVector<SmallVector<Value>> results{itemBefore(e, plan, index, end)};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

void mlac::populateStream(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerStream, LowerAdvance, LowerFirstItem, LowerNextItem>(converter, patterns.getContext());
}

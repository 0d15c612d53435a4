// The stream of KV tiles that a block copies. It runs ahead of what the block computes, over the ends of items: the next
// item's first tiles are under way while this one's results are stored.
#include "passes/nvvm/Loops.h"
#include "passes/nvvm/Lowering.h"

#include "runtime/Abi.h"

using namespace mlir;
using namespace mlac;

static Value itemAddress(Emitter &e, const PlanView &plan, Value index) {
  return e.offset(plan.work, e.mul(e.widen(index), sizeof(::mla::WorkItem)));
}

SmallVector<Value> mlac::loadItem(Emitter &e, const PlanView &plan, Value index, Value last) {
  Value address = itemAddress(e, plan, index), zero = e.i32(0);
  SmallVector<Value> fields = e.loadVector(e.i32(), 4, address);
  llvm::append_range(fields, e.loadVector(e.i32(), 4, e.offset(address, 16)));
  llvm::append_range(fields, ValueRange{zero, zero, index, last});
  return fields;
}

SmallVector<Value> mlac::loadPrefillItem(Emitter &e, const PlanView &plan, Value index, Value last) {
  Value address = itemAddress(e, plan, index);
  SmallVector<Value> fields; // one by one: a vector's neighbouring registers cost prefill a spill
  for (int64_t field = 0; field < 10; ++field)
    fields.push_back(e.load(e.i32(), e.offset(address, 4 * field), 4));
  llvm::append_range(fields, ValueRange{index, last});
  return fields;
}

std::pair<Value, Value> mlac::blockItems(Emitter &e, const PlanView &plan) {
  Value range = e.offset(plan.workIndptr, e.mul(e.widen(e.call1(Instr::BlockId, {})), 4));
  return {e.load(e.i32(), range, 4), e.load(e.i32(), e.offset(range, 4), 4)};
}

namespace {

/// The cursor itself where it stands on a tile, else on the first tile of the next item that has any. Past the last item
/// the tile stays at the end of its range, so that no row is valid.
Values settle(Emitter &e, const PlanView &plan, const CursorView &cursor) {
  auto ended = [&](ValueRange values) {
    CursorView at(values);
    return e.both(e.lessOrEqual(at.tileEnd, at.tile), e.less(at.next, at.last));
  };
  auto nextItem = [&](ValueRange values) {
    CursorView at(values);
    ItemView item(loadItem(e, plan, at.next, at.last));
    return CursorView(Values{e.add(at.next, 1), at.last, item.request, item.tileBegin, item.tileEnd, item.kvLen}).pack();
  };
  return whileTrue(e, cursor.pack(), ended, nextItem);
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

struct LowerFirstItem : OpConversionPattern<tile::FirstItemOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::FirstItemOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    PlanView plan(adaptor.getPlan());
    auto [begin, end] = blockItems(e, plan);
    SmallVector<SmallVector<Value>> results{e.choose(
        e.less(begin, end), [&] { return loadItem(e, plan, begin, end); },
        [&] { return SmallVector<Value>(ItemView::kRegisters, e.i32(0)); })};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

/// No branch, so that what follows does not wait for the item's fields: after the last item it is loaded again, without rows.
struct LowerNextItem : OpConversionPattern<tile::NextItemOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::NextItemOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    ItemView item(adaptor.getItem());
    Value next = e.add(item.index, 1), exists = e.less(next, item.last);
    ItemView after(loadItem(e, PlanView(adaptor.getPlan()), e.select(exists, next, item.index), item.last));
    after.rows = e.select(exists, after.rows, e.i32(0));
    SmallVector<SmallVector<Value>> results{after.pack()};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

void mlac::populateStream(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerStream, LowerAdvance, LowerFirstItem, LowerNextItem>(converter, patterns.getContext());
}

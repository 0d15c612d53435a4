// Fragments that are not products: zeros and the query's operand.
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

namespace {

struct LowerZero : OpConversionPattern<tile::ZeroOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::ZeroOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    Value zero = e.f32(0.0);
    SmallVector<SmallVector<Value>> results{SmallVector<Value>(op.getType().getRegisters(), zero)};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

/// Loads a warp's columns of the item's rows. Registers are ordered [step][row tile][pair].
class QueryLoader {
public:
  QueryLoader(Emitter &e, tile::QueryFragmentOp op, const HeadsView &query, const ItemView &item)
      : e(e), schedule(scheduleOf(op)), layout(elementOf(op.getStorage()), computeOf(op)),
        from(elementOf(op.getSource().getType().getElementType())), to(computeOf(op)), heads(headsOf(op)),
        width(op.getSource().getType().getWidth()), query(query), item(item) {}

  SmallVector<Value> load() {
    int64_t steps = schedule.getStepsPerWarp(width), rowTiles = schedule.getRows() / 8;
    Value first = e.mul(e.remU(e.warp(), schedule.getDimWarps()), steps);
    SmallVector<Value> rows, valid;
    for (int64_t n = 0; n < rowTiles; ++n)
      locateRow(n, rows, valid);
    SmallVector<Value> registers;
    for (int64_t step = 0; step < steps; ++step)
      // A warp past the row's end reloads its last step; its products are skipped.
      for (auto [row, inside] : llvm::zip(rows, valid))
        registers.append(loadStep(row, inside, e.minS(e.add(first, step), e.i32(width / 16 - 1))));
    return registers;
  }

private:
  /// Address of this lane's part of packed row 8 n + g. Rows past the end point at the item's first and read as 0.
  void locateRow(int64_t n, SmallVectorImpl<Value> &rows, SmallVectorImpl<Value> &valid) {
    Value row = e.add(item.rowBegin, e.add(e.shrU(e.lane(), 2), 8 * n));
    Value inside = e.less(row, item.rows);
    auto [token, head] = tokenAndHead(e, e.select(inside, row, item.rowBegin), heads);
    Value address = query.address(e, e.add(item.queryBegin, token), head, 2);
    Value column = e.bitAnd(e.lane(), 3);
    rows.push_back(e.offset(address, e.widen(e.mul(column, layout.byteStorage() ? 8 : 4))));
    valid.push_back(inside);
  }

  /// The two pairs of one 16-wide step, in the layout's order.
  SmallVector<Value> loadStep(Value row, Value inside, Value step) {
    Value address = e.offset(row, e.widen(e.mul(step, 32)));
    SmallVector<Value> pairs;
    if (layout.byteStorage())
      pairs = e.loadVector(e.i32(), 2, address);
    else
      pairs = {e.load(e.i32(), address, 4), e.load(e.i32(), e.offset(address, 16), 4)};
    for (Value &pair : pairs)
      pair = convertPair(e, e.select(inside, pair, e.i32(0)), from, to);
    if (layout.pairOrder() == PairOrder::Interleaved)
      pairs = {e.call1(Instr::Permute, {pairs[0], pairs[1], e.i32(0x5410)}),
               e.call1(Instr::Permute, {pairs[0], pairs[1], e.i32(0x7632)})};
    return pairs;
  }

  Emitter &e;
  tile::ScheduleAttr schedule;
  FragmentLayout layout;
  Element from, to;
  int64_t heads, width;
  const HeadsView &query;
  const ItemView &item;
};

struct LowerQueryFragment : OpConversionPattern<tile::QueryFragmentOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::QueryFragmentOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    HeadsView query(adaptor.getSource());
    ItemView item(adaptor.getItem());
    SmallVector<SmallVector<Value>> results{QueryLoader(e, op, query, item).load()};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

void mlac::populateFragments(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerZero, LowerQueryFragment>(converter, patterns.getContext());
}

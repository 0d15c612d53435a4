// The item's query rows, in shared memory and in the order that the key's fragments want.
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

namespace {

/// Copies the rows 16 columns at a time; the block's threads share the pieces.
class QueryLoader {
public:
  QueryLoader(Emitter &e, tile::LoadQueryOp op, const HeadsView &query, const ItemView &item, Value shared)
      : e(e), schedule(scheduleOf(op)), type(op.getQuery().getType()),
        layout(elementOf(op.getStorage()), computeOf(op)),
        from(elementOf(op.getSource().getType().getElementType())), to(computeOf(op)), heads(headsOf(op)),
        steps(op.getSource().getType().getWidth() / 16), query(query), item(item), shared(shared) {}

  void run() {
    int64_t pieces = schedule.getRows() * steps, threads = schedule.getThreads();
    for (int64_t first = 0; first < pieces; first += threads) {
      Value piece = e.add(e.thread(), first);
      auto copy = [&] { copyPiece(e.divU(piece, steps), e.remU(piece, steps)); };
      if (first + threads <= pieces)
        copy();
      else
        e.when(e.less(piece, pieces), copy);
    }
  }

private:
  void copyPiece(Value row, Value step) {
    Value packed = e.add(item.rowBegin, row);
    Value inside = e.less(packed, item.rows);
    // Rows past the end point at the item's first and read as 0.
    auto [token, head] = tokenAndHead(e, e.select(inside, packed, item.rowBegin), heads);
    Value address = e.offset(query.address(e, e.add(item.queryBegin, token), head, 2), e.widen(e.mul(step, 32)));
    SmallVector<Value> pairs;
    for (int64_t at = 0; at < 32; at += 8)
      llvm::append_range(pairs, e.loadVector(e.i32(), 2, e.offset(address, at)));
    for (Value &pair : pairs)
      pair = convertPair(e, e.select(inside, pair, e.i32(0)), from, to);
    pairs = reorder(pairs);
    Value target = e.offset(shared, e.add(e.mul(row, type.getPitch()), e.mul(step, 32)));
    e.storeVector(ArrayRef(pairs).take_front(4), target);
    e.storeVector(ArrayRef(pairs).drop_front(4), e.offset(target, 16));
  }

  /// Register 4 p + c of the result is what lane column c contracts as pair p.
  SmallVector<Value> reorder(ArrayRef<Value> pairs) {
    SmallVector<Value> result;
    for (int pair : {0, 1})
      for (int column = 0; column < 4; ++column) {
        int low = layout.contractedDim(pair, 0, column), high = layout.contractedDim(pair, 1, column);
        result.push_back(high == low + 1 ? pairs[low / 2] : join(pairs, low, high));
      }
    return result;
  }

  /// Columns `low` and `high`, both even or both odd, as one pair.
  Value join(ArrayRef<Value> pairs, int low, int high) {
    int64_t selector = low % 2 ? 0x7632 : 0x5410;
    return e.call1(Instr::Permute, {pairs[low / 2], pairs[high / 2], e.i32(selector)});
  }

  Emitter &e;
  tile::ScheduleAttr schedule;
  tile::SharedType type;
  FragmentLayout layout;
  Element from, to;
  int64_t heads, steps;
  const HeadsView &query;
  const ItemView &item;
  Value shared;
};

struct LowerLoadQuery : OpConversionPattern<tile::LoadQueryOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::LoadQueryOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    HeadsView query(adaptor.getSource());
    ItemView item(adaptor.getItem());
    QueryLoader(e, op, query, item, adaptor.getQuery().front()).run();
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerSplat : OpConversionPattern<tile::SplatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::SplatOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    Value value = e.f32(op.getValue().convertToDouble());
    SmallVector<SmallVector<Value>> results{SmallVector<Value>(op.getType().getRegisters(), value)};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

void mlac::populateQuery(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerLoadQuery, LowerSplat>(converter, patterns.getContext());
}

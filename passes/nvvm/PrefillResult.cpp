// Prefill: the end of a work item, outputs and log-sum-exps straight from a warp's registers.
#include "passes/nvvm/Prefill.h"
#include "passes/nvvm/Sink.h"

using namespace mlir;
using namespace mlac;

namespace {

class RowWriter {
public:
  RowWriter(Emitter &e, tile::StoreRowsOp op, tile::StoreRowsOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor)
      : e(e), op(op), adaptor(adaptor), schedule(prefillOf(op)),
        layout(prefillLayout(elementOf(op.getStorage()))), item(adaptor.getItem()), out(adaptor.getOut()),
        element(op.getOut().getType().getElementType()), bytes(element.getIntOrFloatBitWidth() / 8),
        width(op.getOut().getType().getWidth()) {}

  void run() {
    for (int64_t row = 0; row < schedule.getRowsPerWarp() / 8; ++row)
      writeRow(row);
  }

private:
  void writeRow(int64_t row) {
    // All lanes of the row take part in the sum; those of rows past the request's end store nothing.
    Value sum = e.reduce(adaptor.getSum()[row], 4, [&](Value a, Value b) { return e.addF(a, b); });
    Value empty = e.equalF(sum, e.f32(0.0));
    RowSum seen{adaptor.getMaximum()[row], sum}, all = op.getSink() ? withSinkOf(row, seen) : seen;
    Value share = e.reciprocal(all.sum);
    if (op.getSink())
      share = e.mulF(e.exp2(e.subF(seen.maximum, all.reference(e))), share);
    Value factor = e.select(empty, e.f32(0.0), e.mulF(share, adaptor.getFactor().front()));
    Value packed = e.add(item.rowBegin, warpRow(e, schedule, row));
    e.when(e.less(packed, item.rows), [&] {
      auto [token, head] = tokenAndHead(e, item, packed, headsPerKvOf(op));
      Value place = e.add(item.queryBegin, token);
      writeValues(row, factor, out.address(e, place, head, bytes));
      if (op.getLse())
        e.when(e.equal(e.bitAnd(e.lane(), 3), 0), [&] {
          Value lse = (op.getSinkInLse() ? all : seen).lse(e);
          storeLse(e, HeadsView(adaptor.getLse()), place, head, lse, op.getBase());
        });
    });
  }

  RowSum withSinkOf(int64_t row, const RowSum &seen) {
    Value packed = e.add(item.rowBegin, warpRow(e, schedule, row));
    Value head = tokenAndHead(e, item, packed, headsPerKvOf(op)).second;
    return withSink(e, seen, loadSink(e, adaptor.getSink().front(), head));
  }

  /// Of 16-bit storage a lane holds dimensions 2 c and 2 c + 1 of every eight; of 8-bit storage 4 c to 4 c +
  /// 3 of every 16, the even ones in the first register quadruple, the odd ones in the second.
  void writeValues(int64_t row, Value factor, Value base) {
    int64_t lanesDims = layout.byteStorage() ? 4 : 2;
    base = e.offset(base, e.widen(e.mul(e.bitAnd(e.lane(), 3), lanesDims * bytes)));
    for (int64_t dim = 0; dim < width; dim += 4 * lanesDims) {
      int64_t first = (row / 2 * (width / 8) + dim / 8) * 4 + row % 2 * 2;
      SmallVector<Value> values;
      for (int64_t pair : {0, 1})
        if (layout.byteStorage())
          values.append({value(first + pair, factor), value(first + 4 + pair, factor)});
        else
          values.push_back(value(first + pair, factor));
      for (size_t i = 0; i < values.size(); i += 2)
        writePair(values[i], values[i + 1], e.offset(base, (dim + int64_t(i)) * bytes));
    }
  }

  Value value(int64_t index, Value factor) { return e.mulF(adaptor.getAccumulator()[index], factor); }

  void writePair(Value low, Value high, Value at) {
    if (element.isF32())
      e.storeVector({low, high}, at);
    else
      e.store(e.call1(element.isF16() ? Instr::F32ToF16 : Instr::F32ToBF16, {high, low}), at, 4);
  }

  Emitter &e;
  tile::StoreRowsOp op;
  tile::StoreRowsOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor;
  tile::PrefillScheduleAttr schedule;
  FragmentLayout layout;
  ItemView item;
  HeadsView out;
  Type element;
  int64_t bytes, width;
};

struct LowerStoreRows : OpConversionPattern<tile::StoreRowsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::StoreRowsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    RowWriter(e, op, adaptor).run();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlac::populatePrefillResult(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerStoreRows>(converter, patterns.getContext());
}

// The end of a work item: final factors, log-sum-exps, and outputs or partial results.
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

namespace {

/// Index of a row in the partial buffers: slot x rows + row.
Value partialRow(Emitter &e, const ItemView &item, Value row, int64_t rows) {
  return e.add(e.mul(e.widen(item.slot), rows), e.widen(row));
}

struct LowerFinishRows : OpConversionPattern<tile::FinishRowsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::FinishRowsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    tile::ScheduleAttr schedule = scheduleOf(op);
    int64_t lanes = schedule.getThreadsPerRow();
    Value row = e.divU(e.thread(), lanes);
    Value sum = e.reduce(adaptor.getSum().front(), lanes, [&](Value a, Value b) { return e.addF(a, b); });
    Value empty = e.equalF(sum, e.f32(0.0));
    Value factor = e.select(empty, e.f32(0.0), e.mulF(e.reciprocal(sum), adaptor.getFactor().front()));
    Value lse = e.select(empty, e.f32(-std::numeric_limits<double>::infinity()),
                         e.addF(adaptor.getMaximum().front(), e.log2(sum)));
    ItemView item(adaptor.getItem());
    PlanView plan(adaptor.getPlan());
    e.when(e.equal(e.remU(e.thread(), lanes), 0), [&] {
      e.store(factor, e.offset(adaptor.getRowFactor().front(), e.shl(row, 2)), 4);
      storeRowLse(e, op, adaptor, item, plan, row, lse, schedule.getRows());
    });
    rewriter.eraseOp(op);
    return success();
  }

  static void storeRowLse(Emitter &e, tile::FinishRowsOp op, OneToNOpAdaptor adaptor, const ItemView &item,
                          const PlanView &plan, Value row, Value lse, int64_t rows) {
    Value split = e.less(e.i32(-1), item.slot);
    e.when(split, [&] {
      e.store(lse, e.offset(plan.partialLse, e.mul(partialRow(e, item, row, rows), 4)), 4);
    });
    if (!op.getLse())
      return;
    Value packed = e.add(item.rowBegin, row);
    Value final = e.both(e.equal(item.slot, -1), e.less(packed, item.rows));
    e.when(final, [&] {
      auto [token, head] = tokenAndHead(e, packed, headsOf(op));
      storeLse(e, HeadsView(adaptor.getLse()), e.add(item.queryBegin, token), head, lse, op.getBase());
    });
  }
};

/// Stores a warp's accumulators, row by row.
class ResultWriter {
public:
  ResultWriter(Emitter &e, tile::StoreResultOp op, ValueRange accumulators, ValueRange out, Value rowFactor,
               const ItemView &item, const PlanView &plan)
      : e(e), schedule(scheduleOf(op)), layout(elementOf(op.getStorage()), computeOf(op)), item(item), plan(plan),
        out(out), outElement(op.getOut().getType().getElementType()), accumulators(accumulators), rowFactor(rowFactor),
        heads(headsOf(op)), width(op.getWidth()), dims(schedule.getValueDimsPerWarp(width)),
        rowTiles(schedule.getRows() / 8), firstDim(e.mul(e.warp(), dims)) {}

  void run() {
    for (int64_t n = 0; n < rowTiles; ++n)
      for (int64_t odd : {0, 1})
        writeRow(n, odd);
  }

private:
  /// Row 8 n + 2 c + odd of the item.
  void writeRow(int64_t n, int64_t odd) {
    Value row = e.add(e.shl(e.bitAnd(e.lane(), 3), 1), 8 * n + odd);
    Value factor = e.load(e.f32(), e.offset(rowFactor, e.shl(row, 2)), 4);
    SmallVector<Value> values;
    for (int64_t block = 0; block < dims / 16; ++block)
      for (int64_t upper : {0, 1})
        values.push_back(e.mulF(accumulators[(block * rowTiles + n) * 4 + odd + 2 * upper], factor));
    Value packed = e.add(item.rowBegin, row);
    Value split = e.less(e.i32(-1), item.slot);
    e.when(split, [&] {
      Value index = partialRow(e, item, row, schedule.getRows());
      writeBlocks(values, e.offset(plan.partialOut, e.mul(index, 4 * width)), e.f32());
    });
    e.when(e.both(e.equal(item.slot, -1), e.less(packed, item.rows)), [&] {
      auto [token, head] = tokenAndHead(e, packed, heads);
      int64_t bytes = outElement.getIntOrFloatBitWidth() / 8;
      writeBlocks(values, HeadsView(out).address(e, e.add(item.queryBegin, token), head, bytes), outElement);
    });
  }

  /// `values` holds two dimensions a block of 16, where the layout puts them.
  void writeBlocks(ArrayRef<Value> values, Value row, Type element) {
    int64_t bytes = element.getIntOrFloatBitWidth() / 8;
    Value lane = e.shrU(e.lane(), 2);
    Value start = e.add(firstDim, layout.byteStorage() ? e.shl(lane, 1) : lane);
    Value base = e.offset(row, e.widen(e.mul(start, bytes)));
    for (int64_t block = 0; block < dims / 16; ++block) {
      Value at = e.offset(base, 16 * block * bytes);
      if (layout.byteStorage())
        writePair(values[2 * block], values[2 * block + 1], at, element);
      else
        writeApart(values[2 * block], values[2 * block + 1], at, element);
    }
  }

  Value pack(Value low, Value high, Type element) {
    return e.call1(element.isF16() ? Instr::F32ToF16 : Instr::F32ToBF16, {high, low});
  }

  void writePair(Value low, Value high, Value at, Type element) {
    if (element.isF32())
      e.storeVector({low, high}, at);
    else
      e.store(pack(low, high, element), at, 4);
  }

  /// Dimensions g and g + 8.
  void writeApart(Value low, Value high, Value at, Type element) {
    int64_t apart = 8 * element.getIntOrFloatBitWidth() / 8;
    if (element.isF32()) {
      e.store(low, at, 4);
      e.store(high, e.offset(at, apart), 4);
      return;
    }
    Value pair = pack(low, high, element);
    auto half = [&](Value v) -> Value { return arith::TruncIOp::create(e.builder, e.loc, e.i16(), v); };
    e.store(half(pair), at, 2);
    e.store(half(e.shrU(pair, 16)), e.offset(at, apart), 2);
  }

  Emitter &e;
  tile::ScheduleAttr schedule;
  FragmentLayout layout;
  const ItemView &item;
  const PlanView &plan;
  ValueRange out;
  Type outElement;
  ValueRange accumulators;
  Value rowFactor;
  int64_t heads, width, dims, rowTiles;
  Value firstDim;
};

struct LowerStoreResult : OpConversionPattern<tile::StoreResultOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::StoreResultOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    ItemView item(adaptor.getItem());
    PlanView plan(adaptor.getPlan());
    auto write = [&] {
      ResultWriter(e, op, adaptor.getAccumulator(), adaptor.getOut(), adaptor.getRowFactor().front(), item, plan).run();
    };
    tile::ScheduleAttr schedule = scheduleOf(op);
    int64_t active = op.getWidth() / schedule.getValueDimsPerWarp(op.getWidth());
    if (active < schedule.getWarps())
      e.when(e.less(e.warp(), active), write);
    else
      write();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlac::populateResult(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerFinishRows, LowerStoreResult>(converter, patterns.getContext());
}

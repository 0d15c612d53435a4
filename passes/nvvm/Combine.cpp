// Merging partial results: a block a row, each thread some of its dimensions.
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

namespace {

class CombineEmitter {
public:
  CombineEmitter(Emitter &e, tile::CombineOp op, tile::CombineOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor)
      : e(e), op(op), plan(adaptor.getPlan()), out(adaptor.getOut()), lseValues(adaptor.getLse()),
        outElement(op.getOut().getType().getElementType()), width(op.getOut().getType().getWidth()),
        rows(op.getRows()), threads(op.getThreads()), heads(headsOf(op)) {}

  void run() {
    Value block = e.call1(Instr::BlockId, {});
    row = e.remU(block, rows);
    Value merge = e.offset(plan.merges, e.mul(e.widen(e.divU(block, rows)), 16));
    auto field = [&](int64_t index) { return e.load(e.i32(), e.offset(merge, 4 * index), 4); };
    Value request = field(0), packed = e.add(field(1), row), begin = field(2), end = field(3);
    Value indptr = e.offset(plan.queryIndptr, e.mul(e.widen(request), 4));
    Value queryBegin = e.load(e.i32(), indptr, 4), queryEnd = e.load(e.i32(), e.offset(indptr, 4), 4);
    Value inside = e.less(packed, e.mul(e.sub(queryEnd, queryBegin), heads));
    e.when(inside, [&] {
      SmallVector<Value> merged = mergeSlots(begin, end);
      auto [token, head] = tokenAndHead(e, packed, heads);
      write(merged, e.add(queryBegin, token), head);
    });
  }

private:
  int64_t perThread() const { return (width + threads - 1) / threads; }

  /// Online merge over the row's slots: maximum, sum, then this thread's dimensions.
  SmallVector<Value> mergeSlots(Value begin, Value end) {
    SmallVector<Value> state{e.f32(-std::numeric_limits<double>::infinity()), e.f32(0.0)};
    state.append(perThread(), e.f32(0.0));
    auto loop = scf::ForOp::create(e.builder, e.loc, begin, end, e.i32(1), state);
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(e.builder, e.loc, mergeSlot(loop.getInductionVar(), loop.getRegionIterArgs()));
    return SmallVector<Value>(loop.getResults());
  }

  SmallVector<Value> mergeSlot(Value slot, ValueRange state) {
    Value index = e.add(e.mul(e.widen(slot), rows), e.widen(row));
    Value lse = e.load(e.f32(), e.offset(plan.partialLse, e.mul(index, 4)), 4);
    Value maximum = e.maxF(state[0], lse);
    Value none = e.equalF(maximum, e.f32(-std::numeric_limits<double>::infinity()));
    Value reference = e.select(none, e.f32(0.0), maximum);
    Value keep = e.exp2(e.subF(state[0], reference)), weight = e.exp2(e.subF(lse, reference));
    SmallVector<Value> next{maximum, e.fmaF(state[1], keep, weight)};
    Value values = e.offset(plan.partialOut, e.mul(index, 4 * width));
    for (int64_t i = 0; i < perThread(); ++i) {
      Value part = e.load(e.f32(), e.offset(values, e.mul(e.widen(dim(i)), 4)), 4);
      next.push_back(e.fmaF(part, weight, e.mulF(state[2 + i], keep)));
    }
    return next;
  }

  /// This thread's i-th dimension; one past the row's end repeats the last.
  Value dim(int64_t i) {
    Value index = e.add(e.thread(), i * threads);
    return (i + 1) * threads <= width ? index : e.minS(index, e.i32(width - 1));
  }

  void write(ArrayRef<Value> merged, Value token, Value head) {
    Value empty = e.equalF(merged[1], e.f32(0.0));
    Value factor = e.select(empty, e.f32(0.0), e.reciprocal(merged[1]));
    int64_t bytes = outElement.getIntOrFloatBitWidth() / 8;
    Value address = out.address(e, token, head, bytes);
    for (int64_t i = 0; i < perThread(); ++i) {
      auto store = [&] { storeElement(e.mulF(merged[2 + i], factor), e.offset(address, e.mul(e.widen(dim(i)), bytes))); };
      if ((i + 1) * threads <= width)
        store();
      else
        e.when(e.less(e.add(e.thread(), i * threads), width), store);
    }
    if (!lseValues.empty())
      e.when(e.equal(e.thread(), 0), [&] {
        Value lse = e.select(empty, e.f32(-std::numeric_limits<double>::infinity()),
                             e.addF(merged[0], e.log2(merged[1])));
        storeLse(e, HeadsView(lseValues), token, head, lse, op.getBase());
      });
  }

  void storeElement(Value value, Value address) {
    if (outElement.isF32())
      return e.store(value, address, 4);
    Value pair = e.call1(outElement.isF16() ? Instr::F32ToF16 : Instr::F32ToBF16, {value, value});
    Value half = arith::TruncIOp::create(e.builder, e.loc, e.i16(), pair);
    e.store(half, address, 2);
  }

  Emitter &e;
  tile::CombineOp op;
  PlanView plan;
  HeadsView out;
  ValueRange lseValues;
  Type outElement;
  int64_t width, rows, threads, heads;
  Value row;
};

struct LowerCombine : OpConversionPattern<tile::CombineOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::CombineOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getRows() <= 0)
      return op.emitError() << "has no row count; run tile-schedule first [combine-unscheduled]";
    Emitter e(rewriter, op);
    CombineEmitter(e, op, adaptor).run();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlac::populateCombine(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerCombine>(converter, patterns.getContext());
}

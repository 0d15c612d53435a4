// Merging partial results, in one of two shapes that the launch chooses (combineLaunch() of runtime/Plan.h).
// Of rows of few slots a small block merges a whole row, without a barrier. Rows of many are divided among
// large blocks, a span of dimensions each; a block's warps take turns at the row's slots, and meet in shared
// memory at the end. A thread has four dimensions.
#include "passes/nvvm/Sink.h"
#include "runtime/Abi.h"

using namespace mlir;
using namespace mlac;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kDims = 4;     // of a thread
constexpr int64_t kInFlight = 9; // slots whose loads a thread issues before it uses the first

/// A running merge: maximum and sum of the log-sum-exps so far, and the weighted values.
struct State {
  Value maximum, sum;
  SmallVector<Value> values;

  SmallVector<Value> pack() const {
    SmallVector<Value> all{maximum, sum};
    llvm::append_range(all, values);
    return all;
  }
  static State unpack(ValueRange all) { return {all[0], all[1], SmallVector<Value>(all.drop_front(2))}; }
};

/// Adds some states to one; the maximum is taken over all before anything is weighted.
State merge(Emitter &e, const State &into, ArrayRef<State> others) {
  State result = into;
  for (const State &other : others)
    result.maximum = e.maxF(result.maximum, other.maximum);
  Value none = e.equalF(result.maximum, e.f32(-kInfinity));
  Value reference = e.select(none, e.f32(0.0), result.maximum);
  Value keep = e.exp2(e.subF(into.maximum, reference));
  result.sum = e.mulF(into.sum, keep);
  for (Value &value : result.values)
    value = e.mulF(value, keep);
  for (const State &other : others) {
    Value weight = e.exp2(e.subF(other.maximum, reference));
    result.sum = e.fmaF(other.sum, weight, result.sum);
    for (auto [value, part] : llvm::zip(result.values, other.values))
      value = e.fmaF(part, weight, value);
  }
  return result;
}

class CombineEmitter {
public:
  CombineEmitter(Emitter &e, tile::CombineOp op,
                 tile::CombineOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor,
                 const LoweringOptions &options)
      : e(e), op(op), options(options), plan(adaptor.getPlan()), out(adaptor.getOut()),
        lseValues(adaptor.getLse()), outElement(op.getOut().getType().getElementType()),
        width(op.getOut().getType().getWidth()), rows(op.getRows()), heads(headsOf(op)),
        sinks(adaptor.getSink()) {}

  void run() {
    Value small = e.less(e.call1(Instr::BlockSize, {}), ::mla::combineSmallThreads + 1);
    Value block = e.call1(Instr::BlockId, {}), whole = e.select(small, block, e.divU(block, spans()));
    span = e.select(small, e.i32(0), e.remU(block, spans()));
    row = e.remU(whole, rows);
    Value item = e.offset(plan.merges, e.mul(e.widen(e.divU(whole, rows)), 16));
    auto field = [&](int64_t index) { return e.load(e.i32(), e.offset(item, 4 * index), 4); };
    Value request = field(0), packed = e.add(field(1), row), begin = field(2), end = field(3);
    Value indptr = e.offset(plan.queryIndptr, e.mul(e.widen(request), 4));
    Value queryBegin = e.load(e.i32(), indptr, 4), queryEnd = e.load(e.i32(), e.offset(indptr, 4), 4);
    // The plan was there before the main kernel began; its partial results are there from here on. Every thread waits,
    // also one without a row: what is launched next counts on the main kernel being done.
    orderGrids(e, Instr::GridWait, options);
    Value inside = e.less(packed, e.mul(e.sub(queryEnd, queryBegin), heads));
    auto [token, head] = tokenAndHead(e, packed, heads);
    token = e.add(queryBegin, token);
    e.when(e.both(inside, small), [&] { mergeWhole(begin, end, token, head); });
    e.when(e.both(inside, e.select(small, e.boolean(false), e.boolean(true))), [&] { mergeSpan(begin, end, token, head); });
  }

private:
  static constexpr int64_t kLanes = ::mla::combineSpan / kDims; // threads a part of a large block
  int64_t spans() const { return (width + ::mla::combineSpan - 1) / ::mla::combineSpan; }

  /// A small block: all dimensions of the row, no parts.
  void mergeWhole(Value begin, Value end, Value token, Value head) {
    parts = 1;
    part = e.i32(0);
    dim = lane = e.mul(e.thread(), kDims);
    write(mergeSlots(begin, end), token, head);
  }

  /// A large block: a span of dimensions, in parts that meet.
  void mergeSpan(Value begin, Value end, Value token, Value head) {
    parts = op.getThreads() / kLanes;
    part = e.divU(e.thread(), kLanes);
    lane = e.mul(e.remU(e.thread(), kLanes), kDims);
    dim = e.add(e.mul(span, ::mla::combineSpan), lane);
    State merged = meet(mergeSlots(begin, end));
    e.when(e.equal(part, 0), [&] { write(merged, token, head); });
  }

  State empty() { return {e.f32(-kInfinity), e.f32(0.0), SmallVector<Value>(kDims, e.f32(0.0))}; }

  /// This part's slots: begin + part, and every parts-th from there on.
  State mergeSlots(Value begin, Value end) {
    auto loop = scf::ForOp::create(e.builder, e.loc, e.add(begin, part), end, e.i32(parts * kInFlight),
                                   empty().pack());
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToStart(loop.getBody());
    SmallVector<State> slots;
    for (int64_t i = 0; i < kInFlight; ++i)
      slots.push_back(loadSlot(e.add(loop.getInductionVar(), i * parts), end));
    State next = ::merge(e, State::unpack(loop.getRegionIterArgs()), slots);
    scf::YieldOp::create(e.builder, e.loc, next.pack());
    return State::unpack(loop.getResults());
  }

  /// A slot past the end repeats the last one, with no weight.
  State loadSlot(Value slot, Value end) {
    Value inside = e.less(slot, end);
    Value index = e.add(e.mul(e.widen(e.select(inside, slot, e.add(end, -1))), rows), e.widen(row));
    Value lse = e.load(e.f32(), e.offset(plan.partialLse, e.mul(index, 4)), 4);
    Value values = e.offset(plan.partialOut, e.mul(index, 4 * width));
    // Threads past the row's width repeat its start.
    Value column = e.select(e.less(dim, width), dim, e.i32(0));
    return {e.select(inside, lse, e.f32(-kInfinity)), e.f32(1.0),
            e.loadVector(e.f32(), kDims, e.offset(values, e.mul(e.widen(column), 4)))};
  }

  //===-- Parts --===//

  /// Values of a part and dimension of the span in shared memory; its maximum and sum behind all values.
  Value valuesAt(Value shared, Value index) {
    return e.offset(shared, e.shl(e.add(e.mul(index, ::mla::combineSpan), lane), 2));
  }
  Value statsAt(Value shared, Value index) {
    return e.offset(shared, e.add(e.shl(index, 3), parts * ::mla::combineSpan * 4));
  }

  /// All parts' states as one, in every thread.
  State meet(const State &own) {
    Value shared = LLVM::AddressOfOp::create(e.builder, e.loc, e.ptr(kShared), kSharedSymbol);
    e.storeVector(own.values, valuesAt(shared, part));
    e.when(e.equal(lane, 0), [&] { e.storeVector({own.maximum, own.sum}, statsAt(shared, part)); });
    e.call(Instr::BlockBarrier, e.i32(0));
    SmallVector<State> states;
    for (int64_t i = 0; i < parts; ++i) {
      SmallVector<Value> stats = e.loadVector(e.f32(), 2, statsAt(shared, e.i32(i)));
      states.push_back({stats[0], stats[1], e.loadVector(e.f32(), kDims, valuesAt(shared, e.i32(i)))});
    }
    return ::merge(e, states.front(), ArrayRef(states).drop_front());
  }

  void write(const State &merged, Value token, Value head) {
    RowSum row{merged.maximum, merged.sum}, all = row;
    Value factor = e.reciprocal(row.sum);
    if (!sinks.empty()) {
      all = withSink(e, row, loadSink(e, sinks.front(), head));
      factor = e.mulF(e.exp2(e.subF(row.maximum, all.reference(e))), e.reciprocal(all.sum));
    }
    factor = e.select(e.equalF(row.sum, e.f32(0.0)), e.f32(0.0), factor);
    int64_t bytes = outElement.getIntOrFloatBitWidth() / 8;
    e.when(e.less(dim, width), [&] {
      Value address = e.offset(out.address(e, token, head, bytes), e.mul(e.widen(dim), bytes));
      storeElements(merged.values, factor, address);
    });
    if (!lseValues.empty())
      e.when(e.both(e.equal(lane, 0), e.equal(span, 0)), [&] {
        Value lse = (op.getSinkInLse() ? all : row).lse(e);
        storeLse(e, HeadsView(lseValues), token, head, lse, op.getBase());
      });
  }

  /// Outputs are aligned to four bytes: floats one by one, 16-bit values in pairs.
  void storeElements(ArrayRef<Value> values, Value factor, Value address) {
    Instr pack = outElement.isF16() ? Instr::F32ToF16 : Instr::F32ToBF16;
    for (int64_t i = 0; i < kDims; i += 2) {
      Value low = e.mulF(values[i], factor), high = e.mulF(values[i + 1], factor);
      if (!outElement.isF32()) {
        e.store(e.call1(pack, {high, low}), e.offset(address, 2 * i), 4);
        continue;
      }
      e.store(low, e.offset(address, 4 * i), 4);
      e.store(high, e.offset(address, 4 * i + 4), 4);
    }
  }

  Emitter &e;
  tile::CombineOp op;
  LoweringOptions options;
  PlanView plan;
  HeadsView out;
  ValueRange lseValues;
  Type outElement;
  int64_t width, rows, heads;
  ValueRange sinks;
  int64_t parts = 1;
  /// Of this thread: its part, its first dimension in the block's span, and in the row; of the block: span
  /// and row.
  Value part, lane, dim, span, row;
};

struct LowerCombine : OpConversionPattern<tile::CombineOp> {
  LowerCombine(TypeConverter &converter, MLIRContext *context, const LoweringOptions &options)
      : OpConversionPattern(converter, context), options(options) {}

  LogicalResult matchAndRewrite(tile::CombineOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getRows() <= 0)
      return op.emitError() << "has no row count; run tile-schedule first [combine-unscheduled]";
    Emitter e(rewriter, op);
    CombineEmitter(e, op, adaptor, options).run();
    rewriter.eraseOp(op);
    return success();
  }

  LoweringOptions options;
};

} // namespace

void mlac::populateCombine(TileTypeConverter &converter, RewritePatternSet &patterns,
                           const LoweringOptions &options) {
  patterns.add<LowerCombine>(converter, patterns.getContext(), options);
}

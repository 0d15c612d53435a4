// The end of a work item: final factors, log-sum-exps, and outputs or partial results.
#include "passes/nvvm/Sink.h"

using namespace mlir;
using namespace mlac;

namespace {

/// Index of a row in the partial buffers: slot x rows + row.
Value partialRow(Emitter &e, const ItemView &item, Value row, int64_t rows) {
  return e.add(e.mul(e.widen(item.slot), rows), e.widen(row));
}

/// Sums all groups' statistics of a row, and finds this group's factor.
class RowFinisher {
public:
  RowFinisher(Emitter &e, tile::FinishRowsOp op,
              tile::FinishRowsOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor)
      : e(e), op(op), adaptor(adaptor), schedule(scheduleOf(op)), view(e, schedule), item(adaptor.getItem()),
        plan(adaptor.getPlan()) {}

  SmallVector<Value> run() {
    SmallVector<Value> factors;
    for (int64_t i = 0; i < schedule.getRows() / 4; ++i)
      factors.push_back(finish(i));
    return factors;
  }

private:
  Value stat(int64_t plane, int64_t index) { return stat(e.i32(plane), index); }
  Value stat(Value plane, int64_t index) {
    Value address = stageAddress(e, adaptor.getStats().front(), op.getStats().getType(), plane);
    return e.load(e.f32(), e.offset(address, e.shl(statsRow(e, index), 2)), 4);
  }

  /// Sum over a group's token warps.
  Value groupSum(int64_t group, int64_t index) {
    Value sum;
    for (int64_t warp = 0; warp < schedule.getTokenWarps(); ++warp) {
      Value part = stat(schedule.getGroups() + group * schedule.getTokenWarps() + warp, index);
      sum = sum ? e.addF(sum, part) : part;
    }
    return sum;
  }

  Value finish(int64_t index) {
    SmallVector<Value> references;
    for (int64_t group = 0; group < schedule.getGroups(); ++group)
      references.push_back(stat(group, index));
    Value largest = references.front();
    for (Value other : ArrayRef(references).drop_front())
      largest = e.maxF(largest, other);
    RowSum row{largest, e.f32(0.0)};
    Value reference = row.reference(e);
    for (auto [group, value] : llvm::enumerate(references))
      row.sum = e.fmaF(e.exp2(e.subF(value, reference)), groupSum(int64_t(group), index), row.sum);
    RowSum all = op.getSink() ? withSink(e, row, sinkOf(index)) : row;
    storeLseOf(index, (op.getSinkInLse() ? all : row).lse(e));
    Value empty = e.equalF(row.sum, e.f32(0.0));
    Value share = e.exp2(e.subF(stat(view.group, index), all.reference(e)));
    Value factor = e.mulF(e.mulF(share, e.reciprocal(all.sum)), adaptor.getFactor().front());
    return e.select(empty, e.f32(0.0), factor);
  }

  /// Partial results leave the sink to the combine.
  Value sinkOf(int64_t index) {
    Value head = tokenAndHead(e, e.add(item.rowBegin, statsRow(e, index)), headsOf(op)).second;
    Value sink = loadSink(e, adaptor.getSink().front(), head);
    return e.select(e.equal(item.slot, -1), sink, e.f32(-std::numeric_limits<double>::infinity()));
  }

  /// One lane of the block's first warp speaks for each row.
  void storeLseOf(int64_t index, Value lse) {
    e.when(e.less(e.thread(), 4), [&] {
      Value row = statsRow(e, index);
      e.when(e.less(e.i32(-1), item.slot), [&] {
        Value at = partialRow(e, item, row, schedule.getRows());
        e.store(lse, e.offset(plan.partialLse, e.mul(at, 4)), 4);
      });
      if (op.getLse())
        storeFinal(e.add(item.rowBegin, row), lse);
    });
  }

  void storeFinal(Value packed, Value lse) {
    e.when(e.both(e.equal(item.slot, -1), e.less(packed, item.rows)), [&] {
      auto [token, head] = tokenAndHead(e, packed, headsOf(op));
      storeLse(e, HeadsView(adaptor.getLse()), e.add(item.queryBegin, token), head, lse, op.getBase());
    });
  }

  Emitter &e;
  tile::FinishRowsOp op;
  tile::FinishRowsOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor;
  tile::ScheduleAttr schedule;
  GroupView view;
  ItemView item;
  PlanView plan;
};

struct LowerFinishRows : OpConversionPattern<tile::FinishRowsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::FinishRowsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    SmallVector<SmallVector<Value>> results{RowFinisher(e, op, adaptor).run()};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

/// Groups hand their accumulators down, the upper half to the lower half, until the first group has the sum.
/// The order of additions is fixed, so that results repeat bit for bit.
struct LowerMergeGroups : OpConversionPattern<tile::MergeGroupsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::MergeGroupsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    tile::ScheduleAttr schedule = scheduleOf(op);
    GroupView view(e, schedule);
    SmallVector<Value> sums(adaptor.getAccumulator());
    int64_t stride = 16 * schedule.getThreadsPerGroup(), room = op.getMemory().getType().getBytes();
    for (int64_t half = schedule.getGroups() / 2; half >= 1; half /= 2) {
      // As many accumulators a round as the memory holds of every group that gives.
      int64_t step = std::min<int64_t>(room / (half * stride) * 4, int64_t(sums.size()));
      Value slot = e.mul(e.remU(view.group, half), step / 4 * stride);
      Value base = e.offset(adaptor.getMemory().front(), e.add(slot, e.shl(view.thread, 4)));
      for (size_t first = 0; first < sums.size(); first += step) {
        bool last = half == 1 && first + step >= sums.size();
        exchange(e, view.group, half, MutableArrayRef(sums).slice(first).take_front(step), base, stride);
        if (!last)
          e.call(Instr::BlockBarrier, e.i32(0));
      }
    }
    SmallVector<SmallVector<Value>> results{std::move(sums)};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

  /// Groups half to 2 half - 1 give these accumulators, groups 0 to half - 1 add them to theirs.
  static void exchange(Emitter &e, Value group, int64_t half, MutableArrayRef<Value> sums, Value base,
                       int64_t stride) {
    Value gives = e.both(e.less(e.i32(half - 1), group), e.less(group, 2 * half));
    e.when(gives, [&] {
      for (size_t i = 0; i < sums.size(); i += 4)
        e.storeVector(ArrayRef<Value>(sums).slice(i, 4), e.offset(base, int64_t(i / 4) * stride));
    });
    e.call(Instr::BlockBarrier, e.i32(0));
    SmallVector<Value> own(sums);
    llvm::copy(e.choose(
                   e.less(group, half), [&] { return added(e, own, base, stride); }, [&] { return own; }),
               sums.begin());
  }

  static SmallVector<Value> added(Emitter &e, ArrayRef<Value> sums, Value base, int64_t stride) {
    SmallVector<Value> result;
    for (size_t i = 0; i < sums.size(); i += 4)
      for (auto [k, part] :
           llvm::enumerate(e.loadVector(e.f32(), 4, e.offset(base, int64_t(i / 4) * stride))))
        result.push_back(e.addF(sums[i + k], part));
    return result;
  }
};

/// Stores a warp's accumulators, row by row.
class ResultWriter {
public:
  ResultWriter(Emitter &e, tile::StoreResultOp op, ValueRange accumulators, ValueRange out,
               const ItemView &item, const PlanView &plan)
      : e(e), schedule(scheduleOf(op)), view(e, schedule), layout(elementOf(op.getStorage()), computeOf(op)),
        item(item), plan(plan), out(out), outElement(op.getOut().getType().getElementType()),
        accumulators(accumulators), heads(headsOf(op)), width(op.getWidth()),
        dims(schedule.getValueDimsPerWarp(width)), rowTiles(schedule.getRows() / 8),
        firstDim(e.mul(view.warp, dims)) {}

  void run() {
    for (int64_t n = 0; n < rowTiles; ++n)
      for (int64_t odd : {0, 1})
        writeRow(n, odd);
  }

private:
  /// Row 8 n + 2 c + odd of the item.
  void writeRow(int64_t n, int64_t odd) {
    Value row = e.add(e.shl(e.bitAnd(e.lane(), 3), 1), 8 * n + odd);
    SmallVector<Value> values;
    for (int64_t block = 0; block < dims / 16; ++block)
      for (int64_t upper : {0, 1})
        values.push_back(accumulators[(block * rowTiles + n) * 4 + odd + 2 * upper]);
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
      auto write = [&] {
        writeBlock(values[2 * block], values[2 * block + 1], e.offset(base, 16 * block * bytes), element);
      };
      if (dims * (schedule.getWarpsPerGroup() - 1) + 16 * block < width)
        write();
      else
        e.when(e.less(e.add(firstDim, 16 * block), width), write);
    }
  }

  void writeBlock(Value low, Value high, Value at, Type element) {
    if (layout.byteStorage())
      writePair(low, high, at, element);
    else
      writeApart(low, high, at, element);
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
  GroupView view;
  FragmentLayout layout;
  const ItemView &item;
  const PlanView &plan;
  ValueRange out;
  Type outElement;
  ValueRange accumulators;
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
    e.when(e.less(e.thread(), scheduleOf(op).getThreadsPerGroup()),
           [&] { ResultWriter(e, op, adaptor.getAccumulator(), adaptor.getOut(), item, plan).run(); });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlac::populateResult(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerFinishRows, LowerMergeGroups, LowerStoreResult>(converter, patterns.getContext());
}

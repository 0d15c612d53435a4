// The item's query rows: from global memory into registers, and from there to shared memory in the order that
// the key's fragments want.
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

namespace {

/// How the block's threads share the query: pieces of 16 columns of one row, thread after thread, round after
/// round.
struct QueryShape {
  int64_t steps, pieces, threads;

  QueryShape(tile::ScheduleAttr schedule, int64_t width)
      : steps(width / 16), pieces(schedule.getRows() * steps), threads(schedule.getThreads()) {}

  int64_t rounds() const { return (pieces + threads - 1) / threads; }
  /// Whether every thread has a piece in this round.
  bool full(int64_t round) const { return (round + 1) * threads <= pieces; }
  Value piece(Emitter &e, int64_t round) const { return e.add(e.thread(), round * threads); }
};

/// Loads a thread's pieces; rows past the request's end read its first row of the item.
struct LowerFetchQuery : OpConversionPattern<tile::FetchQueryOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::FetchQueryOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    QueryShape shape(scheduleOf(op), op.getSource().getType().getWidth());
    HeadsView query(adaptor.getSource());
    ItemView item(adaptor.getItem());
    int64_t registers = op.getType().getRegisters();
    SmallVector<SmallVector<Value>> results{e.choose(
        e.less(e.i32(0), item.rows),
        [&] {
          SmallVector<Value> all;
          for (int64_t round = 0; round < shape.rounds(); ++round)
            fetch(e, shape, query, item, headsOf(op), round, all);
          return all;
        },
        [&] { return SmallVector<Value>(registers, e.i32(0)); })};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

  static void fetch(Emitter &e, const QueryShape &shape, const HeadsView &query, const ItemView &item,
                    int64_t heads, int64_t round, SmallVector<Value> &registers) {
    Value piece = shape.piece(e, round);
    if (!shape.full(round))
      piece = e.minS(piece, e.i32(shape.pieces - 1));
    Value packed = e.add(item.rowBegin, e.divU(piece, shape.steps));
    auto [token, head] = tokenAndHead(e, e.select(e.less(packed, item.rows), packed, item.rowBegin), heads);
    Value row = query.address(e, e.add(item.queryBegin, token), head, 2);
    Value address = e.offset(row, e.widen(e.mul(e.remU(piece, shape.steps), 32)));
    for (int64_t at = 0; at < 32; at += 8)
      llvm::append_range(registers, e.loadVector(e.i32(), 2, e.offset(address, at)));
  }
};

/// Stores fetched pieces in shared memory.
class QueryWriter {
public:
  QueryWriter(Emitter &e, tile::StoreQueryOp op, ValueRange registers, const ItemView &item, Value shared)
      : e(e), type(op.getQuery().getType()), shape(scheduleOf(op), type.getColumns()),
        storage(op.getStorage()), parts(mla::partsOf(storage, type.getColumns())), from(elementOf(op.getElement())),
        to(computeOf(op)), registers(registers), item(item), shared(shared) {}

  void run() {
    for (int64_t round = 0; round < shape.rounds(); ++round) {
      Value piece = shape.piece(e, round);
      if (shape.full(round))
        write(piece, round);
      else
        e.when(e.less(piece, shape.pieces), [&] { write(piece, round); });
    }
  }

private:
  void write(Value piece, int64_t round) {
    Value row = e.divU(piece, shape.steps), step = e.remU(piece, shape.steps);
    Value inside = e.less(e.add(item.rowBegin, row), item.rows);
    SmallVector<Value> pairs(registers.slice(8 * round, 8));
    for (Value &pair : pairs)
      pair = lifted(convertPair(e, e.select(inside, pair, e.i32(0)), from, to));
    pairs = ordered(pairs, step);
    Value target = e.offset(shared, e.add(e.mul(row, type.getPitch()), e.mul(step, 32)));
    e.storeVector(ArrayRef(pairs).take_front(4), target);
    e.storeVector(ArrayRef(pairs).drop_front(4), e.offset(target, 16));
  }

  /// What makes up for cached values that their conversion leaves too small (see Lift).
  Value lifted(Value pair) {
    int lift = liftOf(elementOf(storage), to).query;
    if (!lift)
      return pair;
    Type type = e.vec(2, e.builder.getBF16Type());
    int64_t power = int64_t(127 + lift) << 7; // 2^lift as bf16
    Value factor = e.bitcast(e.i32(power << 16 | power), type);
    return e.bitcast(LLVM::FMulOp::create(e.builder, e.loc, e.bitcast(pair, type), factor), e.i32());
  }

  /// In the order of the part of the row in which the step lies.
  SmallVector<Value> ordered(ArrayRef<Value> pairs, Value step) {
    auto layoutOf = [&](const mla::StoredPart &part) { return FragmentLayout(elementOf(part.element), to); };
    SmallVector<Value> result = reorder(pairs, layoutOf(parts.front()));
    for (size_t i = 1; i < parts.size(); ++i) {
      if (layoutOf(parts[i]).pairOrder() == layoutOf(parts[i - 1]).pairOrder())
        continue;
      Value before = e.less(step, parts[i].column / 16);
      for (auto [value, other] : llvm::zip(result, reorder(pairs, layoutOf(parts[i]))))
        value = e.select(before, value, other);
    }
    return result;
  }

  /// Register 4 p + c of the result is what lane column c contracts as pair p.
  SmallVector<Value> reorder(ArrayRef<Value> pairs, const FragmentLayout &layout) {
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
  tile::SharedType type;
  QueryShape shape;
  Type storage;
  SmallVector<mla::StoredPart> parts; // of the cached row
  Element from, to;
  ValueRange registers;
  const ItemView &item;
  Value shared;
};

struct LowerStoreQuery : OpConversionPattern<tile::StoreQueryOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::StoreQueryOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    ItemView item(adaptor.getItem());
    QueryWriter(e, op, adaptor.getPieces(), item, adaptor.getQuery().front()).run();
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerSplat : OpConversionPattern<tile::SplatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::SplatOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    Value value = e.f32(op.getValue().convertToDouble());
    SmallVector<SmallVector<Value>> results{SmallVector<Value>(op.getType().getRegisters(), value)};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

void mlac::populateQuery(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerFetchQuery, LowerStoreQuery, LowerSplat>(converter, patterns.getContext());
}

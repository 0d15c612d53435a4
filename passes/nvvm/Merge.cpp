// Merging a row's results over disjoint parts of its context: a block a row, each thread some of its
// dimensions.
#include "passes/nvvm/Lowering.h"

#include <numbers>

using namespace mlir;
using namespace mlac;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class MergeEmitter {
public:
  MergeEmitter(Emitter &e, tile::MergeOp op, tile::MergeOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor)
      : e(e), op(op), adaptor(adaptor), element(op.getOut().getType().getElementType()),
        bytes(element.getIntOrFloatBitWidth() / 8), width(op.getOut().getType().getWidth()),
        threads(op.getThreads()), toLog2(op.getBase() == mla::LseBase::ln ? std::numbers::log2e : 1.0) {}

  void run() {
    Value block = e.call1(Instr::BlockId, {});
    std::tie(token, head) = tokenAndHead(e, block, headsOf(op));
    SmallVector<Value> state{e.f32(-kInfinity), e.f32(0.0)};
    state.append(perThread(), e.f32(0.0));
    Value count = adaptor.getCount().front();
    for (size_t i = 0; i < op.getOuts().size(); ++i)
      state =
          e.choose(e.less(e.i32(int64_t(i)), count), [&] { return take(i, state); }, [&] { return state; });
    // The result may be stored over one of the states, whose log-sum-exp every thread of the row reads.
    e.call(Instr::BlockBarrier, e.i32(0));
    write(state);
  }

private:
  int64_t perThread() const { return (width + threads - 1) / threads; }

  /// The state (maximum, sum, this thread's dimensions) after result `i`. The first that is not empty is
  /// taken over as it is: a product with 1 and a sum with 0 would lose the sign of a zero.
  SmallVector<Value> take(size_t i, ArrayRef<Value> state) {
    Value lse = e.load(e.f32(), HeadsView(adaptor.getLses()[i]).address(e, token, head, 4), 4);
    Value lowest = e.f32(-kInfinity);
    Value empty = e.equalF(lse, lowest), first = e.equalF(state[0], lowest);
    Value maximum = e.maxF(state[0], lse);
    Value reference = e.select(e.equalF(maximum, lowest), e.f32(0.0), maximum);
    Value keep = weightOf(state[0], reference), weight = weightOf(lse, reference);
    SmallVector<Value> next{maximum, e.fmaF(state[1], keep, weight)};
    Value row = HeadsView(adaptor.getOuts()[i]).address(e, token, head, bytes);
    for (int64_t d = 0; d < perThread(); ++d) {
      Value old = state[2 + d], part = loadElement(e.offset(row, e.mul(e.widen(dim(d)), bytes)));
      Value both = e.fmaF(part, weight, e.mulF(old, keep));
      next.push_back(e.select(empty, old, e.select(first, part, both)));
    }
    return next;
  }

  Value weightOf(Value lse, Value reference) {
    Value difference = e.subF(lse, reference);
    return e.exp2(toLog2 == 1.0 ? difference : e.mulF(difference, e.f32(toLog2)));
  }

  /// This thread's i-th dimension; one past the row's end repeats the last.
  Value dim(int64_t i) {
    Value index = e.add(e.thread(), i * threads);
    return (i + 1) * threads <= width ? index : e.minS(index, e.i32(width - 1));
  }

  void write(ArrayRef<Value> state) {
    Value empty = e.equalF(state[1], e.f32(0.0)), one = e.equalF(state[1], e.f32(1.0));
    Value factor = e.select(empty, e.f32(0.0), e.reciprocal(state[1]));
    Value row = HeadsView(adaptor.getOut()).address(e, token, head, bytes);
    for (int64_t d = 0; d < perThread(); ++d) {
      Value value = e.select(one, state[2 + d], e.mulF(state[2 + d], factor));
      auto store = [&] { storeElement(value, e.offset(row, e.mul(e.widen(dim(d)), bytes))); };
      if ((d + 1) * threads <= width)
        store();
      else
        e.when(e.less(e.add(e.thread(), d * threads), width), store);
    }
    e.when(e.equal(e.thread(), 0), [&] {
      Value more = e.mulF(e.log2(state[1]), e.f32(1.0 / toLog2));
      Value lse = e.select(one, state[0], e.select(empty, e.f32(-kInfinity), e.addF(state[0], more)));
      e.store(lse, HeadsView(adaptor.getLse()).address(e, token, head, 4), 4);
    });
  }

  Value loadElement(Value address) {
    if (element.isF32())
      return e.load(e.f32(), address, 4);
    Value half = e.load(e.i16(), address, 2);
    if (element.isF16())
      return LLVM::FPExtOp::create(e.builder, e.loc, e.f32(), e.bitcast(half, e.builder.getF16Type()));
    Value wide = arith::ExtUIOp::create(e.builder, e.loc, e.i32(), half);
    return e.bitcast(e.shl(wide, 16), e.f32());
  }

  void storeElement(Value value, Value address) {
    if (element.isF32())
      return e.store(value, address, 4);
    Value pair = e.call1(element.isF16() ? Instr::F32ToF16 : Instr::F32ToBF16, {value, value});
    Value half = arith::TruncIOp::create(e.builder, e.loc, e.i16(), pair);
    e.store(half, address, 2);
  }

  Emitter &e;
  tile::MergeOp op;
  tile::MergeOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor;
  Type element;
  int64_t bytes, width, threads;
  double toLog2; ///< from the declared base
  Value token, head;
};

struct LowerMerge : OpConversionPattern<tile::MergeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::MergeOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    MergeEmitter(e, op, adaptor).run();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlac::populateMerge(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerMerge>(converter, patterns.getContext());
}

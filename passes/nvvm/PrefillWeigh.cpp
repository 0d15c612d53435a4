// Prefill: O += P V, a warp's rows times all value dimensions of one stage.
#include "passes/nvvm/Prefill.h"

using namespace mlir;
using namespace mlac;

namespace {

/// Accumulator registers are [block of 16 rows][eight dimensions][4]. Which eight is FragmentLayout's to say:
/// of 8-bit storage the even and the odd ones of 16.
class RowWeigher {
public:
  RowWeigher(Emitter &e, tile::WeighRowsOp op, ValueRange accumulators, ValueRange probs, Value ring,
             Value stage, Instr mma)
      : e(e), schedule(prefillOf(op)), type(op.getRing().getType()),
        storage(elementOf(type.getElementType())), compute(computeOf(op)), layout(prefillLayout(storage)),
        mma(mma), rowBlocks(schedule.getRowsPerWarp() / 16), sums(accumulators), probs(probs) {
    Value lane = e.lane();
    // Lanes 0 to 15 name the rows of 16 tokens, lanes 16 to 31 the same rows 16 bytes further.
    Value within = e.add(e.mul(e.bitAnd(lane, 15), type.getPitch()), e.shl(e.shrU(lane, 4), 4));
    values = e.offset(stageAddress(e, ring, type, stage), within);
  }

  SmallVector<Value> run() {
    int64_t width = type.getColumns(), perLoad = layout.valueDimsPerLoad();
    for (int64_t step = 0; step < schedule.getTokens() / 16; ++step)
      for (int64_t dim = 0; dim < width; dim += perLoad)
        multiplyLoad(step, dim, std::min(perLoad, width - dim));
    return sums;
  }

private:
  /// 16 tokens x `dims` dimensions from `dim` on; half a load where the width ends.
  void multiplyLoad(int64_t step, int64_t dim, int64_t dims) {
    Value address = e.offset(values, 16 * step * type.getPitch() + dim * bitsOf(storage) / 8);
    bool half = dims < layout.valueDimsPerLoad();
    SmallVector<Value> words = e.call(half ? Instr::LdmatrixX2Trans : Instr::LdmatrixX4Trans, address);
    for (size_t i = 0; i < words.size(); i += 2)
      layout.byteStorage() ? multiplyBytes(step, dim + 8 * int64_t(i), words[i], words[i + 1])
                           : multiplyWide(step, dim + 4 * int64_t(i), words[i], words[i + 1]);
  }

  void multiplyWide(int64_t step, int64_t dim, Value low, Value high) {
    multiply(step, dim / 8, convertPair(e, low, storage, compute), convertPair(e, high, storage, compute));
  }

  /// A transposed load of bytes holds (t0 d0)(t0 d1)(t1 d0)(t1 d1): the even dimensions of 16, then the odd
  /// ones.
  void multiplyBytes(int64_t step, int64_t dim, Value low, Value high) {
    SmallVector<Value> lower = computePairs(e, byDimension(low), storage, compute);
    SmallVector<Value> upper = computePairs(e, byDimension(high), storage, compute);
    for (int64_t odd : {0, 1})
      multiply(step, dim / 8 + odd, lower[odd], upper[odd]);
  }

  Value byDimension(Value word) { return e.call1(Instr::Permute, {word, e.i32(0), e.i32(0x3120)}); }

  void multiply(int64_t step, int64_t dimTile, Value low, Value high) {
    int64_t dimTiles = type.getColumns() / 8, tokenSteps = schedule.getTokens() / 16;
    for (int64_t block = 0; block < rowBlocks; ++block) {
      MutableArrayRef<Value> sum = MutableArrayRef(sums).slice((block * dimTiles + dimTile) * 4, 4);
      SmallVector<Value> arguments(probs.slice((block * tokenSteps + step) * 4, 4));
      arguments.append({low, high});
      llvm::append_range(arguments, sum);
      llvm::copy(e.call(mma, arguments), sum.begin());
    }
  }

  Emitter &e;
  tile::PrefillScheduleAttr schedule;
  tile::SharedType type;
  Element storage, compute;
  FragmentLayout layout;
  Instr mma;
  int64_t rowBlocks;
  SmallVector<Value> sums;
  ValueRange probs;
  Value values;
};

struct LowerWeighRows : ProductPattern<tile::WeighRowsOp> {
  using ProductPattern::ProductPattern;

  LogicalResult matchAndRewrite(tile::WeighRowsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<Instr> mma = productOf(op);
    if (failed(mma))
      return failure();
    Emitter e(rewriter, op);
    RowWeigher weigher(e, op, adaptor.getAccumulator(), adaptor.getProbs(), adaptor.getRing().front(),
                       adaptor.getStage().front(), *mma);
    SmallVector<SmallVector<Value>> results{weigher.run()};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct LowerRescaleRows : OpConversionPattern<tile::RescaleRowsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::RescaleRowsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    int64_t perBlock = op.getAccumulator().getType().getShape()[1] / 2;
    SmallVector<SmallVector<Value>> results{rescaled(e, adaptor.getAccumulator(), adaptor.getShrink(), [&](int64_t i) {
      return i / perBlock * 2 + i % 4 / 2;
    })};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

void mlac::populatePrefillWeigh(TileTypeConverter &converter, RewritePatternSet &patterns,
                                const LoweringOptions &options) {
  patterns.add<LowerWeighRows>(converter, patterns.getContext(), options);
  patterns.add<LowerRescaleRows>(converter, patterns.getContext());
}

// Prefill: one step of the online softmax, in the registers of the warp that scored.
#include "passes/nvvm/Prefill.h"

using namespace mlir;
using namespace mlac;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// How far, in powers of two, probabilities may exceed 1 before accumulators shrink.
constexpr double kHeadroom = 8;

class RowSoftmax {
public:
  RowSoftmax(Emitter &e, tile::SoftmaxRowsOp op,
             tile::SoftmaxRowsOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor)
      : e(e), scores(adaptor.getScores()), old(adaptor.getMaximum()), sums(adaptor.getSum()),
        scale(adaptor.getScale().front()),
        pack(computeOf(op) == Element::F16 ? Instr::F32ToF16 : Instr::F32ToBF16),
        perBlock(prefillOf(op).getTokens() / 2) {}

  /// Probabilities, references, sums, shrink factors.
  SmallVector<SmallVector<Value>> run() {
    SmallVector<Value> tops = rowMaxima(), maxima, shrinks;
    for (auto [top, before] : llvm::zip(tops, old)) {
      Value candidate = e.mulF(top, scale);
      Value grown = e.lessF(e.addF(before, e.f32(kHeadroom)), candidate);
      Value maximum = e.select(grown, candidate, before);
      // A row that has seen no token keeps -inf; subtracting 0 then gives exp2(-inf) = 0 instead of NaN.
      references.push_back(e.select(e.equalF(maximum, e.f32(-kInfinity)), e.f32(0.0), maximum));
      shrinks.push_back(e.select(grown, e.exp2(e.subF(before, references.back())), e.f32(1.0)));
      maxima.push_back(maximum);
    }
    for (auto [sum, shrink] : llvm::zip(sums, shrinks))
      sum = e.mulF(sum, shrink);
    SmallVector<Value> probs = operands(probabilities());
    return {probs, maxima, sums, shrinks};
  }

private:
  /// Statistics register of score register `index`: [block][row g, row g + 8].
  int64_t rowOf(int64_t index) const { return index / perBlock * 2 + index % 4 / 2; }

  /// Each row's largest score, the same in the four lanes of the row.
  SmallVector<Value> rowMaxima() {
    SmallVector<Value> maxima(old.size());
    for (auto [index, score] : llvm::enumerate(scores)) {
      Value &maximum = maxima[rowOf(int64_t(index))];
      maximum = maximum ? e.maxF(maximum, score) : score;
    }
    for (Value &maximum : maxima)
      maximum = e.reduce(maximum, 4, [&](Value a, Value b) { return e.maxF(a, b); });
    return maxima;
  }

  SmallVector<Value> probabilities() {
    SmallVector<Value> negated =
        llvm::map_to_vector(references, [&](Value v) { return e.subF(e.f32(0.0), v); });
    SmallVector<Value> probs;
    for (auto [index, score] : llvm::enumerate(scores)) {
      int64_t row = rowOf(int64_t(index));
      probs.push_back(e.exp2(e.fmaF(score, scale, negated[row])));
      sums[row] = e.addF(sums[row], probs.back());
    }
    return probs;
  }

  /// Accumulators of two times eight tokens are the instruction's operand of 16: rows g and g + 8 of the
  /// first eight, then of the others. Registers are [block][16 tokens][4].
  SmallVector<Value> operands(ArrayRef<Value> probs) {
    SmallVector<Value> pairs;
    for (size_t i = 0; i < probs.size(); i += 2)
      pairs.push_back(e.call1(pack, {probs[i + 1], probs[i]}));
    return pairs;
  }

  Emitter &e;
  ValueRange scores, old;
  SmallVector<Value> sums, references;
  Value scale;
  Instr pack;
  int64_t perBlock;
};

struct LowerSoftmaxRows : OpConversionPattern<tile::SoftmaxRowsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::SoftmaxRowsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    rewriter.replaceOpWithMultiple(op, RowSoftmax(e, op, adaptor).run());
    return success();
  }
};

} // namespace

void mlac::populatePrefillSoftmax(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerSoftmaxRows>(converter, patterns.getContext());
}

// mla-infer-scales: scales of stored rows become factors of the scores and of the result.
#include "passes/Passes.h"

#include "dialect/mla/MLA.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlac {
#define GEN_PASS_DEF_INFERSCALES
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;

namespace {

/// op(..., x * s, ...) becomes op(..., x, ...) * s for operand `index`: both are linear in it.
template <typename OpT>
struct MoveScaleOut : OpRewritePattern<OpT> {
  MoveScaleOut(MLIRContext *context, unsigned index, Pass::Statistic &moved)
      : OpRewritePattern<OpT>(context), index(index), moved(moved) {}

  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    auto scale = op->getOperand(index).template getDefiningOp<mla::ScaleOp>();
    if (!scale)
      return failure();
    Operation *plain = rewriter.clone(*op);
    plain->setOperand(index, scale.getSource());
    rewriter.replaceOpWithNewOp<mla::ScaleOp>(op, op->getResult(0).getType(), plain->getResult(0), scale.getFactor());
    ++moved;
    return success();
  }

  unsigned index;
  Pass::Statistic &moved;
};

/// causal(s) * f becomes causal(s * f): -inf stays -inf under a finite positive factor.
struct MoveScaleIntoMask : OpRewritePattern<mla::ScaleOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(mla::ScaleOp op, PatternRewriter &rewriter) const override {
    auto mask = op.getSource().getDefiningOp<mla::CausalOp>();
    if (!mask)
      return failure();
    Value scaled = mla::ScaleOp::create(rewriter, op.getLoc(), op.getType(), mask.getScores(), op.getFactor());
    rewriter.replaceOpWithNewOp<mla::CausalOp>(op, op.getType(), scaled);
    return success();
  }
};

struct InferScales : mlac::impl::InferScalesBase<InferScales> {
  using InferScalesBase::InferScalesBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    for (unsigned index : {0u, 1u})
      patterns.add<MoveScaleOut<mla::DotOp>>(context, index, moved);
    patterns.add<MoveScaleOut<mla::SliceOp>>(context, 0u, moved);
    patterns.add<MoveScaleOut<mla::AttendOp>>(context, 1u, moved);
    patterns.add<MoveScaleIntoMask>(context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation().walk([&](mla::ScaleOp op) { check(op); });
  }

  /// Only scores and results may still carry a scale.
  void check(mla::ScaleOp op) {
    auto rows = dyn_cast<mla::RowsType>(op.getType());
    if (!rows || rows.getHeads() > 1 || rows.getShape().size() == 2 || op->use_empty())
      return;
    op.emitError() << "the scale of these rows cannot be moved out of the tile loads [scale-stuck]";
    signalPassFailure();
  }
};

} // namespace

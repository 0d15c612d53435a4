// tile-fuse-dequant: every dequant moves into the tile load that it reads from.
#include "passes/Passes.h"

#include "dialect/tile/Tile.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlac {
#define GEN_PASS_DEF_FUSEDEQUANT
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;

namespace {

/// dequant(load) becomes a load that reads as the compute type.
struct FuseIntoLoad : OpRewritePattern<tile::DequantOp> {
  FuseIntoLoad(MLIRContext *context, Pass::Statistic &fused) : OpRewritePattern(context), fused(fused) {}

  LogicalResult matchAndRewrite(tile::DequantOp op, PatternRewriter &rewriter) const override {
    auto load = op.getSource().getDefiningOp<tile::LoadOp>();
    if (!load || load.getType().getStorage())
      return failure();
    auto type = tile::TileType::get(op.getContext(), load.getType().getShape(), op.getType().getElementType(),
                                    load.getType().getElementType());
    rewriter.replaceOpWithNewOp<tile::LoadOp>(op, type, load.getSource(), load.getItem(), load.getTile());
    ++fused;
    return success();
  }

  Pass::Statistic &fused;
};

/// dequant(slice(x)) becomes slice(dequant(x)): whole tiles are loaded, slices are views of them.
struct DequantBeforeSlice : OpRewritePattern<tile::DequantOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tile::DequantOp op, PatternRewriter &rewriter) const override {
    auto slice = op.getSource().getDefiningOp<tile::SliceOp>();
    if (!slice)
      return failure();
    tile::TileType source = slice.getSource().getType();
    auto wide = tile::TileType::get(op.getContext(), source.getShape(), op.getType().getElementType());
    Value dequant = tile::DequantOp::create(rewriter, op.getLoc(), wide, slice.getSource());
    rewriter.replaceOpWithNewOp<tile::SliceOp>(op, op.getType(), dequant, slice.getBegin(), slice.getEnd());
    return success();
  }
};

/// Slices take the storage of what they slice; their declared type follows.
struct SliceStorage : OpRewritePattern<tile::SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tile::SliceOp op, PatternRewriter &rewriter) const override {
    tile::TileType source = op.getSource().getType();
    tile::TileType type = source.withShape(op.getType().getShape());
    if (type == op.getType())
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getResult().setType(type); });
    return success();
  }
};

/// Two loads of one KV tile are one load: K and V come from the same latent tile.
struct ShareLoad : OpRewritePattern<tile::LoadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tile::LoadOp op, PatternRewriter &rewriter) const override {
    for (Operation *user : op.getTile().getUsers()) {
      auto other = dyn_cast<tile::LoadOp>(user);
      if (!other || other == op || other->getBlock() != op->getBlock() || !other->isBeforeInBlock(op) ||
          other->getOperands() != op->getOperands() || other.getType() != op.getType())
        continue;
      rewriter.replaceOp(op, other);
      return success();
    }
    return failure();
  }
};

struct FuseDequant : mlac::impl::FuseDequantBase<FuseDequant> {
  using FuseDequantBase::FuseDequantBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<FuseIntoLoad>(context, fused);
    patterns.add<DequantBeforeSlice, SliceStorage, ShareLoad>(context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation().walk([&](tile::DequantOp op) {
      op.emitError() << "this dequant does not read a tile load, so a converted tile would have to be stored "
                        "[dequant-unfused]";
      signalPassFailure();
    });
  }
};

} // namespace

// Where a thread's row lies, and its asynchronous copy into a stage.
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

namespace {

/// How a block's threads share a tile's copy: some neighbouring threads a row, each every n-th piece of it.
struct CopyShape {
  int64_t threadsPerRow, pieceBytes, pieces;

  CopyShape(tile::ScheduleAttr schedule, mla::BufferType buffer)
      : threadsPerRow(schedule.getThreads() / schedule.getTokens()), pieceBytes(buffer.getAlign()),
        pieces(buffer.getTokenBytes() / buffer.getAlign()) {}

  Value row(Emitter &e) const { return e.divU(e.thread(), threadsPerRow); }
  Value piece(Emitter &e) const { return e.remU(e.thread(), threadsPerRow); }
  Instr op() const { return pieceBytes == 16 ? Instr::CopyAsync16 : pieceBytes == 8 ? Instr::CopyAsync8 : Instr::CopyAsync4; }
};

/// Address of a token's row in a paged cache: everything from the page id on in 64 bits.
Value locatePaged(Emitter &e, const PagedView &cache, const ItemView &item, Value token, int64_t elementBytes) {
  Value product = arith::MulIOp::create(e.builder, e.loc, e.widenUnsigned(token), e.widenUnsigned(cache.magic));
  Value page = e.narrow(e.shrU(product, e.widenUnsigned(e.add(cache.shift, 31))));
  Value inPage = e.sub(token, e.mul(page, cache.pageSize));
  Value entryIndex = e.add(e.mul(e.widen(item.request), cache.tableStride), e.widen(page));
  Value entry = e.load(e.i32(), e.offset(cache.table, e.mul(entryIndex, 4)), 4);
  Value elements = e.add(e.mul(e.widen(entry), cache.stridePage), e.mul(e.widen(inPage), cache.strideToken));
  return e.offset(cache.data, e.mul(elements, elementBytes));
}

Value locateRagged(Emitter &e, const RaggedView &cache, const ItemView &item, Value token, int64_t elementBytes) {
  Value first = e.load(e.i32(), e.offset(cache.indptr, e.mul(e.widen(item.request), 4)), 4);
  Value row = e.add(e.widen(first), e.widen(token));
  return e.offset(cache.data, e.mul(e.mul(row, cache.strideToken), elementBytes));
}

struct LowerLocate : OpConversionPattern<tile::LocateOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::LocateOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    tile::ScheduleAttr schedule = scheduleOf(op);
    mla::BufferType type = op.getSource().getType();
    CopyShape shape(schedule, type);
    ItemView item(adaptor.getItem());
    Value token = e.add(e.mul(adaptor.getTile().front(), schedule.getTokens()), shape.row(e));
    Value valid = e.less(token, item.kvLen);
    int64_t elementBytes = mla::bytesOf(type.getElementType(), 1);
    Value row = e.choose(
                     valid,
                     [&]() -> SmallVector<Value> {
                       if (type.getLayout() == mla::Layout::paged)
                         return {locatePaged(e, PagedView(adaptor.getSource()), item, token, elementBytes)};
                       return {locateRagged(e, RaggedView(adaptor.getSource()), item, token, elementBytes)};
                     },
                     [&]() -> SmallVector<Value> { return {adaptor.getSource().front()}; })
                    .front();
    SmallVector<SmallVector<Value>> results{{row, valid}};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct LowerCopy : OpConversionPattern<tile::CopyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::CopyOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    CopyShape shape(scheduleOf(op), op.getSource().getType());
    e.when(adaptor.getEnabled().front(), [&] { copyRow(e, op, adaptor, shape); });
    rewriter.eraseOp(op);
    return success();
  }

  static void copyRow(Emitter &e, tile::CopyOp op, OneToNOpAdaptor adaptor, const CopyShape &shape) {
    tile::SharedType ring = op.getRing().getType();
    Value piece = shape.piece(e), start = e.mul(piece, shape.pieceBytes);
    Value stage = stageAddress(e, adaptor.getRing().front(), ring, adaptor.getStage().front());
    Value to = e.offset(e.offset(stage, e.mul(shape.row(e), ring.getPitch())), start);
    Value from = e.offset(adaptor.getFrom()[0], e.widen(start));
    // A source size of 0 fills with zeros: rows past the request's end never reach arithmetic.
    Value bytes = e.select(adaptor.getFrom()[1], e.i32(shape.pieceBytes), e.i32(0));
    auto copyPiece = [&](int64_t first) {
      int64_t at = first * shape.pieceBytes;
      e.call(shape.op(), {e.offset(to, at), e.offset(from, at), bytes});
    };
    int64_t first = 0;
    for (; first + shape.threadsPerRow <= shape.pieces; first += shape.threadsPerRow)
      copyPiece(first);
    if (first < shape.pieces)
      e.when(e.less(piece, shape.pieces - first), [&] { copyPiece(first); });
  }
};

struct LowerCommit : OpConversionPattern<tile::CommitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::CommitOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Emitter(rewriter, op).call(Instr::CopyCommit, {});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerWait : OpConversionPattern<tile::WaitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::WaitOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    e.call(Instr::CopyWait, e.i32(op.getPending()));
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlac::populateCopy(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerLocate, LowerCopy, LowerCommit, LowerWait>(converter, patterns.getContext());
}

// Where a thread's row lies, and its asynchronous copy into a stage.
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

namespace {

/// How a group's threads share a tile's copy: four neighbours a row, each every fourth piece of it, so that a quad
/// reads 64 bytes in one go; several rows a thread where the tile has more of them than the group has quads.
struct CopyShape {
  int64_t rowsPerPass, rows, pieceBytes, pieces, tokens;

  CopyShape(tile::ScheduleAttr schedule, mla::BufferType buffer)
      : rowsPerPass(schedule.getThreadsPerGroup() / 4), rows(schedule.getCopyRows()), pieceBytes(buffer.getAlign()),
        pieces(buffer.getTokenBytes() / buffer.getAlign()), tokens(schedule.getTokens()) {}

  /// Row of the tile that this thread copies part of in pass `pass`.
  Value row(Emitter &e, const GroupView &view, int64_t pass) const {
    return e.add(e.shrU(view.thread, 2), pass * rowsPerPass);
  }
  Value piece(Emitter &e) const { return e.bitAnd(e.thread(), 3); }
  /// Whether the group has more quads than the tile has rows.
  bool idles() const { return rowsPerPass > tokens; }
  Instr op() const {
    return pieceBytes == 16 ? Instr::CopyAsync16 : pieceBytes == 8 ? Instr::CopyAsync8 : Instr::CopyAsync4;
  }
};

struct LowerLocate : OpConversionPattern<tile::LocateOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::LocateOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    tile::ScheduleAttr schedule = scheduleOf(op);
    GroupView view(e, schedule);
    CopyShape shape(schedule, op.getSource().getType());
    CursorView cursor(adaptor.getCursor());
    Value tile = e.add(e.mul(cursor.tile, schedule.getGroups()), view.group);
    Value first = e.mul(tile, schedule.getTokens());
    // No tile, no rows: neither past the stream's end nor past the item's.
    Value tokens = e.select(e.less(cursor.tile, cursor.tileEnd), cursor.kvLen, e.i32(0));
    SmallVector<Value> address;
    for (int64_t pass = 0; pass < shape.rows; ++pass) {
      Value token = e.add(first, shape.row(e, view, pass));
      Value valid = e.less(token, tokens);
      if (shape.idles())
        valid = e.both(valid, e.less(shape.row(e, view, pass), shape.tokens));
      llvm::append_range(address, locate(e, op.getSource().getType(), adaptor.getSource(), cursor.request, token, valid));
      address.push_back(valid);
    }
    SmallVector<SmallVector<Value>> results{address};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

  /// Page and place in it of a paged cache; first row and place after it of a ragged one.
  static SmallVector<Value> locate(Emitter &e, mla::BufferType type, ValueRange source, Value request, Value token,
                                   Value valid) {
    if (type.getLayout() != mla::Layout::paged)
      return {e.load(e.i32(), e.offset(RaggedView(source).indptr, e.mul(e.widen(request), 4)), 4), token};
    PagedView cache(source);
    Value product = e.mul(e.widenUnsigned(token), e.widenUnsigned(cache.magic));
    Value page = e.narrow(e.shrU(product, e.widenUnsigned(e.add(cache.shift, 31))));
    Value place = e.sub(token, e.mul(page, cache.pageSize));
    Value index = e.add(e.mul(e.widen(request), cache.tableStride), e.widen(page));
    // Entries past the request's end are not read.
    Value entry = e.choose(
                       valid,
                       [&]() -> SmallVector<Value> {
                         return {e.load(e.i32(), e.offset(cache.table, e.mul(index, 4)), 4)};
                       },
                       [&]() -> SmallVector<Value> { return {e.i32(0)}; })
                      .front();
    return {entry, place};
  }
};

struct LowerCopy : OpConversionPattern<tile::CopyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::CopyOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    tile::ScheduleAttr schedule = scheduleOf(op);
    CopyShape shape(schedule, op.getSource().getType());
    GroupView view(e, schedule);
    Value stage = ringAddress(e, adaptor.getRing().front(), op.getRing().getType(), schedule, view,
                              adaptor.getStage().front());
    for (int64_t pass = 0; pass < shape.rows; ++pass) {
      auto copy = [&] { copyRow(e, op, adaptor, shape, shape.row(e, view, pass), stage, pass); };
      if (shape.idles())
        e.when(e.less(shape.row(e, view, pass), shape.tokens), copy);
      else
        copy();
    }
    rewriter.eraseOp(op);
    return success();
  }

  /// Address of the located row; everything from the page id on in 64 bits.
  static Value rowAddress(Emitter &e, mla::BufferType type, ValueRange source, Value entry, Value place) {
    int64_t bytes = mla::bytesOf(type.getElementType(), 1);
    if (type.getLayout() == mla::Layout::paged) {
      PagedView cache(source);
      Value elements = e.add(e.mul(e.widen(entry), cache.stridePage), e.mul(e.widen(place), cache.strideToken));
      return e.offset(cache.data, e.mul(elements, bytes));
    }
    RaggedView cache(source);
    Value row = e.add(e.widen(entry), e.widen(place));
    return e.offset(cache.data, e.mul(e.mul(row, cache.strideToken), bytes));
  }

  static void copyRow(Emitter &e, tile::CopyOp op, OneToNOpAdaptor adaptor, const CopyShape &shape, Value row, Value stage,
                      int64_t pass) {
    ValueRange address = adaptor.getFrom().slice(3 * pass, 3);
    Value piece = shape.piece(e), start = e.mul(piece, shape.pieceBytes);
    Value to = e.offset(stage, e.add(e.mul(row, op.getRing().getType().getPitch()), start));
    // A row past the end copies nothing from the buffer's start: a source size of 0 fills with zeros, so that what lies
    // past the request's end never reaches arithmetic.
    Value valid = address[2];
    Value from = rowAddress(e, op.getSource().getType(), adaptor.getSource(), address[0], address[1]);
    from = e.offset(e.select(valid, from, adaptor.getSource().front()), e.widen(start));
    Value bytes = e.select(valid, e.i32(shape.pieceBytes), e.i32(0));
    auto copyPiece = [&](int64_t first) {
      int64_t at = first * shape.pieceBytes;
      e.call(shape.op(), {e.offset(to, at), e.offset(from, at), bytes});
    };
    int64_t first = 0;
    for (; first + 4 <= shape.pieces; first += 4)
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

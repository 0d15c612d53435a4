// Where a thread's row lies, and its asynchronous copy into a stage.
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

namespace {

/// How a group's threads share a tile's copy. Each warp copies its own rows, each lane locates one of them (or two). Eight
/// lanes copy a row, 128 bytes at a time: the longer the runs, the more of them the memory system keeps under way.
struct CopyShape {
  int64_t rows, pieceBytes, pieces;

  CopyShape(tile::ScheduleAttr schedule, mla::BufferType buffer)
      : rows(schedule.getRowsPerCopyWarp()), pieceBytes(buffer.getAlign()),
        pieces(buffer.getTokenBytes() / buffer.getAlign()) {}

  /// Row of the tile that is the warp's first.
  Value firstRow(Emitter &e, const GroupView &view) const { return e.mul(view.warp, rows); }
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
    Value row = shape.rows < 32 ? e.remU(e.lane(), shape.rows) : e.lane();
    for (int64_t round = 0; round < schedule.getLocatedRows(); ++round) {
      Value token = e.add(e.add(first, shape.firstRow(e, view)), e.add(row, 32 * round));
      Value valid = e.less(token, tokens);
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

/// Copies one warp's rows.
class RowCopier {
public:
  RowCopier(Emitter &e, tile::CopyOp op, tile::CopyOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor)
      : e(e), shape(scheduleOf(op), op.getSource().getType()), pitch(op.getRing().getType().getPitch()) {
    tile::ScheduleAttr schedule = scheduleOf(op);
    GroupView view(e, schedule);
    Value stage = ringAddress(e, adaptor.getRing().front(), op.getRing().getType(), schedule, view,
                              adaptor.getStage().front());
    target = e.offset(stage, e.mul(shape.firstRow(e, view), pitch));
    mla::BufferType type = op.getSource().getType();
    scaleBytes = type.getScaleRowBytes();
    scalesAt = mla::scalesByte(type.getTokenBytes());
    for (int64_t round = 0; round < schedule.getLocatedRows(); ++round) {
      ValueRange from = adaptor.getFrom().slice(3 * round, 3);
      located.push_back(addressOf(type, adaptor.getSource(), from));
      if (scaleBytes)
        scales.push_back(scalesOf(type, ScaleRowsView(adaptor.getSource()), from));
    }
  }

  void run() {
    int64_t tail = shape.pieces % 8, wide = shape.pieces - tail;
    for (int64_t row = 0; row < shape.rows; row += 4)
      if (wide > 0)
        copyRows(row, /*lanes=*/8, 0, wide);
    // What is left of eight rows takes one instruction where four lanes a row do.
    int64_t lanes = tail > 4 ? 8 : 4;
    for (int64_t row = 0; tail > 0 && row < shape.rows; row += 32 / lanes)
      copyRows(row, lanes, wide, tail);
    if (scaleBytes)
      copyScales();
  }

private:
  /// Rows of scales, four bytes a piece.
  void copyScales() {
    std::swap(located, scales);
    shape.pieceBytes = 4;
    target = e.offset(target, scalesAt);
    int64_t pieces = scaleBytes / 4, lanes = std::min<int64_t>(8, llvm::PowerOf2Ceil(pieces));
    for (int64_t row = 0; row < shape.rows; row += 32 / lanes)
      copyRows(row, lanes, 0, pieces);
  }

  struct Address {
    Value low, high, bytes; ///< of the row; bytes of a piece to read, 0 for a row that is not the request's
  };

  /// Address of the located row; everything from the page id on in 64 bits. A row past the end copies nothing from the
  /// buffer's start: a source size of 0 fills with zeros, so that what lies past the request's end never reaches arithmetic.
  Address addressOf(mla::BufferType type, ValueRange source, ValueRange from) {
    Value entry = from[0], place = from[1], valid = from[2], row;
    int64_t bytes = type.getStrideBytes();
    if (type.getLayout() == mla::Layout::paged) {
      PagedView cache(source);
      row = e.add(e.mul(e.widen(entry), cache.stridePage), e.mul(e.widen(place), cache.strideToken));
    } else {
      row = e.mul(e.add(e.widen(entry), e.widen(place)), RaggedView(source).strideToken);
    }
    Value address = e.toInteger(e.offset(source.front(), e.select(valid, e.mul(row, bytes), e.i64(0))));
    return {e.narrow(address), e.narrow(e.shrU(address, e.i64(32))),
            e.select(valid, e.i32(shape.pieceBytes), e.i32(0))};
  }

  /// The same of the row's scales, four bytes a piece. Their strides count bytes.
  Address scalesOf(mla::BufferType type, const ScaleRowsView &view, ValueRange from) {
    Value entry = e.widen(from[0]), place = e.widen(from[1]), valid = from[2];
    Value row = type.getLayout() == mla::Layout::paged
                    ? e.add(e.mul(entry, view.stridePage), e.mul(place, view.strideToken))
                    : e.mul(e.add(entry, place), view.strideToken);
    Value address = e.toInteger(e.offset(view.data, e.select(valid, row, e.i64(0))));
    return {e.narrow(address), e.narrow(e.shrU(address, e.i64(32))), e.select(valid, e.i32(4), e.i32(0))};
  }

  /// Pieces [first, first + count) of the rows from `row` on, `lanes` lanes a row.
  void copyRows(int64_t row, int64_t lanes, int64_t first, int64_t count) {
    Value within = e.add(e.divU(e.lane(), lanes), row), piece = e.remU(e.lane(), lanes);
    const Address &own = located[row / 32];
    auto ofRow = [&](Value value) {
      return e.call1(Instr::ShuffleIndex, {e.i32(-1), value, e.remU(within, 32), e.i32(31)});
    };
    Value low = ofRow(own.low), high = ofRow(own.high), bytes = ofRow(own.bytes);
    Value start = e.mul(piece, shape.pieceBytes);
    Value from = e.offset(e.toGlobalPointer(low, high), e.widen(start));
    Value to = e.offset(target, e.add(e.mul(within, pitch), start));
    auto copy = [&] {
      for (int64_t at = first; at < first + count; at += lanes)
        e.call(shape.op(), {e.offset(to, at * shape.pieceBytes), e.offset(from, at * shape.pieceBytes), bytes});
    };
    Value has;
    if (row + 32 / lanes > shape.rows)
      has = e.less(within, shape.rows);
    if (count % lanes)
      has = has ? e.both(has, e.less(piece, count)) : e.less(piece, count);
    has ? e.when(has, copy) : copy();
  }

  Emitter &e;
  CopyShape shape;
  int64_t pitch, scaleBytes, scalesAt;
  Value target;
  SmallVector<Address> located, scales;
};

struct LowerCopy : OpConversionPattern<tile::CopyOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::CopyOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    RowCopier(e, op, adaptor).run();
    rewriter.eraseOp(op);
    return success();
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

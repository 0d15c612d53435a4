// Prefill: the query rows, and the asynchronous copies of key and value tiles.
#include "passes/nvvm/Prefill.h"

using namespace mlir;
using namespace mlac;

//===-- What the pattern files of prefill share --------------------------------------------------------===//

Value mlac::warpRow(Emitter &e, tile::PrefillScheduleAttr schedule, int64_t index) {
  Value first = e.mul(e.warp(), schedule.getRowsPerWarp());
  return e.add(e.add(first, e.shrU(e.lane(), 2)), index / 2 * 16 + index % 2 * 8);
}

std::pair<Value, Value> mlac::tokenAndHead(Emitter &e, const ItemView &item, Value row, int64_t headsPerKv) {
  if (headsPerKv == 1)
    return {row, item.head};
  return {e.divU(row, headsPerKv), e.add(e.mul(item.head, headsPerKv), e.remU(row, headsPerKv))};
}

FragmentLayout mlac::prefillLayout(Element storage) { return FragmentLayout(storage, Element::F16); }

SmallVector<Value> mlac::computePairs(Emitter &e, Value word, Element storage, Element compute) {
  if (bitsOf(storage) == 16)
    return {convertPair(e, word, storage, compute)};
  auto [low, high] = convertBytes(e, word, storage, Element::F16);
  return {convertPair(e, low, Element::F16, compute), convertPair(e, high, Element::F16, compute)};
}

namespace {

//===-- Query ------------------------------------------------------------------------------------------===//

/// Copies the rows 16 columns at a time: `quorum` neighbouring threads a row, each every quorum-th piece of
/// it. Threads keep their columns from row to row, so that little has to be kept in registers from item to
/// item.
class QueryRowsLoader {
public:
  QueryRowsLoader(Emitter &e, tile::LoadQueryRowsOp op, const HeadsView &query, const ItemView &item,
                  Value shared)
      : e(e), schedule(prefillOf(op)), type(op.getQuery().getType()),
        layout(prefillLayout(elementOf(op.getStorage()))),
        from(elementOf(op.getSource().getType().getElementType())), to(computeOf(op)),
        headsPerKv(headsPerKvOf(op)), steps(op.getSource().getType().getWidth() / 16),
        quorum(std::min<int64_t>(8, steps & -steps)), query(query), item(item), shared(shared) {}

  void run() {
    int64_t rowsPerPass = schedule.getThreads() / quorum;
    for (int64_t first = 0; first < schedule.getRows(); first += rowsPerPass) {
      Value row = e.add(e.divU(e.thread(), quorum), first);
      if (first + rowsPerPass <= schedule.getRows())
        copyRow(row);
      else
        e.when(e.less(row, schedule.getRows()), [&] { copyRow(row); });
    }
  }

private:
  void copyRow(Value row) {
    Value packed = e.add(item.rowBegin, row);
    Value inside = e.less(packed, item.rows);
    // Rows past the end point at the item's first and read as 0.
    auto [token, head] = tokenAndHead(e, item, e.select(inside, packed, item.rowBegin), headsPerKv);
    Value start = e.mul(e.bitAnd(e.thread(), quorum - 1), 32);
    Value source = e.offset(query.address(e, e.add(item.queryBegin, token), head, 2), e.widen(start));
    Value target = e.offset(shared, e.add(e.mul(row, type.getPitch()), start));
    for (int64_t step = 0; step < steps; step += quorum)
      copyPiece(e.offset(source, 32 * step), e.offset(target, 32 * step), inside);
  }

  void copyPiece(Value source, Value target, Value inside) {
    SmallVector<Value> pairs;
    for (int64_t at = 0; at < 32; at += 8)
      llvm::append_range(pairs, e.loadVector(e.i32(), 2, e.offset(source, at)));
    for (Value &pair : pairs)
      pair = convertPair(e, e.select(inside, pair, e.i32(0)), from, to);
    for (int pair : {0, 1}) {
      SmallVector<Value> half;
      for (int column = 0; column < 4; ++column)
        half.push_back(pairs[layout.contractedDim(pair, 0, column) / 2]);
      e.storeVector(half, e.offset(target, 16 * pair));
    }
  }

  Emitter &e;
  tile::PrefillScheduleAttr schedule;
  tile::SharedType type;
  FragmentLayout layout;
  Element from, to;
  int64_t headsPerKv, steps, quorum;
  const HeadsView &query;
  const ItemView &item;
  Value shared;
};

struct LowerLoadQueryRows : OpConversionPattern<tile::LoadQueryRowsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::LoadQueryRowsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    HeadsView query(adaptor.getSource());
    ItemView item(adaptor.getItem());
    QueryRowsLoader(e, op, query, item, adaptor.getQuery().front()).run();
    rewriter.eraseOp(op);
    return success();
  }
};

//===-- Keys and values --------------------------------------------------------------------------------===//

/// How a block's threads share a tile's copy: `quorum` neighbours a row, each every quorum-th piece of it.
struct RowsCopy {
  int64_t pieceBytes, pieces, quorum, rowsPerPass, passes, tokens;

  RowsCopy(tile::PrefillScheduleAttr schedule, mla::BufferType buffer)
      : pieceBytes(buffer.getAlign()),
        pieces(mla::bytesOf(buffer.getElementType(), buffer.getWidth()) / pieceBytes),
        quorum(std::min<int64_t>(8, pieces & -pieces)), rowsPerPass(schedule.getThreads() / quorum),
        passes((schedule.getTokens() + rowsPerPass - 1) / rowsPerPass), tokens(schedule.getTokens()) {}

  Value row(Emitter &e, int64_t pass) const { return e.add(e.divU(e.thread(), quorum), pass * rowsPerPass); }
  Value start(Emitter &e) const { return e.mul(e.bitAnd(e.thread(), quorum - 1), pieceBytes); }
  Instr op() const {
    return pieceBytes == 16 ? Instr::CopyAsync16 : pieceBytes == 8 ? Instr::CopyAsync8 : Instr::CopyAsync4;
  }
};

struct LowerCopyRows : OpConversionPattern<tile::CopyRowsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::CopyRowsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    RowsCopy copy(prefillOf(op), op.getSource().getType());
    e.when(adaptor.getEnabled().front(), [&] {
      Value stage =
          stageAddress(e, adaptor.getRing().front(), op.getRing().getType(), adaptor.getStage().front());
      for (int64_t pass = 0; pass < copy.passes; ++pass) {
        Value row = copy.row(e, pass);
        auto copyOne = [&] { copyRow(e, op, adaptor, copy, row, stage); };
        if ((pass + 1) * copy.rowsPerPass <= copy.tokens)
          copyOne();
        else
          e.when(e.less(row, copy.tokens), copyOne);
      }
    });
    rewriter.eraseOp(op);
    return success();
  }

  static void copyRow(Emitter &e, tile::CopyRowsOp op, OneToNOpAdaptor adaptor, const RowsCopy &copy,
                      Value row, Value stage) {
    ItemView item(adaptor.getItem());
    HeadsView source(adaptor.getSource());
    Value token = e.add(e.mul(adaptor.getTile().front(), copy.tokens), row);
    // A row past the end copies nothing from the request's first: a source size of 0 fills with zeros, so
    // that what lies past the request's end never reaches arithmetic.
    Value valid = e.less(token, item.kvLen);
    int64_t elementBytes = mla::bytesOf(op.getSource().getType().getElementType(), 1);
    Value inside = e.add(item.kvBegin, e.select(valid, token, e.i32(0)));
    Value from = e.offset(source.address(e, inside, item.head, elementBytes), e.widen(copy.start(e)));
    Value to = e.offset(stage, e.add(e.mul(row, op.getRing().getType().getPitch()), copy.start(e)));
    Value bytes = e.select(valid, e.i32(copy.pieceBytes), e.i32(0));
    for (int64_t piece = 0; piece < copy.pieces; piece += copy.quorum)
      e.call(copy.op(),
             {e.offset(to, piece * copy.pieceBytes), e.offset(from, piece * copy.pieceBytes), bytes});
  }
};

} // namespace

void mlac::populatePrefillCopy(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerLoadQueryRows, LowerCopyRows>(converter, patterns.getContext());
}

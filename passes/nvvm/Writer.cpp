// Writers: each thread reads neighbouring elements of a new row, converts them, and stores them where the row goes.
#include "passes/nvvm/Loops.h"
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

namespace {

/// Where rows go: rows of the sources, requests of the lists, pages of the pool, columns of the page table, and slots of 4 or 8
/// bytes; without slots rows go to the ends of their requests.
struct PlacesView {
  Value rows, requests, pages, columns, slotBytes, slots, kvLen;
  explicit PlacesView(ValueRange v)
      : rows(v[0]), requests(v[1]), pages(v[2]), columns(v[3]), slotBytes(v[4]), slots(v[5]), kvLen(v[6]) {}
};

/// A row's place in the pool; page -1: nowhere.
struct Place {
  Value page, inPage;
};

class AppendEmitter {
public:
  AppendEmitter(Emitter &e, tile::AppendOp op, tile::AppendOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor)
      : e(e), op(op), cacheType(op.getCache().getType()), places(adaptor.getPlaces()), cache(adaptor.getCache()),
        divisor(op.getDivisor() ? adaptor.getDivisor().front() : Value()), elements(op.getElements()) {
    for (ValueRange source : adaptor.getSources())
      sources.emplace_back(source);
  }

  void run() {
    int64_t chunks = cacheType.getWidth() / elements;
    Value index = e.add(e.mul(e.call1(Instr::BlockId, {}), op.getThreads()), e.thread());
    Value row = e.divU(index, chunks), chunk = e.remU(index, chunks);
    e.when(e.less(row, rowCount()), [&] {
      SmallVector<Value> words = load(row, chunk);
      Place place = placeOf(row);
      e.when(e.less(e.i32(-1), place.page), [&] { store(stored(words, chunk), place, chunk); });
    });
  }

private:
  //===-- Rows and places --===//

  Value isNull(Value pointer) {
    return arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::eq, e.toInteger(pointer), e.i64(0));
  }

  /// Rows that there are: the indptr's last, which may change from one replay of a graph to the next, but no more than fit.
  Value rowCount() {
    return e.choose(
                isNull(indptr().data), [&]() -> Values { return {places.rows}; },
                [&]() -> Values { return {e.minS(indptr().load(e, places.requests), places.rows)}; })
        .front();
  }

  ArrayView indptr() { return {sources.front().indptr, e.i32()}; }

  Place placeOf(Value row) {
    Values place = e.choose(
        isNull(places.slots), [&] { return atRequestsEnd(row); }, [&] { return atSlot(row); });
    return {place[0], place[1]};
  }

  Values nowhere() { return {e.i32(-1), e.i32(0)}; }

  /// Page and row of it of a token below 2^31.
  std::pair<Value, Value> split(Value token) {
    Value product = e.mul(e.widenUnsigned(token), e.widenUnsigned(cache.magic));
    Value page = e.narrow(e.shrU(product, e.widenUnsigned(e.add(cache.shift, 31))));
    return {page, e.sub(token, e.mul(page, cache.pageSize))};
  }

  Value isWithin(Value value, Value end) {
    return arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::ult, value, end);
  }

  Values atSlot(Value row) {
    Value slot = e.choose(
                      e.equal(places.slotBytes, 8),
                      [&]() -> Values { return {ArrayView{places.slots, e.i64()}.load(e, row)}; },
                      [&]() -> Values { return {e.widen(ArrayView{places.slots, e.i32()}.load(e, row))}; })
                     .front();
    Value slotsOfPool = e.mul(e.widen(places.pages), e.widen(cache.pageSize));
    return e.choose(
        isWithin(slot, slotsOfPool), [&]() -> Values {
          auto [page, inPage] = split(e.narrow(slot));
          return {page, inPage};
        },
        [&] { return nowhere(); });
  }

  /// The last rows of a request are its last cached tokens, as its query tokens are when they attend.
  Values atRequestsEnd(Value row) {
    Value request = e.sub(indptr().countUpTo(e, e.add(places.requests, 1), row), e.i32(1));
    Value after = e.sub(indptr().load(e, e.add(request, 1)), row);
    Value token = e.sub(ArrayView{places.kvLen, e.i32()}.load(e, request), after);
    auto [column, inPage] = split(token);
    Value known = e.both(e.less(e.i32(-1), token), e.less(column, places.columns));
    return e.choose(
        known, [&]() -> Values {
          ArrayView table{e.offset(cache.table, e.mul(e.mul(e.widen(request), cache.tableStride), 4)), e.i32()};
          Value page = table.load(e, column);
          return {e.select(isWithin(page, places.pages), page, e.i32(-1)), inPage};
        },
        [&] { return nowhere(); });
  }

  //===-- Values --===//

  static int64_t bytesOf(mla::BufferType type, int64_t count) { return mla::bytesOf(type.getElementType(), count); }
  mla::BufferType sourceType(size_t index) { return cast<mla::BufferType>(op.getSources()[index].getType()); }

  /// The source that a chunk belongs to, chosen among what `of` gives for each of them.
  Value pick(Value chunk, function_ref<Value(size_t, int64_t)> of) {
    int64_t first = 0;
    Value picked = of(0, 0);
    for (size_t i = 1; i < sources.size(); ++i) {
      first += sourceType(i - 1).getWidth() / elements;
      picked = e.select(e.less(chunk, first), picked, of(i, first));
    }
    return picked;
  }

  /// A chunk of the row as 32-bit words.
  SmallVector<Value> load(Value row, Value chunk) {
    int64_t align = 16;
    for (size_t i = 0; i < sources.size(); ++i)
      align = std::min<int64_t>(align, sourceType(i).getAlign());
    Value data = pick(chunk, [&](size_t i, int64_t) { return sources[i].data; });
    Value stride = pick(chunk, [&](size_t i, int64_t) { return sources[i].strideToken; });
    Value first = pick(chunk, [&](size_t, int64_t begin) { return e.i32(begin); });
    Value column = e.widen(e.mul(e.sub(chunk, first), elements));
    Value address = e.offset(data, e.mul(e.add(e.mul(e.widen(row), stride), column), bytesOf(sourceType(0), 1)));
    int64_t bytes = bytesOf(sourceType(0), elements), piece = std::min(align, bytes);
    SmallVector<Value> words;
    for (int64_t at = 0; at < bytes; at += piece)
      llvm::append_range(words, e.loadVector(e.i32(), piece / 4, e.offset(address, at)));
    return words;
  }

  std::pair<Value, Value> floatsOf(Value word, Type type) {
    if (type.isBF16())
      return {e.bitcast(e.shl(word, 16), e.f32()), e.bitcast(e.bitAnd(word, 0xffff0000), e.f32())};
    Value halves = e.bitcast(word, e.vec(2, e.builder.getF16Type()));
    auto half = [&](int64_t i) -> Value {
      Value value = LLVM::ExtractElementOp::create(e.builder, e.loc, halves, e.i32(i));
      return LLVM::FPExtOp::create(e.builder, e.loc, e.f32(), value);
    };
    return {half(0), half(1)};
  }

  /// The loaded words as the cache stores them.
  SmallVector<Value> stored(ArrayRef<Value> words, Value chunk) {
    if (!op.getRounded())
      return SmallVector<Value>(words);
    SmallVector<Value> values;
    for (Value word : words) {
      Value low = pick(chunk, [&](size_t i, int64_t) { return floatsOf(word, sourceType(i).getElementType()).first; });
      Value high = pick(chunk, [&](size_t i, int64_t) { return floatsOf(word, sourceType(i).getElementType()).second; });
      values.append({divided(low), divided(high)});
    }
    SmallVector<Value> result;
    int64_t perWord = 32 / cacheType.getElementType().getIntOrFloatBitWidth();
    for (size_t i = 0; i < values.size(); i += size_t(perWord))
      result.push_back(round(ArrayRef(values).slice(i, size_t(perWord))));
    return result;
  }

  Value divided(Value value) {
    return divisor ? Value(arith::DivFOp::create(e.builder, e.loc, value, divisor)) : value;
  }

  /// As many values as a word holds, rounded to the cache's storage.
  Value round(ArrayRef<Value> values) {
    Type type = cacheType.getElementType();
    if (type.isInteger(8))
      return roundToInt8(values);
    if (type.isF16() || type.isBF16()) {
      double most = type.isF16() ? 65504.0 : 0x1.fep127;
      return e.call1(type.isF16() ? Instr::F32ToF16 : Instr::F32ToBF16, {clamped(values[1], most), clamped(values[0], most)});
    }
    Instr convert = isa<Float8E4M3FNType>(type) ? Instr::F32ToE4M3 : Instr::F32ToE5M2;
    auto pair = [&](size_t i) -> Value {
      return arith::ExtUIOp::create(e.builder, e.loc, e.i32(), e.call1(convert, {values[i + 1], values[i]}));
    };
    return e.bitOr(pair(0), e.shl(pair(2), 16));
  }

  /// Within +-most; NaN stays.
  Value clamped(Value value, double most) {
    Value upper = arith::MinimumFOp::create(e.builder, e.loc, value, e.f32(most));
    return arith::MaximumFOp::create(e.builder, e.loc, upper, e.f32(-most));
  }

  /// Added to 1.5 * 2^23, a number of magnitude up to 2^22 is rounded to an integer that stands in the sum's low bits.
  Value roundToInt8(ArrayRef<Value> values) {
    Value word = e.i32(0);
    for (auto [i, value] : llvm::enumerate(values)) {
      Value number = e.select(e.equalF(value, value), value, e.f32(0));
      number = arith::MaxNumFOp::create(e.builder, e.loc, number, e.f32(-128));
      number = arith::MinNumFOp::create(e.builder, e.loc, number, e.f32(127));
      Value bits = e.bitcast(e.addF(number, e.f32(12582912.0)), e.i32());
      word = e.bitOr(word, e.shl(e.bitAnd(bits, 0xff), 8 * int64_t(i)));
    }
    return word;
  }

  void store(ArrayRef<Value> words, Place place, Value chunk) {
    Value row = e.add(e.mul(e.widen(place.page), cache.stridePage), e.mul(e.widen(place.inPage), cache.strideToken));
    Value element = e.add(row, e.widen(e.mul(chunk, elements)));
    Value address = e.offset(cache.data, e.mul(element, bytesOf(cacheType, 1)));
    int64_t bytes = bytesOf(cacheType, elements), piece = std::min<int64_t>(cacheType.getAlign(), bytes) / 4;
    for (size_t at = 0; at < words.size(); at += size_t(piece))
      e.storeVector(words.slice(at, size_t(piece)), e.offset(address, 4 * int64_t(at)));
  }

  Emitter &e;
  tile::AppendOp op;
  mla::BufferType cacheType;
  PlacesView places;
  PagedView cache;
  Value divisor;
  int64_t elements;
  SmallVector<RaggedView> sources;
};

struct LowerAppend : OpConversionPattern<tile::AppendOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::AppendOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    AppendEmitter(e, op, adaptor).run();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlac::populateWriter(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerAppend>(converter, patterns.getContext());
}

// A warp's scores: S^T = K Q^T over its tokens and its rows, the whole width of the row.
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

namespace {

class ScoreEmitter {
public:
  ScoreEmitter(Emitter &e, tile::ScoreOp op, Value query, Value ring, Value stage, Instr mma)
      : e(e), schedule(scheduleOf(op)), view(e, schedule), type(op.getRing().getType()),
        queryType(op.getQuery().getType()), compute(computeOf(op)),
        lift(liftOf(elementOf(type.getElementType()), compute)), mma(mma),
        tokenTiles(schedule.getTokensPerWarp() / 16), rowTiles(schedule.getRowsPerWarp() / 8) {
    Value firstToken = e.mul(e.remU(view.warp, schedule.getTokenWarps()), schedule.getTokensPerWarp());
    Value firstRow = e.mul(e.divU(view.warp, schedule.getTokenWarps()), schedule.getRowsPerWarp());
    key = e.offset(ringAddress(e, ring, type, schedule, view, stage), e.mul(firstToken, type.getPitch()));
    Value lane = e.lane();
    // x4 over the two pairs of two steps, for eight rows.
    Value within = e.add(e.mul(e.bitAnd(lane, 7), queryType.getPitch()), e.shl(e.shrU(lane, 3), 4));
    this->query = e.offset(query, e.add(e.mul(firstRow, queryType.getPitch()), within));
    nanBits.assign(tokenTiles * 2, Value());
  }

  SmallVector<Value> run() {
    for (const mla::StoredPart &stored : mla::partsOf(type.getElementType(), type.getColumns())) {
      part = stored;
      storage = elementOf(part.element);
      layout.emplace(storage, compute);
      part.isScaled() ? addGroups() : add(multiplySteps(0, part.width / 16));
    }
    poisonNaNTokens(total);
    return total;
  }

private:
  /// The products of steps [begin, end) of the part.
  SmallVector<Value> multiplySteps(int64_t begin, int64_t end) {
    // What has a scale of its own is a chain of its own already.
    chains = std::max<int64_t>(1, (part.isScaled() ? 2 : 4) / (tokenTiles * rowTiles));
    sums.assign(chains * tokenTiles * rowTiles * 4, e.f32(0.0));
    for (int64_t step = begin; step < end; step += 2) {
      bool pair = step + 1 < end;
      loadQuery(part.column / 16 + step, pair);
      for (int64_t t = 0; t < tokenTiles; ++t)
        if (layout->byteStorage())
          byteSteps(t, step, pair);
        else
          wideSteps(t, step, pair);
    }
    return joinChains();
  }

  void add(ArrayRef<Value> products) {
    if (total.empty())
      total.assign(products.begin(), products.end());
    else
      for (auto [sum, product] : llvm::zip(total, products))
        sum = e.addF(sum, product);
  }

  /// The products of each group of columns, times each token's scale of it. The scale stays out of the elements: they are exact,
  /// and it costs a product a score, not one an element.
  void addGroups() {
    Value row = e.offset(key, e.mul(e.shrU(e.lane(), 2), type.getPitch())); // of the lane's first token
    for (int64_t group = 0; group < part.getGroups(); ++group) {
      SmallVector<Value> products = multiplySteps(group * part.group / 16, (group + 1) * part.group / 16);
      SmallVector<Value> scales; // [token tile][upper half]
      for (int64_t half = 0; half < 2 * tokenTiles; ++half)
        scales.push_back(loadScale(e, part, e.offset(row, 8 * half * type.getPitch()), group));
      bool first = total.empty();
      if (first)
        total.resize(products.size());
      for (auto [i, sum] : llvm::enumerate(total)) {
        Value scale = scales[i / (4 * rowTiles) * 2 + i % 4 / 2];
        sum = first ? e.mulF(products[i], scale) : e.fmaF(products[i], scale, sum);
      }
    }
  }

  /// Operand registers of one or two steps of the row, [row tile][step][pair].
  void loadQuery(int64_t step, bool pair) {
    operands.clear();
    for (int64_t n = 0; n < rowTiles; ++n)
      operands.push_back(e.call(pair ? Instr::LdmatrixX4 : Instr::LdmatrixX2,
                                e.offset(query, 8 * n * queryType.getPitch() + 32 * step)));
  }

  /// Address for this lane: row within a 16-token tile; for lanes 16 to 31 the next 16 bytes.
  Value keyAddress(int64_t t, int64_t step) {
    Value lane = e.lane();
    Value within = e.add(e.mul(e.bitAnd(lane, 15), type.getPitch()), e.shl(e.shrU(lane, 4), 4));
    return e.offset(e.offset(key, within), 16 * t * type.getPitch() + part.byte + step * layout->stepBytes());
  }

  /// 8-bit storage: an x4 load holds two steps of 16 tokens, an x2 load one.
  void byteSteps(int64_t t, int64_t step, bool pair) {
    SmallVector<Value> words = e.call(pair ? Instr::LdmatrixX4 : Instr::LdmatrixX2, keyAddress(t, step));
    for (int64_t s = 0; s <= int64_t(pair); ++s) {
      Value low = words[2 * s], high = words[2 * s + 1]; // tokens 0 to 7 and 8 to 15
      scanNaN(2 * t, low);
      scanNaN(2 * t + 1, high);
      auto [a0, a2] = convertBytes(e, low, storage, compute, lift);
      auto [a1, a3] = convertBytes(e, high, storage, compute, lift);
      multiply(t, step, s, {a0, a1, a2, a3});
    }
  }

  /// 16-bit storage: an x4 load holds one step.
  void wideSteps(int64_t t, int64_t step, bool pair) {
    for (int64_t s = 0; s <= int64_t(pair); ++s) {
      SmallVector<Value> words = e.call(Instr::LdmatrixX4, keyAddress(t, step + s));
      for (Value &word : words)
        word = convertPair(e, word, storage, compute);
      multiply(t, step, s, words);
    }
  }

  void multiply(int64_t t, int64_t step, int64_t s, ArrayRef<Value> keyOperand) {
    int64_t chain = (step + s) % chains;
    for (int64_t n = 0; n < rowTiles; ++n) {
      MutableArrayRef<Value> sum = MutableArrayRef(sums).slice(((chain * tokenTiles + t) * rowTiles + n) * 4, 4);
      SmallVector<Value> arguments(keyOperand);
      arguments.push_back(operands[n][2 * s]);
      arguments.push_back(operands[n][2 * s + 1]);
      llvm::append_range(arguments, sum);
      llvm::copy(e.call(mma, arguments), sum.begin());
    }
  }

  /// Few accumulators would make one long chain of dependent products: several chains are kept, and added here.
  SmallVector<Value> joinChains() {
    int64_t size = tokenTiles * rowTiles * 4;
    SmallVector<Value> result(ArrayRef(sums).take_front(size));
    for (int64_t chain = 1; chain < chains; ++chain)
      for (int64_t i = 0; i < size; ++i)
        result[i] = e.addF(result[i], sums[chain * size + i]);
    return result;
  }

  //===-- NaN codes --===//
  // The bit moves to bf16 read the e4m3 NaN code as 480. A scan of the key's bytes finds the code, and the token's
  // scores become NaN, as they are when NaN takes part in a product. Values need no scan: their token's
  // probability is NaN already.

  bool scansNaN() const { return storage == Element::E4M3 && compute == Element::BF16; }

  void scanNaN(int64_t slot, Value word) {
    if (!scansNaN())
      return;
    Value carry = e.bitAnd(e.add(e.bitAnd(word, 0x7f7f7f7f), 0x01010101), 0x80808080);
    nanBits[slot] = nanBits[slot] ? e.bitOr(nanBits[slot], carry) : carry;
  }

  void poisonNaNTokens(MutableArrayRef<Value> result) {
    if (!nanBits.front())
      return;
    Value nan = e.f32(std::numeric_limits<double>::quiet_NaN());
    for (int64_t slot = 0; slot < tokenTiles * 2; ++slot) {
      Value bits = e.reduce(nanBits[slot], 4, [&](Value a, Value b) { return e.bitOr(a, b); });
      Value clean = e.equal(bits, 0);
      for (int64_t n = 0; n < rowTiles; ++n)
        for (int64_t reg : {0, 1}) {
          Value &sum = result[(slot / 2 * rowTiles + n) * 4 + slot % 2 * 2 + reg];
          sum = e.select(clean, sum, nan);
        }
    }
  }

  Emitter &e;
  tile::ScheduleAttr schedule;
  GroupView view;
  tile::SharedType type, queryType;
  Element compute;
  Lift lift;
  Instr mma;
  int64_t tokenTiles, rowTiles;
  Value key, query;
  SmallVector<Value> total, nanBits;
  // Of the part that is multiplied:
  mla::StoredPart part;
  Element storage = Element::F32;
  std::optional<FragmentLayout> layout;
  int64_t chains = 1;
  SmallVector<Value> sums;
  SmallVector<SmallVector<Value>> operands;
};

struct LowerScore : ProductPattern<tile::ScoreOp> {
  using ProductPattern::ProductPattern;

  LogicalResult matchAndRewrite(tile::ScoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<Instr> mma = productOf(op);
    if (failed(mma))
      return failure();
    Emitter e(rewriter, op);
    ScoreEmitter emitter(e, op, adaptor.getQuery().front(), adaptor.getRing().front(), adaptor.getStage().front(),
                         *mma);
    SmallVector<SmallVector<Value>> results{emitter.run()};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

void mlac::populateScore(TileTypeConverter &converter, RewritePatternSet &patterns, const LoweringOptions &options) {
  patterns.add<LowerScore>(converter, patterns.getContext(), options);
}

// O^T += V^T P^T: a warp's value dimensions over all tokens of one stage.
#include "passes/nvvm/Lowering.h"

#include <numeric>

using namespace mlir;
using namespace mlac;

namespace {

class WeighEmitter {
public:
  WeighEmitter(Emitter &e, tile::WeighOp op, SmallVector<Value> accumulators, Value probs, Value ring, Value stage, Instr mma)
      : e(e), schedule(scheduleOf(op)), view(e, schedule), type(op.getRing().getType()), probsType(op.getProbs().getType()),
        part(mla::partOf(type.getElementType(), type.getColumns(), op.getColumn(), op.getColumn() + op.getWidth())),
        storage(elementOf(part.element)), compute(computeOf(op)),
        lift(liftOf(elementOf(type.getElementType()), compute)), layout(storage, compute), mma(mma),
        rowTiles(schedule.getRows() / 8), width(op.getWidth()),
        dims(schedule.getValueDimsPerWarp(width)), segment(part.isScaled() ? std::gcd(part.group, dims) : dims),
        firstDim(e.mul(view.warp, dims)), accumulators(std::move(accumulators)) {
    Value lane = e.lane();
    int64_t elementBytes = bitsOf(storage) / 8;
    Value column = e.mul(firstDim, elementBytes);
    // Lanes 0 to 15 name the rows of 16 tokens, lanes 16 to 31 the same rows 16 bytes further.
    Value within = e.add(e.mul(e.bitAnd(lane, 15), type.getPitch()), e.shl(e.shrU(lane, 4), 4));
    values = e.offset(ringAddress(e, ring, type, schedule, view, stage), e.add(within, column));
    values = e.offset(values, part.byte + (int64_t(op.getColumn()) - part.column) * elementBytes);
    Value probRow = e.bitAnd(lane, 7), matrix = e.shrU(lane, 3);
    // x4 over (tokens 0-7, tokens 8-15) of row tile n, then of the next row tile or the next 16 tokens.
    int64_t upper = rowTiles > 1 ? 8 * probsType.getPitch() : 32;
    Value second = e.add(e.shl(e.bitAnd(matrix, 1), 4), e.mul(e.shrU(matrix, 1), upper));
    Value row = e.add(e.mul(probRow, probsType.getPitch()), second);
    for (int64_t d = 0; d < dims; d += segment)
      this->probs.push_back(d && ownsWholeGroups()
                                ? e.offset(this->probs[0], d / part.group * probsType.getStageBytes())
                                : e.offset(stageAddress(e, probs, probsType, planeOf(d)), row));
    operands.resize(this->probs.size());
    pending.resize(this->probs.size());
  }

  SmallVector<Value> run() {
    int64_t tokenSteps = schedule.getTokens() / 16;
    for (int64_t k = 0; k < tokenSteps; ++k)
      for (int64_t d = 0; d < dims; d += layout.valueDimsPerLoad()) {
        if (d % segment == 0)
          loadProbs(d / segment, k, tokenSteps);
        guarded(d, [&] { multiplyBlock(k, d); });
      }
    return accumulators;
  }

private:
  /// Whether each warp's share of the value is so many whole groups of columns.
  bool ownsWholeGroups() const {
    return part.isScaled() && dims % part.group == 0 && dims * schedule.getWarpsPerGroup() == width;
  }

  /// Where the probabilities for dimension d and its segment lie: of scaled values there are copies, one a group of columns.
  Value planeOf(int64_t d) {
    int64_t copies = probsType.getStages() / schedule.getGroups();
    if (copies == 1)
      return view.group;
    if (ownsWholeGroups())
      return e.add(e.mul(view.group, copies), e.mul(view.warp, dims / part.group));
    Value copy = e.divU(e.add(firstDim, d), part.group);
    if (dims * schedule.getWarpsPerGroup() > width) // what lies past the width is not used
      copy = e.minS(copy, e.i32(copies - 1));
    return e.add(e.mul(view.group, copies), copy);
  }

  /// The operand registers of token step k for one segment of the warp's dimensions: two a row tile.
  void loadProbs(int64_t at, int64_t k, int64_t tokenSteps) {
    SmallVector<Value> &operand = operands[at], &pending = this->pending[at];
    if (rowTiles == 1 && k % 2 == 1) {
      operand = {pending[0], pending[1]};
      return;
    }
    operand.clear();
    for (int64_t n = 0; n < rowTiles; n += 2) {
      Value address = e.offset(probs[at], 8 * n * probsType.getPitch() + 32 * k);
      bool pair = rowTiles > 1 || k + 1 < tokenSteps;
      SmallVector<Value> words = e.call(pair ? Instr::LdmatrixX4 : Instr::LdmatrixX2, address);
      if (rowTiles > 1)
        llvm::append_range(operand, words);
      else {
        operand = {words[0], words[1]};
        pending.assign(words.begin() + 2, words.end());
      }
    }
  }

  /// Runs `body`, which updates the sums of one load's dimensions from d on, only in warps that own them: the last
  /// warps' shares reach past the width where it does not divide.
  void guarded(int64_t d, function_ref<void()> body) {
    if (dims * (schedule.getWarpsPerGroup() - 1) + d < width)
      return body();
    MutableArrayRef<Value> sums =
        MutableArrayRef(accumulators).slice(d / 16 * rowTiles * 4, layout.valueDimsPerLoad() / 16 * rowTiles * 4);
    SmallVector<Value> before(sums);
    SmallVector<Value> after = e.choose(
        e.less(e.add(firstDim, d), width),
        [&] {
          body();
          return SmallVector<Value>(sums);
        },
        [&] { return before; });
    llvm::copy(after, sums.begin());
  }

  /// Loads and converts 16 tokens x one load's dimensions at dimension d, and multiplies.
  void multiplyBlock(int64_t k, int64_t d) {
    int64_t at = 16 * k * type.getPitch() + d * bitsOf(storage) / 8;
    SmallVector<Value> words = e.call(Instr::LdmatrixX4Trans, e.offset(values, at));
    if (layout.byteStorage()) {
      multiply(d / 16, byteOperand(words[0], words[1]));
      multiply(d / 16 + 1, byteOperand(words[2], words[3]));
      return;
    }
    for (Value &word : words)
      word = convertPair(e, word, storage, compute);
    multiply(d / 16, {words[0], words[2], words[1], words[3]});
  }

  /// A transposed load of bytes holds (t0 d0)(t0 d1)(t1 d0)(t1 d1): row g becomes d0, row g + 8 becomes d1.
  SmallVector<Value> byteOperand(Value low, Value high) {
    auto [a0, a1] = tokenPairs(low);
    auto [a2, a3] = tokenPairs(high);
    return {a0, a1, a2, a3};
  }

  std::pair<Value, Value> tokenPairs(Value word) {
    if (layout.pairOrder() == PairOrder::Quads)
      word = e.call1(Instr::Permute, {word, e.i32(0), e.i32(0x3120)});
    return convertBytes(e, word, storage, compute, lift);
  }

  void multiply(int64_t block, ArrayRef<Value> value) {
    ArrayRef<Value> operand = operands[block * 16 / segment];
    for (int64_t n = 0; n < rowTiles; ++n) {
      MutableArrayRef<Value> sums = MutableArrayRef(accumulators).slice((block * rowTiles + n) * 4, 4);
      SmallVector<Value> arguments(value);
      arguments.append({operand[2 * n], operand[2 * n + 1]});
      llvm::append_range(arguments, sums);
      llvm::copy(e.call(mma, arguments), sums.begin());
    }
  }

  Emitter &e;
  tile::ScheduleAttr schedule;
  GroupView view;
  tile::SharedType type, probsType;
  mla::StoredPart part;
  Element storage, compute;
  Lift lift;
  FragmentLayout layout;
  Instr mma;
  int64_t rowTiles, width, dims;
  int64_t segment; // dimensions of the warp that take the same probabilities
  Value firstDim, values;
  SmallVector<Value> accumulators, probs;
  SmallVector<SmallVector<Value>> operands, pending; // of each segment
};

struct LowerWeigh : ProductPattern<tile::WeighOp> {
  using ProductPattern::ProductPattern;

  LogicalResult matchAndRewrite(tile::WeighOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<Instr> mma = productOf(op);
    if (failed(mma))
      return failure();
    Emitter e(rewriter, op);
    WeighEmitter emitter(e, op, SmallVector<Value>(adaptor.getAccumulator()), adaptor.getProbs().front(),
                         adaptor.getRing().front(), adaptor.getStage().front(), *mma);
    SmallVector<SmallVector<Value>> results{emitter.run()};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct LowerRescale : OpConversionPattern<tile::RescaleOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::RescaleOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    int64_t rowTiles = scheduleOf(op).getRows() / 8;
    SmallVector<SmallVector<Value>> results{rescaled(e, adaptor.getAccumulator(), adaptor.getShrink(), [&](int64_t i) {
      return i / 4 % rowTiles * 2 + i % 2;
    })};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

void mlac::populateWeigh(TileTypeConverter &converter, RewritePatternSet &patterns, const LoweringOptions &options) {
  patterns.add<LowerWeigh>(converter, patterns.getContext(), options);
  patterns.add<LowerRescale>(converter, patterns.getContext());
}

// One step of the online softmax: each thread owns some tokens of one row.
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

namespace {

class SoftmaxEmitter {
public:
  SoftmaxEmitter(Emitter &e, tile::SoftmaxOp op, const ItemView &item, Value tileIndex)
      : e(e), op(op), schedule(scheduleOf(op)), planes(op.getPlanes().getType()), probs(op.getProbs().getType()),
        item(item), lanes(schedule.getThreadsPerRow()), tokens(schedule.getTokens() / lanes) {
    row = e.divU(e.thread(), lanes);
    first = e.mul(e.remU(e.thread(), lanes), tokens);
    token = e.add(e.mul(tileIndex, schedule.getTokens()), first);
  }

  /// New maximum and sum.
  std::pair<Value, Value> run(Value planesBase, Value probsBase, Value shrinkBase, Value scale, Value maximum, Value sum) {
    SmallVector<Value> scores = readScores(planesBase, scale);
    Value highest = scores.front();
    for (Value score : ArrayRef(scores).drop_front())
      highest = e.maxF(highest, score);
    highest = e.reduce(highest, lanes, [&](Value a, Value b) { return e.maxF(a, b); });
    Value newMaximum = e.maxF(maximum, highest);
    // A row that has seen no token keeps -inf; subtracting 0 then gives exp2(-inf) = 0 instead of NaN.
    Value none = e.equalF(newMaximum, e.f32(-std::numeric_limits<double>::infinity()));
    Value reference = e.select(none, e.f32(0.0), newMaximum);
    Value shrink = e.exp2(e.subF(maximum, reference));
    Value newSum = e.mulF(sum, shrink);
    for (Value &score : scores) {
      score = e.exp2(e.subF(score, reference));
      newSum = e.addF(newSum, score);
    }
    writeProbs(scores, probsBase);
    e.when(e.equal(e.remU(e.thread(), lanes), 0), [&] { e.store(shrink, e.offset(shrinkBase, e.shl(row, 2)), 4); });
    return {newMaximum, newSum};
  }

private:
  /// Sums of the planes, scaled, -inf where the row may not see the token.
  SmallVector<Value> readScores(Value base, Value scale) {
    Value address = e.offset(base, e.add(e.mul(row, planes.getPitch()), e.shl(first, 2)));
    SmallVector<Value> scores;
    for (int64_t plane = 0; plane < planes.getStages(); ++plane) {
      SmallVector<Value> part = loadRow(e.offset(address, plane * planes.getStageBytes()));
      if (plane == 0)
        scores = part;
      else
        for (auto [score, value] : llvm::zip(scores, part))
          score = e.addF(score, value);
    }
    Value limit = visibleTokens();
    Value hidden = e.f32(-std::numeric_limits<double>::infinity());
    for (auto [index, score] : llvm::enumerate(scores))
      score = e.select(e.less(e.add(token, int64_t(index)), limit), e.mulF(score, scale), hidden);
    return scores;
  }

  SmallVector<Value> loadRow(Value address) {
    SmallVector<Value> result;
    int64_t width = std::min<int64_t>(tokens, 4);
    for (int64_t at = 0; at < tokens; at += width)
      llvm::append_range(result, e.loadVector(e.f32(), width, e.offset(address, 4 * at)));
    return result;
  }

  /// Tokens [0, n) that this thread's row may see; 0 for a row past the request's end.
  Value visibleTokens() {
    Value packed = e.add(item.rowBegin, row);
    Value limit = item.kvLen;
    if (op.getCausal()) {
      int64_t heads = headsOf(op);
      Value behind = e.sub(e.divU(item.rows, heads), e.divU(packed, heads));
      limit = e.minS(limit, e.add(e.sub(item.kvLen, behind), 1));
    }
    return e.select(e.less(packed, item.rows), limit, e.i32(0));
  }

  void writeProbs(ArrayRef<Value> scores, Value base) {
    Value address = e.offset(base, e.add(e.mul(row, probs.getPitch()), e.shl(first, 1)));
    Instr pack = computeOf(op) == Element::F16 ? Instr::F32ToF16 : Instr::F32ToBF16;
    if (tokens == 1) {
      Value pair = e.call1(pack, {scores[0], scores[0]});
      Value half = arith::TruncIOp::create(e.builder, e.loc, e.i16(), pair);
      return e.store(half, address, 2);
    }
    SmallVector<Value> pairs;
    for (int64_t at = 0; at < tokens; at += 2)
      pairs.push_back(e.call1(pack, {scores[at + 1], scores[at]}));
    int64_t width = std::min<int64_t>(pairs.size(), 4);
    for (size_t at = 0; at < pairs.size(); at += width)
      e.storeVector(ArrayRef(pairs).slice(at, width), e.offset(address, 4 * int64_t(at)));
  }

  Emitter &e;
  tile::SoftmaxOp op;
  tile::ScheduleAttr schedule;
  tile::SharedType planes, probs;
  const ItemView &item;
  int64_t lanes, tokens;
  Value row, first, token;
};

struct LowerSoftmax : OpConversionPattern<tile::SoftmaxOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::SoftmaxOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    ItemView item(adaptor.getItem());
    SoftmaxEmitter emitter(e, op, item, adaptor.getTile().front());
    auto [maximum, sum] =
        emitter.run(adaptor.getPlanes().front(), adaptor.getProbs().front(), adaptor.getShrink().front(),
                    adaptor.getScale().front(), adaptor.getMaximum().front(), adaptor.getSum().front());
    rewriter.replaceOp(op, {maximum, sum});
    return success();
  }
};

} // namespace

void mlac::populateSoftmax(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerSoftmax>(converter, patterns.getContext());
}

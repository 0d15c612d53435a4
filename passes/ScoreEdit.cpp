// Edits of scores: text, tile region, cost.
#include "passes/ScoreEdit.h"

#include "dialect/mla/ScoreRegion.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"

#include <numbers>

using namespace mlir;

namespace mlac {

//===-- Text -------------------------------------------------------------------------------------------===//

namespace {

/// Writes each op as a step `name operand...`; operands are names, numbers and `%n` for step n.
class EditWriter {
public:
  EditWriter(mla::KernelOp kernel, mla::EditOp edit)
      : kernel(kernel), edit(edit), builder(kernel.getContext()) {
    Block &body = edit.getBody().front();
    constexpr StringRef names[] = {"score", "q_pos", "kv_pos", "head"};
    for (auto [argument, name] : llvm::zip(body.getArguments(), names))
      places[argument] = name.str();
  }

  DictionaryAttr run() {
    for (Operation *op : outerOps())
      write(op);
    Block &body = edit.getBody().front();
    for (Operation &op : body.without_terminator())
      write(&op);
    auto yield = cast<mla::YieldOp>(body.getTerminator());
    std::string keep = yield.getKeep() ? place(yield.getKeep()) : "";
    return builder.getDictionaryAttr(
        {builder.getNamedAttr("steps", builder.getStrArrayAttr(references())),
         builder.getNamedAttr("value", builder.getStringAttr(place(yield.getScore()))),
         builder.getNamedAttr("keep", builder.getStringAttr(keep))});
  }

private:
  SmallVector<StringRef> references() const {
    return llvm::map_to_vector(steps, [](const std::string &step) { return StringRef(step); });
  }

  /// The scalar arithmetic outside that the edit reads, in its order.
  SmallVector<Operation *> outerOps() {
    llvm::SmallSetVector<Operation *, 8> found;
    SmallVector<Operation *> open{edit};
    edit.getBody().walk([&](Operation *op) { open.push_back(op); });
    while (!open.empty())
      for (Value operand : open.pop_back_val()->getOperands())
        if (Operation *op = operand.getDefiningOp(); op && op->getBlock() == edit->getBlock())
          if (isa<arith::ArithDialect>(op->getDialect()) && found.insert(op))
            open.push_back(op);
    SmallVector<Operation *> ordered;
    for (Operation &op : *edit->getBlock())
      if (found.contains(&op))
        ordered.push_back(&op);
    return ordered;
  }

  void write(Operation *op) {
    Value result = op->getResult(0);
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      places[result] = number(constant.getValue());
    } else if (auto value = dyn_cast<mla::HeadValueOp>(op)) {
      places[result] = place(value.getValues());
    } else {
      std::string step = mla::scoreOpName(op).str();
      for (Value operand : op->getOperands())
        step += " " + place(operand);
      places[result] = "%" + std::to_string(steps.size());
      steps.push_back(std::move(step));
    }
  }

  static std::string number(TypedAttr attr) {
    if (auto integer = dyn_cast<IntegerAttr>(attr))
      return std::to_string(integer.getType().isInteger(1) ? int64_t(integer.getValue().getZExtValue())
                                                           : integer.getInt());
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.9g", cast<FloatAttr>(attr).getValueAsDouble());
    return text;
  }

  std::string place(Value value) {
    if (auto it = places.find(value); it != places.end())
      return it->second;
    return "$" + kernel.getArgName(cast<BlockArgument>(value).getArgNumber()).str();
  }

  mla::KernelOp kernel;
  mla::EditOp edit;
  Builder builder;
  DenseMap<Value, std::string> places;
  SmallVector<std::string> steps;
};

} // namespace

DictionaryAttr describeEdit(mla::KernelOp kernel, mla::EditOp edit) { return EditWriter(kernel, edit).run(); }

//===-- What a value depends on ------------------------------------------------------------------------===//

namespace {

enum Dependence : unsigned { OnRow = 1, OnToken = 2, OnScore = 4 };

/// What the values of a region over one score depend on. What depends on a row or a token alone is computed
/// once for many scores.
class Dependences {
public:
  explicit Dependences(Region &region) : region(region) {
    Block &body = region.front();
    constexpr unsigned ofArguments[] = {OnScore, OnRow, OnToken, OnRow};
    for (auto [argument, dependence] : llvm::zip(body.getArguments(), ofArguments))
      found[argument] = dependence;
    for (Operation &op : body)
      add(&op);
  }

  void add(Operation *op) {
    unsigned sum = isa<mla::HeadValueOp>(op) ? unsigned(OnRow) : 0;
    for (Value operand : op->getOperands())
      sum |= found.lookup(operand);
    for (Value result : op->getResults())
      found[result] = sum;
  }

  bool ofEachScore(Value value) const {
    unsigned dependence = found.lookup(value);
    return dependence & OnScore || dependence == (OnRow | OnToken);
  }
  bool isOutside(Value value) const { return value.getParentRegion() != &region; }

private:
  Region &region;
  DenseMap<Value, unsigned> found;
};

//===-- Regions of tiles -------------------------------------------------------------------------------===//

class EditBuilder {
public:
  EditBuilder(OpBuilder &outside, mla::EditOp edit, IRMapping mapping, Region &into)
      : outside(outside), inside(outside.getContext()), edit(edit), mapping(std::move(mapping)), into(into) {
    Block &block = into.emplaceBlock();
    for (BlockArgument argument : edit.getBody().getArguments())
      this->mapping.map(argument, block.addArgument(argument.getType(), argument.getLoc()));
    inside.setInsertionPointToEnd(&block);
  }

  void run(Value &factor) {
    Block &source = edit.getBody().front();
    for (Operation &op : source.without_terminator())
      mapping.map(op.getResult(0), copy(&op));
    auto yield = cast<mla::YieldOp>(source.getTerminator());
    Value score = mapping.lookupOrDefault(yield.getScore());
    Value keep = yield.getKeep() ? mapping.lookupOrDefault(yield.getKeep()) : Value();
    auto end = mla::YieldOp::create(inside, yield.getLoc(), score, keep);
    inside.setInsertionPoint(end);
    Value log2e = constant(yield.getLoc(), std::numbers::log2e);
    end.getScoreMutable().assign(times(score, log2e, factor));
    foldProducts(factor);
  }

private:
  bool isOutside(Value value) const { return value.getParentRegion() != &into; }
  Value constant(Location loc, double value) {
    return arith::ConstantOp::create(outside, loc, outside.getF32FloatAttr(float(value)));
  }
  /// Where an op on these operands belongs.
  OpBuilder &placeOf(ValueRange operands) {
    return llvm::all_of(operands, [&](Value v) { return isOutside(v); }) ? outside : inside;
  }
  template <typename OpT>
  Value make(Location loc, Value a, Value b) {
    return OpT::create(placeOf({a, b}), loc, a, b);
  }

  Value copy(Operation *op) {
    Location loc = op->getLoc();
    if (auto tanh = dyn_cast<math::TanhOp>(op))
      return expandTanh(loc, mapping.lookupOrDefault(tanh.getOperand()));
    if (auto division = dyn_cast<arith::DivFOp>(op))
      return divided(loc, mapping.lookupOrDefault(division.getLhs()),
                     mapping.lookupOrDefault(division.getRhs()));
    // Only arithmetic is known outside of an edit; LLVM moves the rest out of loops.
    if (!isa<arith::ArithDialect>(op->getDialect()))
      return inside.clone(*op, mapping)->getResult(0);
    SmallVector<Value> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value v) { return mapping.lookupOrDefault(v); });
    return placeOf(operands).clone(*op, mapping)->getResult(0);
  }

  /// A divisor that is the same for all scores is inverted once.
  Value divided(Location loc, Value value, Value by) {
    if (isOutside(value) || !isOutside(by))
      return make<arith::DivFOp>(loc, value, by);
    return make<arith::MulFOp>(loc, value, make<arith::DivFOp>(loc, constant(loc, 1), by));
  }

  /// 1 - 2 / (1 + e^2x): right to about 2^-22 at both ends, infinities included; tanh.approx errs by 2^-11 of
  /// the cap.
  Value expandTanh(Location loc, Value x) {
    Value power = make<arith::MulFOp>(loc, x, constant(loc, 2 * std::numbers::log2e));
    power = math::Exp2Op::create(inside, loc, power);
    Value one = constant(loc, 1);
    Value inverse = make<arith::DivFOp>(loc, one, make<arith::AddFOp>(loc, power, one));
    return make<arith::AddFOp>(loc, one, make<arith::MulFOp>(loc, inverse, constant(loc, -2)));
  }

  //===-- Factors --===//
  // A product with something that is the same for all scores moves back through sums and products to where it
  // costs nothing a score.

  /// Whether value * f takes no instruction a score.
  bool takesFactor(Value value, const Dependences &dependences) const {
    if (!dependences.ofEachScore(value))
      return true;
    if (!value.hasOneUse())
      return false;
    Operation *op = value.getDefiningOp();
    auto takes = [&](Value v) { return takesFactor(v, dependences); };
    if (!op)
      return true; // the score itself: its scale takes the factor
    if (isa<arith::MulFOp>(op))
      return takes(op->getOperand(0)) || takes(op->getOperand(1));
    if (isa<arith::SelectOp>(op))
      return takes(op->getOperand(1)) && takes(op->getOperand(2));
    return isa<arith::AddFOp, arith::SubFOp, arith::NegFOp>(op) && llvm::all_of(op->getOperands(), takes);
  }

  Value times(Value value, Value by, Value &factor) {
    Dependences dependences(into);
    if (takesFactor(value, dependences))
      return pushed(value, by, factor, dependences);
    return make<arith::MulFOp>(value.getLoc(), value, by);
  }

  Value pushed(Value value, Value by, Value &factor, const Dependences &dependences) {
    if (isOutside(value))
      return make<arith::MulFOp>(value.getLoc(), value, by);
    Operation *op = value.getDefiningOp();
    if (!dependences.ofEachScore(value))
      return multiplyAfter(value, by);
    if (!op) {
      factor = make<arith::MulFOp>(value.getLoc(), factor, by);
      return value;
    }
    auto push = [&](unsigned index) {
      op->setOperand(index, pushed(op->getOperand(index), by, factor, dependences));
    };
    if (isa<arith::MulFOp>(op)) {
      push(takesFactor(op->getOperand(0), dependences) ? 0 : 1);
      return value;
    }
    for (unsigned index = isa<arith::SelectOp>(op) ? 1 : 0; index < op->getNumOperands(); ++index)
      push(index);
    return value;
  }

  Value multiplyAfter(Value value, Value by) {
    OpBuilder::InsertionGuard guard(inside);
    inside.setInsertionPointAfterValue(value);
    return arith::MulFOp::create(inside, value.getLoc(), value, by);
  }

  /// The program's own factors move back, too; at the very start they join the scale.
  void foldProducts(Value &factor) {
    for (Operation &op : llvm::make_early_inc_range(into.front())) {
      auto product = dyn_cast<arith::MulFOp>(op);
      if (!product || isOutside(product.getLhs()) == isOutside(product.getRhs()))
        continue;
      bool leftIsFactor = isOutside(product.getLhs());
      Value value = product->getOperand(leftIsFactor), by = product->getOperand(!leftIsFactor);
      Dependences dependences(into);
      if (!dependences.ofEachScore(value) || !takesFactor(value, dependences))
        continue;
      product.replaceAllUsesWith(pushed(value, by, factor, dependences));
      product.erase();
    }
  }

  OpBuilder &outside;
  OpBuilder inside;
  mla::EditOp edit;
  IRMapping mapping;
  Region &into;
};

} // namespace

void buildEdit(OpBuilder &outside, mla::EditOp edit, IRMapping mapping, Region &into, Value &factor) {
  EditBuilder(outside, edit, std::move(mapping), into).run(factor);
}

//===-- Cost -------------------------------------------------------------------------------------------===//

/// A product that only feeds a sum is part of a fused multiply-add.
static bool isFused(Operation *op) {
  return isa<arith::MulFOp>(op) && op->hasOneUse() &&
         isa<arith::AddFOp, arith::SubFOp>(*op->getUsers().begin());
}

static bool isSpecial(Operation *op) { return isa<math::Exp2Op, arith::DivFOp>(op); }

ScoreCost costOfEdit(Region &edit) {
  ScoreCost cost;
  if (edit.empty())
    return cost;
  Dependences dependences(edit);
  for (Operation &inner : edit.front().without_terminator()) {
    if (!dependences.ofEachScore(inner.getResult(0)) || isFused(&inner))
      continue;
    auto division = dyn_cast<arith::DivFOp>(inner);
    cost.instructions += division && !matchPattern(division.getLhs(), m_OneFloat()) ? 2 : 1;
    cost.special += isSpecial(&inner);
  }
  return cost;
}

ScoreCost costOfRows(Region &edit, bool scaled) {
  ScoreCost cost = costOfEdit(edit);
  cost.instructions += scaled;
  if (!edit.empty() && cast<mla::YieldOp>(edit.front().getTerminator()).getKeep())
    ++cost.instructions;
  return cost;
}

ScoreCost costOfScores(tile::MaskScoresOp op) {
  // The scale, a comparison for each bound, the selection of what is visible.
  ScoreCost cost = costOfEdit(op.getEdit());
  cost.instructions += 3 + int64_t(op.getWindow().has_value());
  return cost;
}

} // namespace mlac

// mla-fuse-edits: all that is computed on scores becomes one edit between the product's scale and the masks.
#include "passes/Passes.h"

#include "dialect/mla/ScoreRegion.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace mlac {
#define GEN_PASS_DEF_FUSEEDITS
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;

namespace {

/// Everything between a product and one use of its scores.
struct ScoreChain {
  mla::DotOp dot;
  SmallVector<Operation *> ops; // masks, scales and edits, in the order of the block
  bool causal = false, edited = false;
  std::optional<int64_t> window;

  /// Masks hide a token for good, so that their order among the others does not matter.
  void add(Operation *op) {
    ops.push_back(op);
    causal |= isa<mla::CausalOp>(op);
    edited |= isa<mla::EditOp>(op);
    if (auto mask = dyn_cast<mla::WindowOp>(op))
      window = std::min(window.value_or(mask.getLeft()), int64_t(mask.getLeft()));
  }
};

/// The chain; without a product where the scores are none: mla-tile says so.
FailureOr<ScoreChain> collect(Value scores) {
  ScoreChain chain;
  llvm::SmallSetVector<Operation *, 8> found;
  SmallVector<Value> open{scores};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (auto dot = dyn_cast_or_null<mla::DotOp>(op)) {
      if (chain.dot && chain.dot != dot) {
        InFlightDiagnostic diag = dot.emitError()
                                  << "the scores of two products meet in one edit [edit-product]";
        diag.attachNote(chain.dot.getLoc()) << "the other product is here";
        return diag;
      }
      chain.dot = dot;
    } else if (isa_and_nonnull<mla::CausalOp, mla::WindowOp, mla::EditOp>(op)) {
      if (found.insert(op))
        llvm::append_range(open, op->getOperands());
    } else if (isa_and_nonnull<mla::ScaleOp>(op)) {
      if (found.insert(op))
        open.push_back(op->getOperand(0));
    } else {
      return ScoreChain();
    }
  }
  for (Operation &op : *chain.dot->getBlock())
    if (found.contains(&op))
      chain.add(&op);
  return chain;
}

/// Rebuilds one chain as dot, scales, edit, causal, window.
class ChainBuilder {
public:
  ChainBuilder(const ScoreChain &chain, Operation *before) : chain(chain), builder(before) {}

  Value build(Value scores) {
    mla::DotOp dot = chain.dot; // the accessors are not const
    Value result = buildScales(dot.getResult());
    if (chain.edited)
      result = buildEdit(result, scores);
    if (chain.causal)
      result = mla::CausalOp::create(builder, scores.getLoc(), result.getType(), result);
    if (chain.window)
      result = mla::WindowOp::create(builder, scores.getLoc(), result.getType(), result,
                                     builder.getI64IntegerAttr(*chain.window));
    return result;
  }

private:
  /// Scales that come before any edit. What follows starts from their result.
  Value buildScales(Value product) {
    Value result = base = product;
    while (Operation *user = onlyUser(base)) {
      if (isa<mla::EditOp>(user))
        break;
      if (auto scale = dyn_cast<mla::ScaleOp>(user))
        result = mla::ScaleOp::create(builder, scale.getLoc(), result.getType(), result, scale.getFactor());
      leading.insert(user);
      base = user->getResult(0);
    }
    return result;
  }

  /// The one op of the chain that reads a value, if it is one.
  Operation *onlyUser(Value value) {
    llvm::SmallPtrSet<Operation *, 2> users;
    for (Operation *user : value.getUsers())
      if (llvm::is_contained(chain.ops, user))
        users.insert(user);
    return users.size() == 1 ? *users.begin() : nullptr;
  }

  Value buildEdit(Value source, Value scores) {
    auto edit = mla::EditOp::create(builder, editLoc(), source.getType(), ValueRange{source});
    Block &body = edit.getBody().emplaceBlock();
    Type i32 = builder.getI32Type();
    body.addArguments({builder.getF32Type(), i32, i32, i32}, SmallVector<Location>(4, edit.getLoc()));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&body);
    elements[base] = body.getArgument(0);
    for (Operation *op : chain.ops)
      if (!leading.contains(op))
        inlineOp(op, body.getArguments().drop_front());
    mla::YieldOp::create(builder, edit.getLoc(), elements.lookup(scores), keep);
    return edit.getResult();
  }

  /// That of the last edit: the expression as a whole.
  Location editLoc() const {
    auto isEdit = [](Operation *op) { return isa<mla::EditOp>(op); };
    return (*llvm::find_if(llvm::reverse(chain.ops), isEdit))->getLoc();
  }

  void inlineOp(Operation *op, ValueRange positions) {
    if (auto edit = dyn_cast<mla::EditOp>(op))
      return inlineEdit(edit, positions);
    Value element = elements.lookup(op->getOperand(0));
    if (auto scale = dyn_cast<mla::ScaleOp>(op))
      element = arith::MulFOp::create(builder, scale.getLoc(), element, scale.getFactor());
    elements[op->getResult(0)] = element;
  }

  void inlineEdit(mla::EditOp edit, ValueRange positions) {
    Block &body = edit.getBody().front();
    IRMapping mapping;
    for (auto [argument, scores] : llvm::zip(body.getArguments(), edit.getScores()))
      mapping.map(argument, elements.lookup(scores));
    mapping.map(body.getArguments().drop_front(edit.getScores().size()), positions);
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    auto yield = cast<mla::YieldOp>(body.getTerminator());
    elements[edit.getResult()] = mapping.lookupOrDefault(yield.getScore());
    if (Value condition = yield.getKeep()) {
      condition = mapping.lookupOrDefault(condition);
      keep = keep ? arith::AndIOp::create(builder, edit.getLoc(), keep, condition) : condition;
    }
  }

  const ScoreChain &chain;
  OpBuilder builder;
  Value base;
  llvm::SmallPtrSet<Operation *, 8> leading;
  DenseMap<Value, Value> elements; // of scores, within the edit
  Value keep;
};

struct FuseEdits : mlac::impl::FuseEditsBase<FuseEdits> {
  using FuseEditsBase::FuseEditsBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<mla::KernelOp>())
      if (failed(fuse(kernel.getBody().front())))
        signalPassFailure();
  }

  LogicalResult fuse(Block &block) {
    DenseMap<Value, Value> done;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!isa<mla::SoftmaxOp, mla::LogSumExpOp, mla::SinkOp>(op))
        continue;
      Value scores = op.getOperand(0);
      if (!scores.getDefiningOp() || isa<mla::DotOp, mla::SinkOp>(scores.getDefiningOp()))
        continue;
      if (!done.contains(scores)) {
        FailureOr<ScoreChain> chain = collect(scores);
        if (failed(chain))
          return failure();
        done[scores] = chain->dot ? ChainBuilder(*chain, &op).build(scores) : scores;
      }
      op.setOperand(0, done[scores]);
    }
    eraseUnused(block);
    return success();
  }

  static void eraseUnused(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa<mla::ScaleOp, mla::CausalOp, mla::WindowOp, mla::EditOp>(op) && op.use_empty())
        op.erase();
  }
};

} // namespace

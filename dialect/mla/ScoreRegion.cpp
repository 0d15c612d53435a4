// Regions that compute one score from others.
#include "dialect/mla/ScoreRegion.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mla;

static StringRef nameOf(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::OLT:
    return "lt";
  case arith::CmpFPredicate::OLE:
    return "le";
  case arith::CmpFPredicate::OGT:
    return "gt";
  case arith::CmpFPredicate::OGE:
    return "ge";
  case arith::CmpFPredicate::OEQ:
    return "eq";
  case arith::CmpFPredicate::UNE:
    return "ne";
  default:
    return {};
  }
}

static StringRef nameOf(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return "lt";
  case arith::CmpIPredicate::sle:
    return "le";
  case arith::CmpIPredicate::sgt:
    return "gt";
  case arith::CmpIPredicate::sge:
    return "ge";
  case arith::CmpIPredicate::eq:
    return "eq";
  case arith::CmpIPredicate::ne:
    return "ne";
  default:
    return {};
  }
}

StringRef mla::scoreOpName(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return "add"; })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return "sub"; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return "mul"; })
      .Case<arith::DivFOp>([](auto) { return "div"; })
      .Case<arith::NegFOp>([](auto) { return "neg"; })
      .Case<arith::MinNumFOp, arith::MinSIOp>([](auto) { return "min"; })
      .Case<arith::MaxNumFOp, arith::MaxSIOp>([](auto) { return "max"; })
      .Case<math::AbsFOp, math::AbsIOp>([](auto) { return "abs"; })
      .Case<math::TanhOp>([](auto) { return "tanh"; })
      .Case<math::Exp2Op>([](auto) { return "exp2"; })
      .Case<arith::AndIOp>([](auto) { return "and"; })
      .Case<arith::OrIOp>([](auto) { return "or"; })
      .Case<arith::XOrIOp>([](auto) { return "xor"; })
      .Case<arith::SelectOp>([](auto) { return "select"; })
      .Case<arith::SIToFPOp>([](auto) { return "float"; })
      .Case<arith::ConstantOp>([](auto) { return "constant"; })
      .Case([](arith::CmpFOp cmp) { return nameOf(cmp.getPredicate()); })
      .Case([](arith::CmpIOp cmp) { return nameOf(cmp.getPredicate()); })
      .Default([](Operation *) { return StringRef(); });
}

static bool isScoreType(Type type) { return type.isF32() || type.isInteger(32) || type.isInteger(1); }

static LogicalResult verifyOp(Operation *parent, Operation &op, int64_t heads) {
  if (auto value = dyn_cast<HeadValueOp>(op)) {
    if (value.getValues().getType().getHeads() == heads)
      return success();
    return value.emitOpError() << "reads values of " << value.getValues().getType().getHeads()
                               << " heads for scores of " << heads << " [edit-heads]";
  }
  bool known = !scoreOpName(&op).empty() && llvm::all_of(op.getOperandTypes(), isScoreType) &&
               llvm::all_of(op.getResultTypes(), isScoreType);
  if (known)
    return success();
  InFlightDiagnostic diag = parent->emitOpError() << "holds '" << op.getName()
                                                  << "', which is no arithmetic on f32, i32 and i1 [edit-op]";
  diag.attachNote(op.getLoc()) << "the op is here";
  return diag;
}

LogicalResult mla::verifyScoreRegion(Operation *op, Region &region, unsigned scores, int64_t heads) {
  Block &block = region.front();
  auto isExpected = [&](auto indexed) {
    return indexed.index() < scores ? indexed.value().isF32() : indexed.value().isInteger(32);
  };
  if (block.getNumArguments() != scores + ScoreArguments ||
      !llvm::all_of(llvm::enumerate(block.getArgumentTypes()), isExpected))
    return op->emitOpError() << "has a region with " << scores << " f32 and " << unsigned(ScoreArguments)
                             << " i32 arguments [edit-arguments]";
  if (block.empty() || !isa<YieldOp>(block.back()))
    return op->emitOpError() << "has a region that ends in mla.yield [edit-op]";
  for (Operation &inner : block.without_terminator())
    if (failed(verifyOp(op, inner, heads)))
      return failure();
  return success();
}

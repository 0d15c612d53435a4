// Arithmetic on scores: each expression becomes one mla.edit.
#include "frontend/KernelBuilder.h"

#include "dialect/mla/ScoreRegion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace llvm;
using namespace mlac;
namespace arith = mlir::arith;

/// Whether a score is computed from others element by element; a product with a scalar has an op of its own.
bool KernelBuilder::isEdit(const Expr &expr) {
  if (expr.type.kind != ValueType::Scores)
    return false;
  if (expr.kind == Expr::Unary)
    return true;
  if (expr.kind == Expr::Binary) {
    auto isScalar = [](const Expr *operand) { return operand->type.kind == ValueType::Scalar; };
    bool scales = expr.op == '*' ? llvm::any_of(expr.operands, isScalar)
                                 : expr.op == '/' && expr.operands[1]->type.isNumber();
    return !scales;
  }
  if (expr.kind != Expr::Call || expr.inlined)
    return false;
  Builtin builtin = expr.builtin->builtin;
  return builtin != Builtin::Dot && builtin != Builtin::Causal && builtin != Builtin::Window &&
         builtin != Builtin::Sink;
}

/// Whether an expression of scores holds arithmetic that an edit around it can take in.
static bool holdsEdit(const Expr &expr, bool (*isEdit)(const Expr &)) {
  if (expr.type.kind != ValueType::Scores)
    return false;
  if (isEdit(expr))
    return true;
  if (expr.inlined)
    return holdsEdit(*expr.inlined, isEdit);
  if (auto *bound = dyn_cast_or_null<BoundDecl>(expr.decl))
    return holdsEdit(*bound->argument, isEdit);
  return expr.kind == Expr::Binary &&
         llvm::any_of(expr.operands, [&](const Expr *operand) { return holdsEdit(*operand, isEdit); });
}

/// The region of one edit, while it is filled.
class KernelBuilder::ScoreEdit {
public:
  ScoreEdit(KernelBuilder &kernel, mla::EditOp op)
      : kernel(kernel), op(op), builder(kernel.builder), body(op.getBody().emplaceBlock()) {
    mlir::Type i32 = builder.getI32Type();
    for (mlir::Value &position : positions)
      position = body.addArgument(i32, op.getLoc());
  }

  void fill(const Expr &expr) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&body);
    mlir::Value result = element(expr);
    mla::YieldOp::create(builder, op.getLoc(), result, keep);
    op.getScoresMutable().assign(leaves.getArrayRef());
  }

private:
  using Kind = ValueType::Kind;

  static bool isInteger(const Expr &expr) {
    return expr.type.kind == ValueType::Element && expr.type.integer;
  }

  mlir::Value constant(const Expr &expr, double value, bool integer) {
    if (integer)
      return arith::ConstantOp::create(builder, kernel.at(expr), builder.getI32IntegerAttr(int32_t(value)));
    return kernel.constant(kernel.at(expr), APFloat(float(value)));
  }

  /// The element as f32, or as i32 where everything it is made of is an integer.
  mlir::Value element(const Expr &expr, bool integer = false) {
    if (expr.type.isNumber())
      return constant(expr, expr.type.scale.number, integer);
    mlir::Value value = raw(expr);
    if (integer || !value.getType().isInteger(32))
      return value;
    return arith::SIToFPOp::create(builder, kernel.at(expr), builder.getF32Type(), value);
  }

  mlir::Value raw(const Expr &expr) {
    bool scales = expr.kind == Expr::Binary && expr.type.kind == ValueType::Scores && !isEdit(expr);
    if (scales && !holdsEdit(expr, isEdit))
      return leaf(outside(expr)); // the scale of a product stays one
    switch (expr.kind) {
    case Expr::Name:
      return name(expr);
    case Expr::Call:
      return call(expr);
    case Expr::Unary:
      return unary(expr);
    case Expr::Binary:
      return binary(expr);
    default:
      llvm_unreachable("numbers are constants, and slices are rows");
    }
  }

  //===-- Names --===//

  mlir::Value name(const Expr &expr) {
    if (!expr.decl)
      return positions[unsigned(*expr.position)];
    if (mlir::Value known = elements.lookup(expr.decl))
      return known;
    mlir::Value value = declared(expr);
    elements[expr.decl] = value;
    return value;
  }

  mlir::Value declared(const Expr &expr) {
    if (auto *bound = dyn_cast<BoundDecl>(expr.decl))
      return raw(*bound->argument);
    Kind kind = expr.type.kind;
    auto *let = dyn_cast<LetDecl>(expr.decl);
    if (let && (kind == ValueType::Element || kind == ValueType::Condition))
      return raw(*let->value);
    mlir::Value value = outside(expr);
    if (kind == ValueType::HeadValues)
      return mla::HeadValueOp::create(builder, kernel.at(expr), builder.getF32Type(), value);
    return kind == ValueType::Scores ? leaf(value) : value;
  }

  /// A value of the kernel, before the edit.
  mlir::Value outside(const Expr &expr) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    return kernel.emit(expr);
  }

  /// The element of scores that are not computed here.
  mlir::Value leaf(mlir::Value scores) {
    if (leaves.insert(scores))
      leafArguments[scores] = body.insertArgument(leaves.size() - 1, builder.getF32Type(), scores.getLoc());
    return leafArguments[scores];
  }

  //===-- Operators --===//

  mlir::Value unary(const Expr &expr) {
    const Expr &operand = *expr.operands[0];
    mlir::Location loc = kernel.at(expr);
    if (expr.op != '-') {
      mlir::Value yes = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
      return arith::XOrIOp::create(builder, loc, raw(operand), yes);
    }
    if (expr.type.kind == ValueType::Scalar)
      return outside(expr);
    if (isInteger(expr))
      return arith::SubIOp::create(builder, loc, constant(expr, 0, true), element(operand, true));
    return arith::NegFOp::create(builder, loc, element(operand));
  }

  mlir::Value binary(const Expr &expr) {
    if (expr.type.kind == ValueType::Scalar)
      return outside(expr);
    if (expr.type.kind == ValueType::Condition)
      return condition(expr);
    if (expr.op == '+')
      return arithmetic<arith::AddFOp, arith::AddIOp>(expr);
    if (expr.op == '-')
      return arithmetic<arith::SubFOp, arith::SubIOp>(expr);
    if (expr.op == '*')
      return arithmetic<arith::MulFOp, arith::MulIOp>(expr);
    mlir::Value left = element(*expr.operands[0]), right = element(*expr.operands[1]);
    return arith::DivFOp::create(builder, kernel.at(expr), left, right);
  }

  template <typename FloatOp, typename IntegerOp>
  mlir::Value arithmetic(const Expr &expr) {
    bool integer = isInteger(expr);
    mlir::Value left = element(*expr.operands[0], integer), right = element(*expr.operands[1], integer);
    if (integer)
      return IntegerOp::create(builder, kernel.at(expr), left, right);
    return FloatOp::create(builder, kernel.at(expr), left, right);
  }

  mlir::Value condition(const Expr &expr) {
    const Expr &left = *expr.operands[0], &right = *expr.operands[1];
    mlir::Location loc = kernel.at(expr);
    if (expr.text == "and" || expr.text == "or") {
      mlir::Value a = raw(left), b = raw(right);
      if (expr.text == "and")
        return arith::AndIOp::create(builder, loc, a, b);
      return arith::OrIOp::create(builder, loc, a, b);
    }
    bool integer = comparesIntegers(left, right);
    mlir::Value a = element(left, integer), b = element(right, integer);
    auto index = size_t(llvm::find(kComparisons, expr.text) - kComparisons.begin());
    if (integer)
      return arith::CmpIOp::create(builder, loc, kIntegerPredicates[index], a, b);
    return arith::CmpFOp::create(builder, loc, kFloatPredicates[index], a, b);
  }

  /// As the checker decides it for sums.
  static bool comparesIntegers(const Expr &left, const Expr &right) {
    auto fits = [](const Expr &expr) {
      double number = expr.type.scale.number;
      return isInteger(expr) ||
             (expr.type.isNumber() && number == std::floor(number) && std::fabs(number) < 0x1p31);
    };
    return fits(left) && fits(right) && (isInteger(left) || isInteger(right));
  }

  static constexpr std::array<StringRef, 6> kComparisons{"<", "<=", ">", ">=", "==", "!="};
  static constexpr std::array<arith::CmpIPredicate, 6> kIntegerPredicates{
      arith::CmpIPredicate::slt, arith::CmpIPredicate::sle, arith::CmpIPredicate::sgt,
      arith::CmpIPredicate::sge, arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne};
  static constexpr std::array<arith::CmpFPredicate, 6> kFloatPredicates{
      arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE, arith::CmpFPredicate::OGT,
      arith::CmpFPredicate::OGE, arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE};

  //===-- Functions --===//

  mlir::Value call(const Expr &expr) {
    if (expr.inlined)
      return raw(*expr.inlined);
    mlir::Location loc = kernel.at(expr);
    const Expr &first = *expr.operands[0];
    switch (expr.builtin->builtin) {
    case Builtin::Keep: {
      mlir::Value score = element(first), condition = raw(*expr.operands[1]);
      keep = keep ? arith::AndIOp::create(builder, loc, keep, condition) : condition;
      return score;
    }
    case Builtin::SoftCap:
      return softCap(expr);
    case Builtin::Alibi:
      return alibi(expr);
    case Builtin::Select: {
      mlir::Value condition = raw(first);
      bool integer = isInteger(expr);
      mlir::Value a = element(*expr.operands[1], integer), b = element(*expr.operands[2], integer);
      return arith::SelectOp::create(builder, loc, condition, a, b);
    }
    case Builtin::Min:
      return arithmetic<arith::MinNumFOp, arith::MinSIOp>(expr);
    case Builtin::Max:
      return arithmetic<arith::MaxNumFOp, arith::MaxSIOp>(expr);
    case Builtin::Abs:
      if (isInteger(expr))
        return mlir::math::AbsIOp::create(builder, loc, element(first, true));
      return mlir::math::AbsFOp::create(builder, loc, element(first));
    case Builtin::Tanh:
      return mlir::math::TanhOp::create(builder, loc, element(first));
    case Builtin::Exp2:
      return mlir::math::Exp2Op::create(builder, loc, element(first));
    default:
      return leaf(outside(expr)); // dot, causal, window
    }
  }

  /// cap * tanh(score / cap)
  mlir::Value softCap(const Expr &expr) {
    mlir::Location loc = kernel.at(expr);
    mlir::Value score = element(*expr.operands[0]), cap = element(*expr.operands[1]);
    mlir::Value inside = arith::DivFOp::create(builder, loc, score, cap);
    mlir::Value bounded = mlir::math::TanhOp::create(builder, loc, inside);
    return arith::MulFOp::create(builder, loc, bounded, cap);
  }

  /// score - slope * |q_pos - kv_pos|; each position is converted once for many scores.
  mlir::Value alibi(const Expr &expr) {
    mlir::Location loc = kernel.at(expr);
    auto asFloat = [&](Position position) -> mlir::Value {
      return arith::SIToFPOp::create(builder, loc, builder.getF32Type(), positions[unsigned(position)]);
    };
    mlir::Value score = element(*expr.operands[0]), slope = element(*expr.operands[1]);
    mlir::Value distance =
        arith::SubFOp::create(builder, loc, asFloat(Position::Query), asFloat(Position::Cached));
    distance = mlir::math::AbsFOp::create(builder, loc, distance);
    return arith::SubFOp::create(builder, loc, score, arith::MulFOp::create(builder, loc, slope, distance));
  }

  KernelBuilder &kernel;
  mla::EditOp op;
  mlir::OpBuilder &builder;
  mlir::Block &body;
  mlir::Value positions[mla::ScoreArguments];
  llvm::SetVector<mlir::Value> leaves;
  DenseMap<mlir::Value, mlir::Value> leafArguments;
  DenseMap<const Decl *, mlir::Value> elements;
  mlir::Value keep;
};

mlir::Value KernelBuilder::emitEdit(const Expr &expr) {
  mlir::Type type = mla::ScoresType::get(context, expr.type.heads);
  auto op = mla::EditOp::create(builder, at(expr), type, mlir::ValueRange());
  ScoreEdit(*this, op).fill(expr);
  return op.getResult();
}

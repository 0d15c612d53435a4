// AST and types to the mla dialect. Nothing is refused here: the checker has done that.
#include "frontend/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace llvm;
using namespace mlac;

//===-- Types
//----------------------------------------------------------------------------------------------===//

SmallVector<int64_t> KernelBuilder::shapeOf(const ValueType &type) {
  return type.heads ? SmallVector<int64_t>{type.heads, type.width} : SmallVector<int64_t>{type.width};
}

mlir::Type KernelBuilder::recordOf(const ParamDecl &param) {
  SmallVector<mla::PartAttr> parts;
  for (const RecordPart &part : param.record)
    parts.push_back(mla::PartAttr::get(context, part.name, toMLIR(part.storage, context), part.width,
                                       part.format, part.group,
                                       part.apart ? mla::ScalePlace::apart : mla::ScalePlace::beside));
  return mla::RecordType::get(context, parts);
}

mlir::Type KernelBuilder::elementOf(const ValueType &type) {
  return type.element == Dtype::Record ? recordOf(*type.buffer) : toMLIR(type.element, context);
}

mlir::Type KernelBuilder::rowsType(const ValueType &type) {
  return mla::RowsType::get(context, shapeOf(type), elementOf(type));
}

mlir::Type KernelBuilder::typeOf(const ParamDecl &param) {
  if (param.type.kind == ValueType::Scalar)
    return builder.getF32Type();
  if (param.type.kind == ValueType::HeadValues)
    return mla::HeadValuesType::get(context, param.type.heads);
  return mla::BufferType::get(context, param.layout, shapeOf(param.type), elementOf(param.type), param.align);
}

mlir::Type KernelBuilder::typeOf(const ResultDecl &result) {
  if (result.type.kind == ValueType::Lse)
    return mla::LseType::get(context, result.type.heads, *result.type.base);
  return mla::BufferType::get(context, result.layout, shapeOf(result.type),
                              toMLIR(result.type.element, context), result.align);
}

mlir::ArrayAttr KernelBuilder::nameAttrs(ArrayRef<StringRef> names) {
  SmallVector<mlir::Attribute> attrs;
  for (StringRef name : names)
    attrs.push_back(
        builder.getDictionaryAttr(builder.getNamedAttr(mla::kNameAttr, builder.getStringAttr(name))));
  return builder.getArrayAttr(attrs);
}

mlir::DictionaryAttr KernelBuilder::hints() {
  SmallVector<mlir::NamedAttribute> attrs;
  for (const Hint &hint : kernel.hints)
    attrs.push_back(builder.getNamedAttr(hint.name.text, builder.getI64IntegerAttr(hint.evaluated)));
  return builder.getDictionaryAttr(attrs);
}

//===-- The kernel
//-------------------------------------------------------------------------------------------===//

mla::KernelOp KernelBuilder::buildHeader() {
  SmallVector<mlir::Type> inputs, results;
  SmallVector<StringRef> inputNames, resultNames;
  for (const ParamDecl &param : kernel.params) {
    inputs.push_back(typeOf(param));
    inputNames.push_back(param.name.text);
  }
  for (const ResultDecl &result : kernel.results) {
    results.push_back(typeOf(result));
    resultNames.push_back(result.name.text);
  }
  auto op = mla::KernelOp::create(
      builder, source.locate(kernel.name.loc), kernel.name.text, builder.getFunctionType(inputs, results),
      toMLIR(kernel.isWriter ? Dtype::F32 : *kernel.computeType, context), nameAttrs(inputNames), nameAttrs(resultNames));
  if (!kernel.hints.empty())
    op->setAttr(kHintsAttr, hints());
  return op;
}

void KernelBuilder::addArguments(mlir::Block *block) {
  for (const ParamDecl &param : kernel.params)
    values[&param] = block->addArgument(typeOf(param), source.locate(param.name.loc));
}

void KernelBuilder::build() {
  mlir::OpBuilder::InsertionGuard guard(builder);
  mla::KernelOp op = buildHeader();
  mlir::Block *block = &op.getBody().emplaceBlock();
  addArguments(block);
  builder.setInsertionPointToStart(block);
  buildBody();
}

void KernelBuilder::buildBody() {
  for (const Statement &statement : kernel.statements)
    if (statement.let)
      values[statement.let] = emit(*statement.value);
    else
      values[statement.result] = resultOf(*statement.result, *statement.value);
  SmallVector<mlir::Value> results;
  for (const ResultDecl &result : kernel.results)
    results.push_back(values[&result]);
  mla::ReturnOp::create(builder, source.locate(kernel.end), results);
}

/// The value of an assignment. Here a log-sum-exp takes the base of the result, in an op of its own.
mlir::Value KernelBuilder::resultOf(const ResultDecl &result, const Expr &expr) {
  if (result.isCache())
    return emitQuant(result, expr);
  mlir::Value value = emit(expr);
  if (expr.type.kind != ValueType::Lse || expr.type.base)
    return value;
  return mla::LogSumExpOp::create(builder, at(expr), typeOf(result), value);
}

//===-- Expressions
//------------------------------------------------------------------------------------------===//

/// The value of an expression; null for stored rows.
mlir::Value KernelBuilder::emit(const Expr &expr) {
  if (expr.type.isNumber() && expr.kind != Expr::Name)
    return constant(at(expr), APFloat(float(expr.type.scale.number)));
  if (expr.type.kind == ValueType::Element || expr.type.kind == ValueType::Condition)
    return {};
  if (isEdit(expr))
    return emitEdit(expr);
  switch (expr.kind) {
  case Expr::Number:
    return emitNumber(expr);
  case Expr::Name:
    return emitName(expr);
  case Expr::Call:
    return emitCall(expr);
  case Expr::Slice:
    return emitSlice(expr);
  case Expr::Unary: // of a scalar; a factor stays a product
    return mlir::arith::MulFOp::create(builder, at(expr), emit(*expr.operands[0]),
                                       constant(at(expr), APFloat(-1.0f)));
  case Expr::Binary:
    return emitBinary(expr);
  }
  llvm_unreachable("every kind is listed");
}

mlir::Value KernelBuilder::constant(mlir::Location loc, const APFloat &value) {
  return mlir::arith::ConstantFloatOp::create(builder, loc, builder.getF32Type(), value);
}

mlir::Value KernelBuilder::emitNumber(const Expr &expr) {
  return constant(at(expr), APFloat(APFloat::IEEEsingle(), expr.text));
}

mlir::Value KernelBuilder::emitName(const Expr &expr) {
  if (auto *decl = dyn_cast<ConstDecl>(expr.decl))
    return constant(at(expr), APFloat(float(*decl->evaluated)));
  if (auto *bound = dyn_cast<BoundDecl>(expr.decl)) {
    mlir::Value value = values.lookup(bound);
    return value ? value : values[bound] = emit(*bound->argument);
  }
  return expr.type.kind == ValueType::Stored ? mlir::Value() : values.lookup(expr.decl);
}

/// Rows as an operand: stored ones become their buffer, or a slice of it.
mlir::Value KernelBuilder::rows(const Expr &expr) {
  const ValueType &type = expr.type;
  if (type.kind != ValueType::Stored)
    return emit(expr);
  mlir::Value buffer = values.lookup(type.buffer);
  if (type.width == type.buffer->type.width)
    return buffer;
  return mla::SliceOp::create(builder, at(expr), rowsType(type), buffer, type.begin, type.begin + type.width);
}

/// Columns of a buffer are dequantised as the whole row, of which the columns are then taken: the same
/// values, and dequant keeps to buffers.
mlir::Value KernelBuilder::emitDequant(const Expr &expr) {
  const ValueType &source = expr.operands[0]->type;
  ValueType whole = source.buffer->type;
  whole.element = expr.type.element;
  mlir::Value row = mla::DequantOp::create(builder, at(expr), rowsType(whole), values.lookup(source.buffer));
  if (source.width == whole.width)
    return row;
  return mla::SliceOp::create(builder, at(*expr.operands[0]), rowsType(expr.type), row, source.begin,
                              source.begin + source.width);
}

mlir::Value KernelBuilder::emitSlice(const Expr &expr) {
  if (expr.type.kind == ValueType::Stored)
    return {};
  return mla::SliceOp::create(builder, at(expr), rowsType(expr.type), emit(*expr.operands[0]),
                              expr.sliceBegin, expr.sliceEnd);
}

mlir::Value KernelBuilder::emitCall(const Expr &expr) {
  if (expr.inlined)
    return emit(*expr.inlined);
  const Expr &first = *expr.operands[0];
  switch (expr.builtin->builtin) {
  case Builtin::Dequant:
    return emitDequant(expr);
  case Builtin::Cast:
    return mla::CastOp::create(builder, at(expr), rowsType(expr.type), rows(first));
  case Builtin::Dot: {
    mlir::Value query = rows(first), key = rows(*expr.operands[1]);
    return mla::DotOp::create(builder, at(expr), mla::ScoresType::get(context, expr.type.heads), query, key);
  }
  case Builtin::Causal: {
    mlir::Value scores = emit(first);
    return mla::CausalOp::create(builder, at(expr), scores.getType(), scores);
  }
  case Builtin::Window: {
    mlir::Value scores = emit(first);
    return mla::WindowOp::create(builder, at(expr), scores.getType(), scores,
                                 builder.getI64IntegerAttr(expr.windowLeft));
  }
  case Builtin::Sink: {
    mlir::Value scores = emit(first), logits = emit(*expr.operands[1]);
    return mla::SinkOp::create(builder, at(expr), scores.getType(), scores, logits);
  }
  case Builtin::Softmax:
    return mla::SoftmaxOp::create(builder, at(expr), mla::ProbsType::get(context, expr.type.heads),
                                  emit(first));
  case Builtin::LogSumExp:
    return emit(first); // resultOf adds the op
  case Builtin::Concat:
    return emitConcat(expr);
  case Builtin::Quant:
    return rows(first); // resultOf adds the op
  default:
    llvm_unreachable("the others edit scores");
  }
}

mlir::Value KernelBuilder::emitBinary(const Expr &expr) {
  if (expr.op == '@') {
    mlir::Value probs = emit(*expr.operands[0]), value = rows(*expr.operands[1]);
    return mla::AttendOp::create(builder, at(expr), rowsType(expr.type), probs, value);
  }
  if (expr.type.kind == ValueType::NewRows)
    return emitDivided(expr);
  mlir::Value left = emit(*expr.operands[0]), right;
  if (expr.op == '/') // by a number: scales are products
    right = constant(at(expr), APFloat(float(1 / expr.operands[1]->type.scale.number)));
  else
    right = emit(*expr.operands[1]);
  if (expr.type.kind == ValueType::Scalar)
    return mlir::arith::MulFOp::create(builder, at(expr), left, right);
  if (expr.operands[0]->type.kind == ValueType::Scalar)
    std::swap(left, right);
  return mla::ScaleOp::create(builder, at(expr), left.getType(), left, right);
}

mlir::OwningOpRef<mlir::ModuleOp> mlac::buildModule(const Program &program, const SourceText &source,
                                                    mlir::MLIRContext *context) {
  mlir::Location start = source.locate(SMLoc::getFromPointer(source.text().data()));
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(start);
  mlir::OpBuilder builder(context);
  builder.setInsertionPointToEnd(module->getBody());
  for (const KernelDecl &kernel : program.kernels)
    KernelBuilder(kernel, source, builder).build();
  return module;
}

// One kernel's AST to the mla dialect; see Builder.h.
#pragma once

#include "dialect/mla/MLA.h"
#include "frontend/Builder.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/APFloat.h"

namespace mlac {

namespace mla = mlir::mla;

/// Builds one kernel. Some kinds of value have no op of their own until they are used: stored rows, which are
/// only a buffer and columns (see rows()), a log-sum-exp without a base, which is represented by its
/// scores, and what is computed for each score, which becomes part of the scores' edit (see BuildScores.cpp).
class KernelBuilder {
public:
  KernelBuilder(const KernelDecl &kernel, const SourceText &source, mlir::OpBuilder &builder)
      : kernel(kernel), source(source), builder(builder), context(builder.getContext()) {}

  void build();

private:
  // Types.
  mlir::Type typeOf(const ParamDecl &param);
  mlir::Type typeOf(const ResultDecl &result);
  mlir::Type elementOf(const ValueType &type);
  mlir::Type recordOf(const ParamDecl &param);
  mlir::Type rowsType(const ValueType &type);
  llvm::SmallVector<int64_t> shapeOf(const ValueType &type);
  mlir::ArrayAttr nameAttrs(llvm::ArrayRef<llvm::StringRef> names);
  mlir::DictionaryAttr hints();

  // The kernel.
  mla::KernelOp buildHeader();
  void addArguments(mlir::Block *block);
  void buildBody();
  mlir::Value resultOf(const ResultDecl &result, const Expr &expr);

  // Expressions.
  mlir::Value emit(const Expr &expr);
  mlir::Value emitNumber(const Expr &expr);
  mlir::Value emitName(const Expr &expr);
  mlir::Value emitCall(const Expr &expr);
  mlir::Value emitBinary(const Expr &expr);
  mlir::Value emitSlice(const Expr &expr);
  mlir::Value emitDequant(const Expr &expr);

  // Scores: BuildScores.cpp.
  class ScoreEdit;
  static bool isEdit(const Expr &expr);
  mlir::Value emitEdit(const Expr &expr);

  // Writers: BuildWriter.cpp.
  mlir::Value emitConcat(const Expr &expr);
  mlir::Value emitDivided(const Expr &expr);
  mlir::Value emitQuant(const ResultDecl &result, const Expr &expr);

  mlir::Value rows(const Expr &expr);
  mlir::Value constant(mlir::Location loc, const llvm::APFloat &value);
  mlir::Location at(const Expr &expr) { return source.locate(expr.loc); }

  const KernelDecl &kernel;
  const SourceText &source;
  mlir::OpBuilder &builder;
  mlir::MLIRContext *context;
  llvm::DenseMap<const Decl *, mlir::Value> values;
};

} // namespace mlac

// Names, types and rules. Each rule has an id, the same in docs/language.md and in a test.
#pragma once

#include "frontend/AST.h"
#include "frontend/Constants.h"
#include "frontend/Diagnostics.h"
#include "frontend/Functions.h"
#include "frontend/Parser.h"
#include "frontend/Scope.h"

namespace mlac {

/// Checks the whole program and fills in what the AST leaves to the checker.
void checkProgram(Program &program, Diagnostics &diagnostics, const std::map<std::string, int64_t> &defines);

/// Resolves the types, compute type and hints of a kernel's header.
class HeaderChecker {
public:
  HeaderChecker(Constants &constants, Diagnostics &diagnostics)
      : constants(constants), diagnostics(diagnostics) {}

  void check(KernelDecl &kernel);

private:
  void checkParam(ParamDecl &param);
  void checkBufferParam(ParamDecl &param);
  void checkHeadValues(ParamDecl &param);
  void checkResult(ResultDecl &result);
  void checkCompute(KernelDecl &kernel);
  void checkWriter(KernelDecl &kernel);
  void checkHints(KernelDecl &kernel);

  // Parts of a buffer type; empty after an error.
  std::optional<mlir::mla::Layout> layoutOf(const TypeSpec &spec);
  std::optional<Dtype> storageOf(const Identifier &storage, llvm::ArrayRef<Dtype> allowed,
                                 llvm::StringRef role);
  std::optional<int64_t> alignOf(const TypeSpec &spec);
  std::optional<std::pair<int64_t, int64_t>> rowShapeOf(const TypeSpec &spec);
  bool checkDimName(const TypeSpec &spec, size_t index);

  // Records: CheckRecord.cpp.
  std::optional<Dtype> recordOf(ParamDecl &param);
  std::optional<RecordPart> partOf(const PartSpec &spec);
  std::optional<int64_t> partWidthOf(const PartSpec &spec);
  bool checkScales(const PartSpec &spec, RecordPart &part);
  bool checkGroup(const PartSpec &spec, RecordPart &part);
  bool checkPartNames(llvm::ArrayRef<PartSpec> parts);
  bool checkOffsets(const ParamDecl &param);
  bool checkRecordAlign(const ParamDecl &param, int64_t align);
  static std::optional<std::pair<int64_t, int64_t>> widthOf(llvm::ArrayRef<RecordPart> parts);

  Constants &constants;
  Diagnostics &diagnostics;
};

/// Types the statements of one kernel and applies the rules of attention to them.
class BodyChecker {
public:
  BodyChecker(KernelDecl &kernel, Scope &scope, Constants &constants, Functions &functions,
              Diagnostics &diagnostics)
      : kernel(kernel), scope(scope), constants(constants), functions(functions), diagnostics(diagnostics) {}

  void check();

private:
  // Statements.
  void checkStatement(Statement &statement);
  void checkAssignment(Statement &statement, const ValueType &value);
  ResultDecl *findResult(const Identifier &target);
  void checkBufferResult(const ResultDecl &result, const Expr &value);
  void checkCacheResult(const ResultDecl &result, const Expr &value);
  void checkLseResult(ResultDecl &result, const Expr &value);
  void checkAllUsed();

  // Expressions.
  ValueType check(Expr &expr);
  ValueType checkNumber(const Expr &expr);
  ValueType checkName(Expr &expr);
  ValueType checkDecl(const Expr &expr, const Decl &decl);
  ValueType unknownName(const Expr &expr);
  ValueType checkLet(const Expr &expr, const LetDecl &let);
  ValueType checkResultRead(const Expr &expr, const ResultDecl &result);
  ValueType checkBinary(Expr &expr);
  ValueType checkRange(const Expr &expr, const ValueType &type);
  ValueType checkProduct(const Expr &expr);
  ValueType checkScaled(const Expr &expr, const Expr &operand, const Scale &factor);
  ValueType checkQuotient(const Expr &expr);
  ValueType checkSlice(Expr &expr);
  ValueType checkCall(Expr &expr);
  ValueType unknownFunction(const Expr &expr);
  ValueType checkDequant(const Expr &expr);
  ValueType checkCast(const Expr &expr);
  ValueType checkDot(const Expr &expr);
  ValueType checkAttend(const Expr &expr);
  ValueType checkNormalised(const Expr &expr, ValueType::Kind result);

  // Scores.
  bool join(ValueType &into, const Expr &operand);
  ValueType checkElementwise(llvm::ArrayRef<const Expr *> operands);
  ValueType checkSum(const Expr &expr);
  ValueType checkComparison(const Expr &expr);
  ValueType checkConditions(const Expr &expr);
  ValueType checkUnary(Expr &expr);
  bool expectScores(const Expr &expr, const Expr &operand);
  ValueType checkWindow(Expr &expr);
  ValueType checkKeep(const Expr &expr);
  ValueType checkSoftCap(const Expr &expr);
  ValueType checkSink(const Expr &expr);
  ValueType checkSelect(const Expr &expr);
  ValueType checkBuiltin(Expr &expr);
  ValueType checkFnCall(Expr &expr, FnDecl &fn);
  bool checkLabels(const Expr &expr, llvm::function_ref<llvm::StringRef(size_t)> nameOf);

  // Writers: CheckWriter.cpp.
  bool checkFamilyOf(const Expr &call);
  bool checkSource(const Expr &rows);
  ValueType checkConcat(const Expr &expr);
  ValueType checkQuant(const Expr &expr);
  ValueType checkDivided(const Expr &expr);

  // Rules.
  bool checkQuery(const Expr &query);
  bool checkHeads(const Expr &operand, int64_t queryHeads, llvm::StringRef role, llvm::StringRef rule);
  bool checkFamily(const Expr &value, const ParamDecl &key);
  bool checkWidths(const Expr &dot);
  void checkCached(const Expr &operand, llvm::StringRef role, llvm::StringRef rule);
  bool checkStorage(const Expr &operand, llvm::StringRef role, llvm::StringRef rule);
  bool checkQuantisedScale(const Expr &operand);
  void checkLatentScale(const Expr &operand);
  void checkSoftmaxScale(const Expr &function, const ValueType &scores);
  bool expectKind(const Expr &operand, bool fits, const llvm::Twine &what);
  ValueType wrongOperand(const Expr &operand, const llvm::Twine &what, const llvm::Twine &fix);

  /// A key or value in a product, to compare the scales of one latent row.
  struct LatentUse {
    const ParamDecl *buffer;
    Scale scale;
    llvm::SMLoc loc;
  };

  KernelDecl &kernel;
  Scope &scope;
  Constants &constants;
  Functions &functions;
  Diagnostics &diagnostics;
  unsigned inlinedHeight = 0; // of all calls that are being checked
  llvm::SmallVector<LatentUse> latentUses;
  /// The dots whose missing scale has been reported.
  llvm::SmallVector<llvm::SMLoc> unscaledDots;
};

} // namespace mlac

// The constants of a file, and the value of constant integer expressions over them.
#pragma once

#include "frontend/AST.h"
#include "frontend/Diagnostics.h"
#include "llvm/ADT/StringMap.h"

#include <map>

namespace mlac {

class Constants {
public:
  explicit Constants(Diagnostics &diagnostics) : diagnostics(diagnostics) {}

  /// Evaluates the constants in their order; `defines` replaces values and names no others.
  void define(std::deque<ConstDecl> &consts, const std::map<std::string, int64_t> &defines);

  /// The value of an integer expression; empty after an error.
  std::optional<int64_t> evaluate(const Expr &expr);

  /// As evaluate, but also reports a value outside [least, most] as `what` breaking `rule`.
  std::optional<int64_t> evaluate(const Expr &expr, llvm::StringRef rule, const llvm::Twine &what,
                                  int64_t least, int64_t most);

private:
  void define(ConstDecl &decl);
  void override(llvm::StringRef name, int64_t value);
  std::optional<int64_t> evaluateNumber(const Expr &expr);
  std::optional<int64_t> evaluateName(const Expr &expr);
  std::optional<int64_t> evaluateNegation(const Expr &expr);
  std::optional<int64_t> evaluateBinary(const Expr &expr);
  std::optional<int64_t> divide(const Expr &expr, int64_t left, int64_t right);

  Diagnostics &diagnostics;
  llvm::StringMap<ConstDecl *> known;
  llvm::SmallVector<llvm::StringRef> names;
};

} // namespace mlac

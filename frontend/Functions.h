// The program's own functions: checked once for names, and inlined wherever they are called.
#pragma once

#include "frontend/Constants.h"

namespace mlac {

class Functions {
public:
  /// Most of what calls become, in nodes of expressions.
  static constexpr unsigned kMostNodes = 1 << 18;

  Functions(Program &program, Diagnostics &diagnostics) : program(program), diagnostics(diagnostics) {}

  /// Names in bodies are parameters, constants, positions and functions defined before.
  void check();

  /// The function with this name, or null.
  FnDecl *find(llvm::StringRef name);
  llvm::SmallVector<llvm::StringRef> names() const;

  /// The function's body with its parameters bound to the operands of a call; null after an error.
  Expr *inlineCall(const Expr &call, const FnDecl &fn);

private:
  void checkHeader(const FnDecl &fn);
  void checkBody(FnDecl &fn, const Expr &expr);
  void checkName(FnDecl &fn, const Expr &expr);
  void checkCall(FnDecl &fn, const Expr &expr);
  const ConstDecl *findConstant(llvm::StringRef name) const;
  Expr *copy(const Expr &expr, const llvm::StringMap<BoundDecl *> &bound);

  Program &program;
  Diagnostics &diagnostics;
  unsigned nodes = 0;
};

/// What a name means that nothing declares, in arithmetic on scores: q_pos, kv_pos or head.
std::optional<Position> findPosition(llvm::StringRef name);

} // namespace mlac

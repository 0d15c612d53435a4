// The names a kernel's expressions can use.
#pragma once

#include "frontend/AST.h"
#include "frontend/Diagnostics.h"
#include "llvm/ADT/StringMap.h"

namespace mlac {

class Scope {
public:
  Scope(const std::deque<FnDecl> &fns, Diagnostics &diagnostics) : fns(fns), diagnostics(diagnostics) {}

  /// Adds a name; a second use of one is an error and changes nothing.
  void declare(Decl &decl);

  Decl *find(llvm::StringRef name) const { return decls.lookup(name); }

  /// In the order of their declaration.
  llvm::ArrayRef<llvm::StringRef> names() const { return order; }

private:
  bool isFunction(llvm::StringRef name) const;

  const std::deque<FnDecl> &fns;
  Diagnostics &diagnostics;
  llvm::StringMap<Decl *> decls;
  llvm::SmallVector<llvm::StringRef> order;
};

} // namespace mlac

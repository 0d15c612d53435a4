// One name, one meaning.
#include "frontend/Scope.h"

using namespace llvm;
using namespace mlac;

bool Scope::isFunction(StringRef name) const {
  return findBuiltin(name) || llvm::any_of(fns, [&](const FnDecl &fn) { return fn.name.text == name; });
}

void Scope::declare(Decl &decl) {
  StringRef name = decl.name.text;
  if (isFunction(name)) {
    diagnostics.error(decl.name.loc, "reserved-name", "'" + name + "' is the name of a function");
    return;
  }
  auto [entry, isNew] = decls.try_emplace(name, &decl);
  if (isNew) {
    order.push_back(name);
    return;
  }
  StringRef rule = decl.kind == Decl::Let ? "let-rebind" : "duplicate-name";
  diagnostics.error(decl.name.loc, rule, "'" + name + "' already has a meaning")
      .note(entry->second->name.loc, "it is declared here")
      .fix("choose another name");
}

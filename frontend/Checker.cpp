// The program: constants, then each kernel.
#include "frontend/Checker.h"

using namespace llvm;
using namespace mlac;

static void checkKernel(Program &program, KernelDecl &kernel, Constants &constants, Functions &functions,
                        Diagnostics &diagnostics) {
  HeaderChecker(constants, diagnostics).check(kernel);
  Scope scope(program.fns, diagnostics);
  for (ConstDecl &decl : program.consts)
    if (!scope.find(decl.name.text)) // a second one was reported
      scope.declare(decl);
  for (ParamDecl &param : kernel.params)
    scope.declare(param);
  for (ResultDecl &result : kernel.results)
    scope.declare(result);
  for (LetDecl &let : kernel.lets)
    if (!diagnostics.full())
      scope.declare(let);
  BodyChecker(kernel, scope, constants, functions, diagnostics).check();
}

static void checkKernelNames(const Program &program, Diagnostics &diagnostics) {
  StringMap<SMLoc> first;
  for (const KernelDecl &kernel : program.kernels) {
    if (kernel.name.text.empty())
      continue;
    auto [entry, isNew] = first.try_emplace(kernel.name.text, kernel.name.loc);
    if (!isNew)
      diagnostics.error(kernel.name.loc, "duplicate-name", "a second kernel '" + kernel.name.text + "'")
          .note(entry->second, "the first is here");
  }
}

void mlac::checkProgram(Program &program, Diagnostics &diagnostics,
                        const std::map<std::string, int64_t> &defines) {
  Constants constants(diagnostics);
  constants.define(program.consts, defines);
  checkKernelNames(program, diagnostics);
  Functions functions(program, diagnostics);
  functions.check();
  for (KernelDecl &kernel : program.kernels)
    if (!kernel.brokenHeader && !diagnostics.full())
      checkKernel(program, kernel, constants, functions, diagnostics);
}

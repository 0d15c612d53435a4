// Loading a program and choosing among its kernels.
#include "tools/mlac/Session.h"

#include "dialect/mla/MLA.h"
#include "frontend/Frontend.h"
#include "frontend/Suggest.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlac;

Session::Session() : printer(sources, &context, llvm::errs()) {
  // The source excerpt says where; the op's own text belongs to --emit.
  context.printOpOnDiagnostic(false);
}

mlir::OwningOpRef<mlir::ModuleOp> Session::load(const SourceOptions &options) {
  return parseFile(options.file, sources, &context, {.defines = options.defines});
}

mlir::LogicalResult mlac::selectKernel(mlir::ModuleOp module, llvm::StringRef name) {
  if (name.empty())
    return mlir::success();
  llvm::SmallVector<llvm::StringRef> names;
  for (auto kernel : module.getOps<mlir::mla::KernelOp>())
    names.push_back(kernel.getSymName());
  if (!llvm::is_contained(names, name)) {
    mlir::InFlightDiagnostic error = mlir::emitError(mlir::UnknownLoc::get(module.getContext()));
    error << "the program has no kernel '" << name << "' [kernel-unknown]";
    error.attachNote() << suggestName(name, names);
    return error;
  }
  for (auto kernel : llvm::make_early_inc_range(module.getOps<mlir::mla::KernelOp>()))
    if (kernel.getSymName() != name)
      kernel.erase();
  return mlir::success();
}

std::optional<LoadedKernel> mlac::loadKernel(Session &session, const SourceOptions &options, llvm::StringRef name) {
  LoadedKernel loaded{session.load(options), {}};
  if (!loaded.module || failed(selectKernel(*loaded.module, name)))
    return std::nullopt;
  llvm::SmallVector<llvm::StringRef> names;
  for (auto kernel : loaded.module->getOps<mlir::mla::KernelOp>())
    names.push_back(kernel.getSymName());
  if (names.size() != 1) {
    mlir::emitError(loaded.module->getLoc()) << "the program has " << names.size() << " kernels; choose one with --kernel: "
                                             << llvm::join(names, ", ") << " [kernel-ambiguous]";
    return std::nullopt;
  }
  loaded.name = names.front().str();
  return loaded;
}

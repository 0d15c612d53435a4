// mla-opt: runs passes and named pipelines on MLIR text; mlir-opt for this project's dialects.
#include "dialect/tile/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/BufferCastDialects.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

/// Modules of others hold ops that are known nowhere here; mla-reject-buffer-cast skips those.
static llvm::SmallVector<char *> withUnregisteredDialects(int argc, char **argv) {
  static char flag[] = "--allow-unregistered-dialect";
  llvm::SmallVector<char *> arguments(argv, argv + argc);
  if (llvm::none_of(arguments, [](char *argument) { return llvm::StringRef(argument).ends_with(flag + 1); }))
    arguments.push_back(flag);
  return arguments;
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::mla::MLADialect, mlir::tile::TileDialect, mlir::LLVM::LLVMDialect,
                  mlir::NVVM::NVVMDialect>();
  mlac::registerForeignDialects(registry);
  mlac::registerMlacPasses();
  mlac::registerPipelines();
  mlir::registerTransformsPasses();
  llvm::SmallVector<char *> arguments = withUnregisteredDialects(argc, argv);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(arguments.size(), arguments.data(), "mlac's pass driver\n", registry));
}

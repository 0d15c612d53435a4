// From source text to the mla dialect.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>

namespace llvm {
class SourceMgr;
}

namespace mlac {

struct FrontendOptions {
  /// Values that replace those of the file's constants.
  std::map<std::string, int64_t> defines;
};

/// Largest source that is read.
inline constexpr uint64_t kLargestSource = 64ull << 20;

/// Reads, checks and builds the kernels of a file (`-` is standard input). The buffer is added to `sources`,
/// so that a DiagnosticPrinter over it shows excerpts. Null after errors, which went to the context's
/// diagnostic engine.
mlir::OwningOpRef<mlir::ModuleOp> parseFile(llvm::StringRef path, llvm::SourceMgr &sources,
                                            mlir::MLIRContext *context, const FrontendOptions &options);

/// The same for text in memory; `name` stands for the file in locations.
mlir::OwningOpRef<mlir::ModuleOp> parseSource(llvm::StringRef text, llvm::StringRef name,
                                              llvm::SourceMgr &sources, mlir::MLIRContext *context,
                                              const FrontendOptions &options);

} // namespace mlac

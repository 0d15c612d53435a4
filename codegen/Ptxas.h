// ptxas, where it is installed: cubins and the resources that kernels really take.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <optional>
#include <string>

namespace mlac {

/// What ptxas reports of one entry.
struct EntryResources {
  int registers = 0;
  int64_t spillStores = 0, spillLoads = 0; // bytes
  int64_t staticShared = 0;                // bytes
  int64_t stack = 0;                       // bytes
};

struct Ptxas {
  std::string path;
  int release = 0; // CUDA release, 10 * major + minor

  /// The one on PATH (or named by MLAC_PTXAS); nothing where there is none or it does not run.
  static std::optional<Ptxas> find();
};

struct Assembled {
  std::string cubin;
  std::map<std::string, EntryResources> entries;
};

/// Assembles PTX of version `ptx` for `target`. Errors carry ptxas's own text.
mlir::FailureOr<Assembled> assemble(mlir::Location loc, const Ptxas &ptxas, llvm::StringRef text, llvm::StringRef target,
                                    int ptx);

/// Parses the text of `ptxas -v`.
std::map<std::string, EntryResources> parseResourceText(llvm::StringRef text);

/// "Cuda compilation tools, release 13.0, V13.0.88" as 130; 0 if it says no release.
int parsePtxasRelease(llvm::StringRef text);

/// Highest PTX version that a CUDA release's ptxas takes.
int ptxForRelease(int release);

} // namespace mlac

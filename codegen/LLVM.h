// From lowered MLIR to LLVM IR, PTX and host code.
#pragma once

#include "codegen/Target.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace mlac {

/// Packed f32x2 is off: users of the back end report wrong code, spills and slower kernels with it (llvm#126337, #153109).
struct PTXOptions {
  Target target;
  int ptx;
  bool packedF32x2 = false;
};

/// LLVM IR as text, after LLVM's own optimisation.
mlir::FailureOr<std::string> emitLLVM(mlir::ModuleOp module, const PTXOptions &options);

/// PTX of a module that passed mlac-check-target. Errors are diagnostics at the module.
mlir::FailureOr<std::string> emitPTX(mlir::ModuleOp module, const PTXOptions &options);

/// Host code of a module that passed mlac-emulate.
class HostCode {
public:
  using Entry = void (*)(void **params);
  struct Symbol {
    const char *name;
    void *address;
  };

  /// Compiles for this machine's processor. `symbols` are what the code may call.
  static mlir::FailureOr<std::unique_ptr<HostCode>> compile(mlir::ModuleOp module, std::span<const Symbol> symbols);
  ~HostCode();

  /// The entry of kernel `name`, or null.
  Entry find(const std::string &name) const;

private:
  struct Impl;
  explicit HostCode(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace mlac

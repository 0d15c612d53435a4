// The compiler as a library: a module of the mla dialect to any level.
#pragma once

#include "codegen/LLVM.h"
#include "codegen/Report.h"
#include "codegen/Tuned.h"
#include "mlir/Pass/PassManager.h"
#include "passes/TargetOptions.h"

namespace mlac {

struct CompilerOptions {
  std::string target = "sm_120";
  std::string profile;         // empty: the target's own
  std::string ptx;             // empty: the lowest that the target takes
  int64_t layers = 0;          // for messages; 0: not given
  int64_t poolTokens = 0;      // for messages; 0: not given
  bool packedF32x2 = false;
  std::string sourceHash;      // for the manifest
  std::string tunedDevice;     // whose tuned schedules are taken, by the driver's name; empty: none are
  std::string tunedDirectory;  // cache that holds them; empty: the default one
  /// Called with each pass manager before it runs, for printing, timing and reproducers.
  std::function<mlir::LogicalResult(mlir::PassManager &)> configure;
};

/// A kernel's schedules, best first.
struct Ranked {
  std::string kernel;
  ::mla::TunedKey key; // without a device
  std::vector<mlir::Attribute> schedules; // of the kernel's family
};

/// One module on its way down. Each step is taken at most once; errors are diagnostics.
class Compiler {
public:
  static mlir::FailureOr<Compiler> create(mlir::ModuleOp module, CompilerOptions options);

  /// mla to unscheduled tiles with fused dequants.
  mlir::LogicalResult lowerToTiles();
  /// The best `count` schedules of every kernel by the cost model, best first; between lowerToTiles() and schedule().
  mlir::FailureOr<std::vector<Ranked>> candidates(int64_t count);
  /// Has schedule() take this one for every kernel.
  void tune(mlir::Attribute schedule);
  /// Tiles to their scheduled form.
  mlir::LogicalResult schedule();
  /// To the LLVM dialect, checked against the target.
  mlir::LogicalResult lowerToLLVM();

  /// The rest read the lowered module.
  mlir::FailureOr<std::string> llvmText();
  /// The artefact: manifest and PTX.
  mlir::FailureOr<std::string> artefact();
  /// Needs ptxas.
  mlir::FailureOr<std::string> cubin();
  /// With a prediction for the batch, if there is one.
  mlir::FailureOr<std::string> report(const std::optional<BatchLengths> &batch = std::nullopt);
  /// What the cost model says of the batch, for kernel `name`.
  mlir::FailureOr<Prediction> predict(llvm::StringRef name, const BatchLengths &batch);
  mla::Manifest manifest() const;
  /// Host code for the emulator.
  mlir::FailureOr<std::unique_ptr<HostCode>> host(std::span<const HostCode::Symbol> hooks);

private:
  Compiler(mlir::ModuleOp module, CompilerOptions options, TargetChoice choice)
      : module(module), options(std::move(options)), choice(choice) {}

  mlir::LogicalResult run(llvm::function_ref<void(mlir::OpPassManager &)> build);
  PTXOptions ptxOptions() const { return {choice.target, choice.ptx, options.packedF32x2}; }
  mlir::FailureOr<Assembled> assembled();

  mlir::ModuleOp module;
  CompilerOptions options;
  TargetChoice choice;
  std::vector<ScheduledFacts> facts;
};

} // namespace mlac

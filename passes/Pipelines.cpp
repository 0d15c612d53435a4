// The named pipelines.
#include "passes/Pipelines.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

using namespace mlir;

namespace mlac {

void buildMlaToTile(OpPassManager &manager, const PipelineOptions &options) {
  RejectBufferCastOptions reject;
  reject.layers = options.layers;
  reject.poolTokens = options.poolTokens;
  manager.addPass(createRejectBufferCast(reject));
  manager.addPass(createInferScales());
  manager.addPass(createFuseEdits());
  manager.addPass(createTileWriter());
  manager.addPass(createTile());
  manager.addPass(createFuseDequant());
  manager.addPass(createCanonicalizerPass());
}

/// What a scheduling pass is told.
template <typename OptionsT>
static OptionsT limits(const PipelineOptions &options) {
  OptionsT schedule;
  schedule.target = options.target;
  schedule.profile = options.profile;
  schedule.ptx = options.ptx;
  schedule.sharedLimit = options.sharedLimit;
  return schedule;
}

void buildScheduleTile(OpPassManager &manager, const PipelineOptions &options) {
  manager.addPass(createSchedule(limits<ScheduleOptions>(options)));
  manager.addPass(createSchedulePrefill(limits<SchedulePrefillOptions>(options)));
  manager.addPass(createPipeline());
  manager.addPass(createPipelinePrefill());
  manager.addPass(createVerifyPipeline());
}

void buildTileToLLVM(OpPassManager &manager, const PipelineOptions &options) {
  manager.addPass(createPlanner());
  ToNVVMOptions lower;
  lower.target = options.target;
  lower.ptx = options.ptx;
  manager.addPass(createToNVVM(lower));
  manager.addPass(createCSEPass()); // LLVM does the rest faster
  manager.addPass(createSpreadCopies());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  CheckTargetOptions check;
  check.target = options.target;
  check.ptx = options.ptx;
  manager.addPass(createCheckTarget(check));
}

void buildMlaToLLVM(OpPassManager &manager, const PipelineOptions &options) {
  buildMlaToTile(manager, options);
  buildScheduleTile(manager, options);
  buildTileToLLVM(manager, options);
}

void registerPipelines() {
  PassPipelineRegistration<PipelineOptions>("mla-to-tile", "Attention to tiles with fused dequants", buildMlaToTile);
  PassPipelineRegistration<PipelineOptions>("schedule-tile", "Schedule and pipeline tiles", buildScheduleTile);
  PassPipelineRegistration<PipelineOptions>("tile-to-llvm", "Scheduled tiles to LLVM", buildTileToLLVM);
  PassPipelineRegistration<PipelineOptions>("mla-to-llvm", "The whole pipeline", buildMlaToLLVM);
}

} // namespace mlac

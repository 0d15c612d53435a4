// The named pipelines that mlac and mla-opt share.
#pragma once

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlac {

struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  Option<std::string> target{*this, "target", llvm::cl::desc("Instruction target"), llvm::cl::init("sm_120")};
  Option<std::string> profile{*this, "profile", llvm::cl::desc("Resource profile; the target's own by default")};
  Option<std::string> ptx{*this, "ptx", llvm::cl::desc("PTX version; the lowest that the target takes by default")};
  Option<int64_t> layers{*this, "layers", llvm::cl::desc("Layers a step, for messages"), llvm::cl::init(0)};
  Option<int64_t> poolTokens{*this, "pool-tokens", llvm::cl::desc("Tokens of the pool, for messages"),
                             llvm::cl::init(0)};
  Option<int64_t> sharedLimit{*this, "shared-limit",
                              llvm::cl::desc("Bytes of shared memory a block may take, to override the profile"),
                              llvm::cl::init(0)};
};

/// mla: refuse casts, move scales, form the loop over tiles, fuse dequants.
void buildMlaToTile(mlir::OpPassManager &manager, const PipelineOptions &options);
/// tile: choose the schedule, pipeline, verify it.
void buildScheduleTile(mlir::OpPassManager &manager, const PipelineOptions &options);
/// tile to nvvm and llvm, checked against the target.
void buildTileToLLVM(mlir::OpPassManager &manager, const PipelineOptions &options);
/// All of the above.
void buildMlaToLLVM(mlir::OpPassManager &manager, const PipelineOptions &options);

/// Registers the four as mla-to-tile, schedule-tile, tile-to-llvm and mla-to-llvm.
void registerPipelines();

} // namespace mlac

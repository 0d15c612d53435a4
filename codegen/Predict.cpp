// The busiest SM's tiles at the cost model's cycles, and what a launch and its items cost beside them.
#include "codegen/Predict.h"

#include "runtime/Plan.h"

#include <algorithm>

namespace mlac {

namespace {
// Microseconds on an H200, from short batches of bench/RESULTS.md: a launch, a work item's start and end, and
// the combine launch.
constexpr double kLaunch = 3, kItem = 1.5, kCombine = 3;

/// Bytes and products of a batch: every cached row read once, every visible (row, token) pair multiplied.
struct BatchWork {
  double bytes = 0, flops = 0;

  BatchWork(const KernelShape &shape, const BatchLengths &batch) {
    for (size_t i = 0; i < batch.kvLens.size(); ++i) {
      double rows = double(batch.qLens[i]) * double(shape.heads), tokens = batch.kvLens[i];
      bytes += rows ? tokens * double(shape.cache.getTokenBytes()) : 0;
      flops += 2 * rows * tokens * double(shape.rowWidth() + shape.valueWidth);
    }
  }
};
} // namespace

static int64_t residentBlocks(const KernelShape &shape, mlir::tile::ScheduleAttr schedule,
                              const Profile &profile) {
  int64_t blocks = blocksPerSM(profile, schedule.getThreads(), estimateRegisters(shape, schedule),
                               layoutShared(shape, schedule).bytes);
  return std::max<int64_t>(blocks, 1);
}

std::optional<Prediction> predict(const KernelShape &shape, mlir::tile::ScheduleAttr schedule,
                                  const Profile &profile, const mla::KernelInfo &kernel,
                                  const BatchLengths &batch, std::string &problem) {
  int64_t perSM = residentBlocks(shape, schedule, profile);
  std::optional<mla::PlanSummary> plan = mla::summarisePlan(kernel, batch.qLens, batch.kvLens, batch.pageSize,
                                                            int(perSM * profile.multiprocessors), problem);
  if (!plan)
    return std::nullopt;
  TileCost cost = costOfTile(shape, schedule, profile);
  BatchWork work(shape, batch);
  int64_t together =
      (plan->blocks + profile.multiprocessors - 1) / profile.multiprocessors; // blocks that share an SM
  double tiles = double(plan->busiestTiles * together) * cost.cycles() / profile.clock * 1e6;
  double around =
      plan->blocks ? kLaunch + kItem * double(plan->busiestItems) + (plan->splits ? kCombine : 0) : 0;
  Prediction prediction{tiles + around,
                        around > tiles ? "launches and items" : cost.bound().str(),
                        work.bytes / profile.bandwidth * 1e6,
                        work.flops / profile.mmaFlops * 1e6,
                        perSM,
                        *plan};
  return prediction;
}

} // namespace mlac

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

  /// `tokenBytes` of all KV heads; `dims` that a row and a token are multiplied over, scores and values together.
  BatchWork(const mla::KernelInfo &kernel, const BatchLengths &batch, int64_t tokenBytes, int64_t dims) {
    for (size_t i = 0; i < batch.kvLens.size(); ++i) {
      double queries = batch.qLens[i], tokens = batch.kvLens[i];
      // Of the square at a long prefill's end, a causal mask leaves half.
      double hidden = kernel.isPrefill() && kernel.causal ? std::min(queries, tokens) * std::min(queries, tokens) / 2 : 0;
      bytes += queries ? tokens * double(tokenBytes) : 0;
      flops += 2 * (queries * tokens - hidden) * double(kernel.heads) * double(dims);
    }
  }
};
} // namespace

static std::optional<Prediction> predict(const TileCost &cost, int64_t perSM, const BatchWork &work,
                                         const Profile &profile, const mla::KernelInfo &kernel,
                                         const BatchLengths &batch, std::string &problem) {
  std::optional<mla::PlanSummary> plan = mla::summarisePlan(kernel, batch.qLens, batch.kvLens, batch.pageSize,
                                                            int(perSM * profile.multiprocessors), problem);
  if (!plan)
    return std::nullopt;
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

std::optional<Prediction> predict(const KernelShape &shape, mlir::tile::ScheduleAttr schedule,
                                  const Profile &profile, const mla::KernelInfo &kernel,
                                  const BatchLengths &batch, std::string &problem) {
  BatchWork work(kernel, batch, shape.cache.getTokenBytes(), shape.rowWidth() + shape.valueWidth);
  return predict(costOfTile(shape, schedule, profile), residentBlocks(shape, schedule, profile), work, profile, kernel,
                 batch, problem);
}

std::optional<Prediction> predict(const PrefillShape &shape, mlir::tile::PrefillScheduleAttr schedule,
                                  const Profile &profile, const mla::KernelInfo &kernel,
                                  const BatchLengths &batch, std::string &problem) {
  BatchWork work(kernel, batch, shape.key.getTokenBytes() + shape.value.getTokenBytes(),
                 shape.keyWidth() + shape.valueWidth());
  return predict(costOfPrefillTile(shape, schedule, profile), residentBlocks(shape, schedule, profile), work, profile,
                 kernel, batch, problem);
}

} // namespace mlac

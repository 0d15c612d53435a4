// The resource report: what each kernel takes, as JSON.
#pragma once

#include "codegen/Predict.h"
#include "codegen/Ptxas.h"
#include "passes/ScoreEdit.h"
#include "runtime/Manifest.h"

#include <functional>

namespace mlac {

/// What is known of one kernel before it is lowered; ModuleOp's scheduled form has the allocations.
struct ScheduledFacts {
  std::string kernel;
  std::string storage, compute; // prefill: the keys' and the values' storage, where they differ as "e4m3, bf16"
  int64_t bytesPerToken;        // of what is cached, all KV heads
  std::vector<std::pair<std::string, int64_t>> tile;        // the schedule
  std::function<TileCost(const Profile &)> cost;
  std::function<std::optional<Prediction>(const Profile &, const mla::KernelInfo &, const BatchLengths &, std::string &)> predict;
  std::vector<std::pair<std::string, int64_t>> allocations; // name, bytes
  std::vector<std::string> conversions;                     // where stored elements become compute values
  ScoreCost scores;                                         // between product and softmax
};

/// Facts of every scheduled kernel; to be called between tile-pipeline and tile-to-nvvm.
std::vector<ScheduledFacts> collectFacts(mlir::ModuleOp module);

/// `assembled` is null where there is no ptxas: registers and spills are then null. With a batch each kernel has a prediction for
/// it, or the reason why not.
std::string writeReport(const mla::Manifest &manifest, const std::vector<ScheduledFacts> &facts, const Profile &profile,
                        const Assembled *assembled, const std::optional<BatchLengths> &batch = std::nullopt);

} // namespace mlac

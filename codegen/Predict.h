// What a kernel takes for a batch on a card, by the cost model and the plan.
#pragma once

#include "passes/PrefillCost.h"
#include "runtime/PlanSummary.h"

#include <optional>

namespace mlac {

/// The lengths of a batch, one a request.
struct BatchLengths {
  std::vector<int32_t> qLens, kvLens;
  int32_t pageSize = 64;
};

struct Prediction {
  double microseconds; // of a run, combine included
  std::string bound;   // what most of the time goes to
  double memoryFloor;  // microseconds to read every cached row once at the profile's bandwidth
  double matrixFloor;  // to multiply at its rate
  int64_t blocksPerSM;
  mla::PlanSummary plan;
};

/// Empty if plan() refuses the batch: `problem` says why.
std::optional<Prediction> predict(const KernelShape &shape, mlir::tile::ScheduleAttr schedule,
                                  const Profile &profile, const mla::KernelInfo &kernel,
                                  const BatchLengths &batch, std::string &problem);
std::optional<Prediction> predict(const PrefillShape &shape, mlir::tile::PrefillScheduleAttr schedule,
                                  const Profile &profile, const mla::KernelInfo &kernel,
                                  const BatchLengths &batch, std::string &problem);

} // namespace mlac

// What a plan gives its busiest block, for predictions. Nothing here throws.
#pragma once

#include "runtime/Manifest.h"

#include <optional>
#include <string>
#include <vector>

namespace mla {

struct PlanSummary {
  int64_t blocks = 0;       ///< of the main launch
  int64_t busiestTiles = 0; ///< KV tiles of the block that has most
  int64_t busiestItems = 0; ///< work items of the block that has most
  int64_t tiles = 0;
  int64_t splits = 0; ///< row tiles cut over several blocks
};

/// The plan of a batch, `qLens` and `kvLens` one a request, over that many resident blocks. Empty if there is
/// none: `problem` says why.
std::optional<PlanSummary> summarisePlan(const KernelInfo &kernel, const std::vector<int32_t> &qLens,
                                         const std::vector<int32_t> &kvLens, int32_t pageSize, int blocks,
                                         std::string &problem);

} // namespace mla

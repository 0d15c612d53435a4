#include "runtime/PlanSummary.h"

#include "runtime/Plan.h"

#include <algorithm>

namespace mla {

static std::vector<int32_t> indptrOf(const std::vector<int32_t> &lengths) {
  std::vector<int32_t> sums{0};
  for (int32_t length : lengths) {
    int64_t sum = int64_t{sums.back()} + length;
    if (sum > INT32_MAX)
      throw Error(Error::Code::tooLarge, "the sum of the lengths", std::to_string(sum), "a 32-bit number");
    sums.push_back(static_cast<int32_t>(sum));
  }
  return sums;
}

static Plan planOf(const KernelInfo &kernel, const std::vector<int32_t> &qLens,
                   const std::vector<int32_t> &kvLens, int32_t pageSize, int blocks) {
  std::vector<int32_t> q = indptrOf(qLens);
  // A ragged cache has its rows in a row, a paged one its pages at hand.
  bool ragged = kernel.cached().layout == Layout::ragged;
  std::vector<int32_t> cache = ragged ? indptrOf(kvLens) : std::vector<int32_t>{0};
  PlanRequest request;
  request.qIndptr = q;
  request.kvLen = kvLens;
  request.pageSize = pageSize;
  for (int32_t length : kvLens) {
    int64_t pages = (int64_t{length} + pageSize - 1) / std::max(pageSize, 1);
    request.tableColumns = std::max(request.tableColumns, pages);
    request.pages += pages;
  }
  request.cacheIndptr = cache;
  request.blocks = blocks;
  return makePlan(kernel, request);
}

static PlanSummary summarise(const Plan &plan) {
  PlanSummary summary{plan.grid, 0, 0, plan.tiles, static_cast<int64_t>(plan.merges.size())};
  for (size_t block = 0; block + 1 < plan.workIndptr.size(); ++block) {
    int64_t items = plan.workIndptr[block + 1] - plan.workIndptr[block], tiles = 0;
    for (int32_t i = plan.workIndptr[block]; i < plan.workIndptr[block + 1]; ++i)
      tiles += plan.work[i].tile_end - plan.work[i].tile_begin;
    summary.busiestTiles = std::max(summary.busiestTiles, tiles);
    summary.busiestItems = std::max(summary.busiestItems, items);
  }
  return summary;
}

std::optional<PlanSummary> summarisePlan(const KernelInfo &kernel, const std::vector<int32_t> &qLens,
                                         const std::vector<int32_t> &kvLens, int32_t pageSize, int blocks,
                                         std::string &problem) {
  try {
    return summarise(planOf(kernel, qLens, kvLens, pageSize, blocks));
  } catch (const std::exception &error) {
    problem = error.what();
    return std::nullopt;
  }
}

} // namespace mla

// Prefill has far more row tiles than blocks, so none is split: they are dealt out, longest first.
#include "runtime/PrefillPlan.h"

#include <algorithm>
#include <queue>

namespace mla {

namespace {

/// What an item costs beyond its KV tiles, in tiles: its query, its outputs, the start of its copies.
constexpr int64_t itemOverhead = 2;

int64_t tilesOf(const WorkItem &item) { return item.tile_end - item.tile_begin; }

void appendRequest(const KernelInfo &kernel, const PlanRequest &request, int32_t index,
                   std::vector<WorkItem> &items) {
  int64_t qLen = request.qIndptr[index + 1] - request.qIndptr[index], kvLen = request.kvLen[index];
  int64_t rows = qLen * kernel.headsPerKv();
  for (int64_t rowBegin = 0; rowBegin < rows; rowBegin += kernel.tile.rows) {
    int64_t tokens = visibleTokens(kernel, qLen, kvLen, std::min(rowBegin + kernel.tile.rows, rows));
    auto end = static_cast<int32_t>((tokens + kernel.tile.tokens - 1) / kernel.tile.tokens);
    auto begin = static_cast<int32_t>(hiddenTokens(kernel, qLen, kvLen, rowBegin) / kernel.tile.tokens);
    for (int32_t head = 0; head < kernel.kvHeads; ++head)
      items.push_back({index, static_cast<int32_t>(rowBegin), std::min(begin, end), end, -1, request.qIndptr[index],
                       static_cast<int32_t>(rows), request.kvLen[index], head, request.cacheIndptr[index], {}});
  }
}

/// The items of each block.
std::vector<std::vector<WorkItem>> deal(const std::vector<WorkItem> &items, int64_t blocks) {
  using Load = std::pair<int64_t, int64_t>; // work so far, block
  std::priority_queue<Load, std::vector<Load>, std::greater<>> idlest;
  for (int64_t block = 0; block < blocks; ++block)
    idlest.push({0, block});
  std::vector<std::vector<WorkItem>> lists(blocks);
  for (const WorkItem &item : items) {
    auto [load, block] = idlest.top();
    idlest.pop();
    lists[block].push_back(item);
    idlest.push({load + tilesOf(item) + itemOverhead, block});
  }
  return lists;
}

} // namespace

void writePrefillLists(const KernelInfo &kernel, const PlanRequest &request, Plan &plan,
                       std::optional<std::span<WorkItem>> work) {
  std::vector<WorkItem> items;
  for (size_t r = 0; r < request.kvLen.size(); ++r)
    appendRequest(kernel, request, static_cast<int32_t>(r), items);
  std::ranges::stable_sort(items, std::greater(), tilesOf);
  plan.grid = std::min<int64_t>(request.blocks, static_cast<int64_t>(items.size()));
  if (!work)
    plan.work.resize(items.size());
  std::span<WorkItem> to = work.value_or(plan.work);
  for (const std::vector<WorkItem> &list : deal(items, plan.grid)) {
    plan.workIndptr.push_back(static_cast<int32_t>(plan.items));
    for (const WorkItem &item : list) {
      auto place = static_cast<size_t>(plan.items++);
      if (place < to.size())
        to[place] = item;
      plan.tiles += tilesOf(item);
      plan.skippedTiles += item.tile_begin;
    }
  }
}

} // namespace mla

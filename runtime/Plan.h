// plan(): from the lengths of a batch to the work list of a launch.
#pragma once

#include "runtime/Abi.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mla {

/// What makePlan() is told. The spans are read during the call only.
struct PlanRequest {
  std::span<const int32_t> qIndptr; ///< [batch + 1], first 0, monotone: query rows of each request
  std::span<const int32_t> kvLen;   ///< [batch], cached tokens of each request, >= 0
  /// Rows of the query tensor, if known; qIndptr must end there.
  std::optional<int64_t> queryTokens;

  // A paged cache.
  int32_t pageSize = 0;     ///< tokens of a page, >= 1
  int64_t tableColumns = 0; ///< page-table entries of each request
  int64_t pages = 0;        ///< pages of the pool

  // A ragged cache.
  std::span<const int32_t> cacheIndptr; ///< [batch + 1]; its differences must equal kvLen

  int blocks = 0;    ///< blocks that run at once: multiprocessors x blocks of one, >= 1
  bool split = true; ///< may a row tile's KV tiles go to several blocks?
  /// The smallest piece worth its merge, in KV tiles; below 1 counts as 1. Where blocks would stand idle,
  /// single tiles are.
  int minTilesPerPiece = 2;
  /// Cut every request into pieces of a length that depends on its own kv_len alone, so that a row's bits do
  /// not depend on its batch mates nor on `blocks`.
  bool fixedPieces = false;
};

/// A row tile on the planner's line of KV tiles.
struct PlanUnit {
  int32_t request;
  int32_t rowBegin;
  int32_t firstTile; ///< those before lie outside the window
  int32_t tiles;
  int32_t piece; ///< with fixed pieces, their length; else 0
  int32_t lead;  ///< what the item's start costs, in tiles; 0 with fixed pieces
  int64_t start;

  /// An empty row tile still has an output to write.
  int64_t length() const { return std::max(lead + tiles, 1); }
  int64_t firstTileAt() const { return start + lead; }
  int64_t end() const { return start + length(); }
};

/// A work list and everything else a launch needs, in host memory. An empty batch has grid 0: nothing is
/// launched.
struct Plan {
  std::vector<int32_t> qIndptr;
  std::vector<int32_t> kvLen;
  std::vector<int32_t> workIndptr; ///< [grid + 1]
  std::vector<WorkItem>
      work; ///< every (row tile, KV tile) of the batch exactly once, unless written elsewhere
  std::vector<MergeItem> merges; ///< one for each row tile cut into several pieces
  int32_t pageSize = 0;

  int64_t grid = 0;         ///< blocks of the main kernel; each has at least one item
  int64_t combineGrid = 0;  ///< blocks of the combine kernel
  int combineThreads = 0;   ///< of each
  int64_t items = 0;        ///< work items
  int64_t slots = 0;        ///< partial results
  int64_t tiles = 0;        ///< KV tiles over all items
  int64_t skippedTiles = 0; ///< KV tiles before the windows of their row tiles, which no item visits

  int64_t partialOutBytes = 0; ///< exact
  int64_t partialLseBytes = 0; ///< exact

  std::vector<PlanUnit> units; ///< what the lists were made from
};

/// Splits a batch evenly. Throws Error (see the codes under "Plans"), naming the field, its value and what is
/// allowed; KernelInfo is taken to be valid, as readArtefact() leaves it.
Plan makePlan(const KernelInfo &kernel, const PlanRequest &request);
/// The same over an old plan, whose memory it takes over, with the work items written to `work` and not to
/// Plan::work: large lists cost more to allocate and to copy than to make. Items that do not fit are counted
/// and not written. After an Error the plan is to be thrown away.
void makePlan(const KernelInfo &kernel, const PlanRequest &request, Plan &into, std::span<WorkItem> work);

/// A launch of the combine for that many merges and slots: few slots a row are merged by small blocks, a row
/// each, many by large ones, each a span of a row's dimensions. `fixed`: fixed pieces, whose bits may not
/// depend on other rows.
struct CombineLaunch {
  int64_t grid;
  int threads;
};
CombineLaunch combineLaunch(const KernelInfo &kernel, int64_t merges, int64_t slots, bool fixed);

/// Cached tokens that the packed rows before `rowEnd` of a request can see: what bounds a row tile's KV
/// tiles.
int64_t visibleTokens(const KernelInfo &kernel, int64_t qLen, int64_t kvLen, int64_t rowEnd);

/// Cached tokens before the first that packed row `row` of a request can see; a window starts the row tile's
/// KV tiles there.
int64_t hiddenTokens(const KernelInfo &kernel, int64_t qLen, int64_t kvLen, int64_t row);

} // namespace mla

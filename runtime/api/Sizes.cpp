#include "runtime/api/Sizes.h"

#include "runtime/Abi.h"
#include "runtime/Plan.h"

#include <algorithm>
#include <limits>

namespace mla {

using Code = Error::Code;

static constexpr int64_t int32Max = std::numeric_limits<int32_t>::max();

static int64_t aligned(int64_t bytes) { return (bytes + 255) / 256 * 256; }

template <typename T, typename Text>
static void compare(const char *field, const std::optional<T> &wanted, const T &compiled, Text text) {
  if (wanted && *wanted != compiled)
    throw Error(Code::configMismatch, field, text(*wanted), text(compiled), "compile the kernel for it");
}

static void compareWithKernel(const KernelInfo &kernel, const Config &config) {
  auto nameOf = [](auto value) { return std::string(name(value)); };
  auto number = [](int64_t value) { return std::to_string(value); };
  auto yesNo = [](bool value) { return std::string(value ? "true" : "false"); };
  compare("the query's dtype", config.queryDType, kernel.find(Role::query)->dtype, nameOf);
  compare("the cache's dtype", config.cacheDType, kernel.cached().dtype, nameOf);
  compare("the output's dtype", config.outDType, kernel.find(Role::output)->dtype, nameOf);
  compare("heads", config.heads, int64_t{kernel.heads}, number);
  compare("the dims of query and cache", config.qkDim, int64_t{kernel.qkDim}, number);
  compare("the dims of the output", config.vDim, int64_t{kernel.vDim}, number);
  compare("the cache's layout", config.layout, kernel.cached().layout, nameOf);
  compare("causal", config.causal, kernel.causal, yesNo);
  compare("the window", config.window, kernel.window, number);
  compare("the base of the LSE", config.lse, kernel.lse, nameOf);
  bool paged = kernel.cached().layout == Layout::paged;
  if (config.checkTables && paged && kernel.check.name.empty())
    throw Error(Code::entryMissing, "the check of page tables of " + kernel.name, "not in the artefact",
                "there", "recompile the kernel with this version, or leave checkTables off");
}

static void requireCapacity(const char *field, int64_t value, int64_t least, int64_t most) {
  if (value < least)
    throw Error(least > 0 && value == 0 ? Code::capacityMissing : Code::capacityExceeded, field,
                std::to_string(value), "at least " + std::to_string(least), "give the largest batch to come");
  if (value > most)
    throw Error(Code::tooLarge, field, std::to_string(value), "at most " + std::to_string(most),
                "plan the batch in parts");
}

static void checkCapacity(const KernelInfo &kernel, const Config &config) {
  if (config.blocks < 1)
    throw Error(Code::blockCount, "blocks", std::to_string(config.blocks), "at least 1",
                "pass the device's multiprocessors x blocks of one");
  requireCapacity("capacity.requests", config.capacity.requests, 1, int32Max - 1);
  requireCapacity("capacity.queryRows", config.capacity.queryRows, 1,
                  int32Max / kernel.heads - kernel.tile.rows);
  requireCapacity("capacity.workItems", config.capacity.workItems, 0, int32Max);
}

/// The most row tiles of a batch: those of requests whose last one is as short as can be.
static int64_t mostUnits(const KernelInfo &kernel, const Capacity &capacity) {
  int64_t rows = capacity.queryRows * kernel.headsPerKv(), tile = kernel.tile.rows;
  int64_t busy = std::min(capacity.requests, capacity.queryRows);
  return std::min(rows, (rows + busy * (tile - 1)) / tile) * std::max(kernel.kvHeads, 1);
}

static void sizeLists(const KernelInfo &kernel, const Config &config, Sizes &sizes) {
  int64_t units = sizes.rowTiles = mostUnits(kernel, config.capacity);
  sizes.items = units;
  if (sizes.split && config.deterministic == Deterministic::batch) {
    sizes.items = sizes.slots = units * fixedPieces;
    sizes.merges = units;
  } else if (sizes.split) {
    // Every cut between two blocks adds a piece and at most two slots: a row tile of n pieces has n - 1 cuts.
    sizes.items = units + sizes.blocks - 1;
    sizes.slots = 2 * (sizes.blocks - 1);
    sizes.merges = std::min(units, sizes.blocks - 1);
  }
  if (config.capacity.workItems > 0) {
    sizes.items = std::min(sizes.items, config.capacity.workItems);
    sizes.slots = std::min(sizes.slots, sizes.items);
    sizes.merges = std::min(sizes.merges, sizes.items / 2);
  }
  requireCapacity("the work items of the capacity", sizes.items, 0, int32Max);
  CombineLaunch combine =
      combineLaunch(kernel, sizes.merges, sizes.slots, config.deterministic == Deterministic::batch);
  requireCapacity("the blocks of the combine launch", combine.grid, 0, int32Max);
}

static void placeLists(Sizes &sizes) {
  constexpr int64_t word = sizeof(int32_t);
  sizes.kvLen = aligned((sizes.requests + 1) * word);
  sizes.workIndptr = sizes.kvLen + aligned(sizes.requests * word);
  sizes.merge = sizes.workIndptr + aligned((sizes.blocks + 1) * word);
  sizes.work = sizes.merge + aligned(sizes.merges * int64_t{sizeof(MergeItem)});
  sizes.listBytes = sizes.work + sizes.items * int64_t{sizeof(WorkItem)};
}

static void sizeScratch(const KernelInfo &kernel, const Config &config, Sizes &sizes) {
  if (config.graph && !kernel.planner.name.empty())
    sizes.scratchBytes = plannerScratchBytes(sizes.requests, sizes.rowTiles, sizes.blocks);
  if (config.checkTables)
    sizes.scratchBytes = std::max(sizes.scratchBytes, sizes.requests * 2 * int64_t{sizeof(int32_t)});
}

static void placePartials(const KernelInfo &kernel, Sizes &sizes) {
  int64_t lseBytes = sizes.slots * kernel.tile.rows * int64_t{sizeof(float)};
  sizes.partialOutBytes = lseBytes * kernel.vDim;
  sizes.partialLseOffset = aligned(sizes.partialOutBytes);
  sizes.workspaceBytes = sizes.slots ? sizes.partialLseOffset + lseBytes : 0;
}

Sizes sizesOf(const KernelInfo &kernel, const Config &config) {
  compareWithKernel(kernel, config);
  checkCapacity(kernel, config);
  Sizes sizes;
  sizes.requests = config.capacity.requests;
  sizes.queryRows = config.capacity.queryRows;
  sizes.blocks = config.blocks;
  bool fixed = config.deterministic == Deterministic::batch;
  sizes.split = config.split && !kernel.combine.name.empty() && (config.blocks > 1 || fixed);
  sizeLists(kernel, config, sizes);
  placeLists(sizes);
  placePartials(kernel, sizes);
  sizeScratch(kernel, config, sizes);
  return sizes;
}

} // namespace mla

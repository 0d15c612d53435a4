// The work split. All row tiles of the batch, each as long as its KV tiles and what an item's start costs,
// are laid end to end; the line is cut into equal lengths, one a block. Cuts that would leave a crumb are
// moved to the nearest row-tile boundary, and all of them are where blocks are then hardly less even: a row
// tile that is whole needs no merge.
#include "runtime/Plan.h"

#include "runtime/PlanCheck.h"
#include "runtime/PrefillPlan.h"

#include <algorithm>
#include <limits>

namespace mla {

int64_t visibleTokens(const KernelInfo &kernel, int64_t qLen, int64_t kvLen, int64_t rowEnd) {
  if (!kernel.causal)
    return kvLen;
  int64_t lastToken = (rowEnd - 1) / kernel.headsPerKv();
  return std::clamp<int64_t>(lastToken + 1 + kvLen - qLen, 0, kvLen);
}

int64_t hiddenTokens(const KernelInfo &kernel, int64_t qLen, int64_t kvLen, int64_t row) {
  if (kernel.window < 0)
    return 0;
  return std::clamp<int64_t>(row / kernel.headsPerKv() + kvLen - qLen - kernel.window, 0, kvLen);
}

namespace {

constexpr int64_t int32Max = std::numeric_limits<int32_t>::max();

using Unit = PlanUnit;

void requireInt32(const char *what, int64_t count) {
  if (count > int32Max)
    throw Error(Error::Code::tooLarge, what, std::to_string(count), "at most " + std::to_string(int32Max),
                "plan the batch in parts");
}

/// The most tokens that a row tile's window covers, rounded up to where its tiles start.
int64_t windowTokens(const KernelInfo &kernel, int64_t kvLen) {
  if (kernel.window < 0)
    return kvLen;
  int64_t queries = (kernel.tile.rows + kernel.heads - 1) / kernel.heads + 1;
  return std::min(kvLen, kernel.window + queries + kernel.tile.tokens);
}

/// KV tiles of that many tokens. In 32 bits, which divide several times faster; lengths leave room for a
/// tile.
uint32_t tilesOf(const KernelInfo &kernel, int64_t tokens) {
  auto tile = static_cast<uint32_t>(kernel.tile.tokens);
  return (static_cast<uint32_t>(tokens) + tile - 1) / tile;
}

/// The length of a fixed piece: never below four tiles, or a merge costs more than the piece saves.
uint32_t fixedPiece(const KernelInfo &kernel, int64_t kvLen) {
  // Not causal, the window is open to the right.
  int64_t tokens = kernel.causal ? windowTokens(kernel, kvLen) : kvLen;
  return std::max<uint32_t>(leastFixedPiece, (tilesOf(kernel, tokens) + fixedPieces - 1) / fixedPieces);
}

/// What the start of a work item costs, in KV tiles.
int32_t startTiles(const KernelInfo &kernel) {
  return static_cast<int32_t>((itemStartTokens + kernel.tile.tokens - 1) / kernel.tile.tokens);
}

void appendRequest(const KernelInfo &kernel, int32_t request, int64_t qLen, int64_t kvLen, bool fixed,
                   std::vector<Unit> &units) {
  int64_t rows = qLen * kernel.heads;
  auto piece = static_cast<int32_t>(fixed ? fixedPiece(kernel, kvLen) : 0);
  int32_t lead = fixed ? 0 : startTiles(kernel);
  for (int64_t rowBegin = 0; rowBegin < rows; rowBegin += kernel.tile.rows) {
    int64_t rowEnd = std::min(rowBegin + kernel.tile.rows, rows);
    int64_t tokens = visibleTokens(kernel, qLen, kvLen, rowEnd);
    int64_t end = tilesOf(kernel, tokens);
    int64_t first =
        kernel.window < 0
            ? 0
            : std::min<int64_t>(hiddenTokens(kernel, qLen, kvLen, rowBegin) / kernel.tile.tokens, end);
    int64_t start = units.empty() ? 0 : units.back().end();
    units.push_back({request, static_cast<int32_t>(rowBegin), static_cast<int32_t>(first),
                     static_cast<int32_t>(end - first), piece, lead, start});
  }
}

bool splits(const KernelInfo &kernel, const PlanRequest &request) {
  return request.split && !kernel.combine.name.empty();
}

void listUnits(const KernelInfo &kernel, const PlanRequest &request, std::vector<Unit> &units) {
  bool fixed = request.fixedPieces && splits(kernel, request);
  for (size_t r = 0; r < request.kvLen.size(); ++r)
    appendRequest(kernel, static_cast<int32_t>(r), request.qIndptr[r + 1] - request.qIndptr[r],
                  request.kvLen[r], fixed, units);
}

/// Chooses where the line is cut.
class Cutter {
public:
  /// `leastPiece`: the shortest piece worth a merge; units of less than two of them stay whole. 0: all do.
  Cutter(const std::vector<Unit> &units, int64_t leastPiece, const KernelInfo &kernel)
      : units(units), leastPiece(leastPiece), mergeTiles(tilesOf(kernel, mergeTokens(kernel.tile.rows))) {}

  /// Ascending cuts from 0 to the line's end: one more than blocks. Every block has work.
  std::vector<int64_t> cuts(int64_t blocks) {
    count = std::min(blocks, sensiblePieces());
    if (count < blocks && leastPiece > 1 && !fixed()) {
      leastPiece = 1; // blocks stand idle, which costs more than merges do
      count = std::min(blocks, sensiblePieces());
    }
    bool whole = leastPiece == 0 || (!fixed() && wholeIsEven());
    std::vector<int64_t> result{0};
    for (int64_t block = 1; block <= count; ++block) {
      int64_t cut = block == count ? length() : whole ? nearestBoundary(even(block)) : moved(even(block));
      if (cut > result.back())
        result.push_back(cut);
    }
    return result;
  }

private:
  bool fixed() const { return units.front().piece > 0; }
  int64_t length() const { return units.back().end(); }
  /// Where block `block` begins if all are equal. What follows a cut starts, too, so that the first start of all is no one's
  /// more than another's. The quotient first: length * block could leave 64 bits.
  int64_t even(int64_t block) const {
    int64_t lead = units.front().lead, rest = length() - lead;
    return lead + rest / count * block + rest % count * block / count;
  }

  int64_t sensiblePieces() const {
    if (leastPiece == 0)
      return static_cast<int64_t>(units.size());
    auto least = static_cast<uint32_t>(leastPiece);
    int64_t pieces = 0;
    for (const Unit &unit : units)
      pieces += std::max<uint32_t>(1, static_cast<uint32_t>(unit.tiles) / least);
    return pieces;
  }

  /// Do blocks of whole units take at most as much more than even ones as a merge costs?
  bool wholeIsEven() const {
    int64_t most = (length() + count - 1) / count + mergeTiles, before = 0;
    for (int64_t block = 1; block <= count; ++block) {
      int64_t cut = nearestBoundary(even(block));
      if (cut - before > most)
        return false;
      before = cut;
    }
    return true;
  }

  const Unit &unitAt(int64_t position) const {
    auto after = std::upper_bound(units.begin(), units.end(), position,
                                  [](int64_t value, const Unit &unit) { return value < unit.start; });
    return *std::prev(after);
  }

  int64_t nearestBoundary(int64_t position) const {
    const Unit &unit = unitAt(position);
    return position - unit.start <= unit.end() - position ? unit.start : unit.end();
  }

  /// The cut near `position` that leaves no piece below the least, or that ends a fixed piece. Monotone in
  /// `position`.
  int64_t moved(int64_t position) const {
    const Unit &unit = unitAt(position);
    if (unit.piece > 0) {
      int64_t before = position - unit.start;
      return std::min(unit.start + (before + unit.piece / 2) / unit.piece * unit.piece, unit.end());
    }
    if (position - unit.firstTileAt() >= leastPiece && unit.end() - position >= leastPiece)
      return position;
    return nearestBoundary(position);
  }

  const std::vector<Unit> &units;
  int64_t leastPiece, mergeTiles, count = 0;
};

/// Turns units and cuts into work items, partial slots and merges.
class ListWriter {
public:
  ListWriter(Plan &plan, std::span<WorkItem> work, int64_t heads)
      : plan(plan), work(work), heads(static_cast<int32_t>(heads)), unit(plan.units.data()) {}

  void writeBlock(int64_t begin, int64_t end) {
    plan.workIndptr.push_back(static_cast<int32_t>(plan.items));
    while (begin < end) {
      int64_t unitEnd = unit->end(), reach = std::min(end, unitEnd);
      begin = writePieces(begin, reach);
      if (reach == unitEnd)
        ++unit;
    }
  }

private:
  /// The pieces of the unit within [begin, end): one, or as many fixed ones. Cuts are at the ends of fixed
  /// pieces.
  int64_t writePieces(int64_t begin, int64_t end) {
    int64_t step = unit->piece ? unit->piece : end - begin;
    if (begin == unit->start && end == unit->end() && end - begin <= step) {
      writeItem(begin, end, -1);
      return end;
    }
    // Pieces of one unit come in order, so its slots are neighbours.
    auto slot = static_cast<int32_t>(plan.slots);
    if (begin == unit->start)
      plan.merges.push_back({unit->request, unit->rowBegin, slot, slot});
    for (; begin < end; begin += step)
      writeItem(begin, std::min(begin + step, end), slot++);
    plan.slots = plan.merges.back().slot_end = slot;
    return end;
  }

  void writeItem(int64_t begin, int64_t end, int32_t slot) {
    auto tileAt = [&](int64_t position) {
      return static_cast<int32_t>(unit->firstTile +
                                  std::clamp<int64_t>(position - unit->firstTileAt(), 0, unit->tiles));
    };
    int32_t tileBegin = tileAt(begin), tileEnd = tileAt(end);
    auto item = static_cast<size_t>(plan.items++);
    int32_t queryBegin = plan.qIndptr[unit->request],
            rows = (plan.qIndptr[unit->request + 1] - queryBegin) * heads;
    if (item < work.size())
      work[item] = {unit->request,
                    unit->rowBegin,
                    tileBegin,
                    tileEnd,
                    slot,
                    queryBegin,
                    rows,
                    plan.kvLen[unit->request],
                    0,
                    0,
                    {}};
    plan.tiles += tileEnd - tileBegin;
  }

  Plan &plan;
  std::span<WorkItem> work;
  int32_t heads;
  const Unit *unit;
};

/// Where the line is cut; keeps to what 32 bits can count.
std::vector<int64_t> cutLine(const KernelInfo &kernel, const PlanRequest &request,
                             const std::vector<Unit> &units) {
  if (units.empty())
    return {0};
  int64_t leastPiece = splits(kernel, request) ? std::max(request.minTilesPerPiece, 1) : 0;
  return Cutter(units, leastPiece, kernel).cuts(request.blocks);
}

int64_t mostItems(const std::vector<Unit> &units, const std::vector<int64_t> &cuts) {
  int64_t pieces = !units.empty() && units.front().piece > 0 ? fixedPieces : 1;
  return static_cast<int64_t>(units.size()) * pieces + static_cast<int64_t>(cuts.size());
}

void writeDecodeLists(const KernelInfo &kernel, const PlanRequest &request, Plan &plan,
                      std::optional<std::span<WorkItem>> work) {
  listUnits(kernel, request, plan.units);
  std::vector<int64_t> cuts = cutLine(kernel, request, plan.units);
  requireInt32("the number of work items", mostItems(plan.units, cuts));
  if (!work)
    plan.work.resize(static_cast<size_t>(mostItems(plan.units, cuts)));
  ListWriter writer(plan, work.value_or(plan.work), kernel.heads);
  for (size_t i = 0; i + 1 < cuts.size(); ++i)
    writer.writeBlock(cuts[i], cuts[i + 1]);
  plan.grid = static_cast<int64_t>(cuts.size()) - 1;
  for (const Unit &unit : plan.units)
    plan.skippedTiles += unit.firstTile;
}

void computeSizes(const KernelInfo &kernel, Plan &plan) {
  int64_t rows = kernel.tile.rows;
  bool fixed = !plan.units.empty() && plan.units.front().piece > 0;
  CombineLaunch combine = combineLaunch(kernel, static_cast<int64_t>(plan.merges.size()), plan.slots, fixed);
  plan.combineGrid = combine.grid;
  plan.combineThreads = combine.threads;
  requireInt32("the blocks of the combine launch", plan.combineGrid);
  plan.partialLseBytes = plan.slots * rows * static_cast<int64_t>(sizeof(float));
  plan.partialOutBytes = plan.partialLseBytes * kernel.vDim;
}

} // namespace

CombineLaunch combineLaunch(const KernelInfo &kernel, int64_t merges, int64_t slots, bool fixed) {
  int64_t rows = merges * kernel.tile.rows;
  if (fixed || slots <= combineSmallSlots * merges)
    return {rows, combineSmallThreads};
  return {rows * ((kernel.vDim + combineSpan - 1) / combineSpan), kernel.combine.threads};
}

/// An empty plan with the memory of an old one.
static void clear(Plan &plan) {
  Plan old = std::move(plan);
  plan = {};
  auto reuse = [](auto &from, auto &to) {
    from.clear();
    to.swap(from);
  };
  reuse(old.workIndptr, plan.workIndptr);
  reuse(old.merges, plan.merges);
  reuse(old.units, plan.units);
  reuse(old.qIndptr, plan.qIndptr);
  reuse(old.kvLen, plan.kvLen);
}

static void makePlan(const KernelInfo &kernel, const PlanRequest &request, Plan &plan,
                     std::optional<std::span<WorkItem>> work) {
  checkPlanRequest(kernel, request);
  clear(plan);
  plan.qIndptr.assign(request.qIndptr.begin(), request.qIndptr.end());
  plan.kvLen.assign(request.kvLen.begin(), request.kvLen.end());
  plan.pageSize = request.pageSize;
  if (kernel.isPrefill())
    writePrefillLists(kernel, request, plan, work);
  else
    writeDecodeLists(kernel, request, plan, work);
  plan.workIndptr.push_back(static_cast<int32_t>(plan.items));
  if (!work)
    plan.work.resize(static_cast<size_t>(plan.items));
  computeSizes(kernel, plan);
}

void makePlan(const KernelInfo &kernel, const PlanRequest &request, Plan &into, std::span<WorkItem> work) {
  makePlan(kernel, request, into, std::optional(work));
}

Plan makePlan(const KernelInfo &kernel, const PlanRequest &request) {
  Plan plan;
  makePlan(kernel, request, plan, std::nullopt);
  return plan;
}

} // namespace mla

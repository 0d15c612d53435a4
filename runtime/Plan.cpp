// The work split. All row tiles of the batch, each as long as its KV tiles, are laid end to end; the line is
// cut into equal lengths, one a block, and cuts that would leave a crumb are moved to the nearest row-tile
// boundary.
#include "runtime/Plan.h"

#include "runtime/PlanCheck.h"

#include <algorithm>
#include <limits>

namespace mla {

int64_t visibleTokens(const KernelInfo &kernel, int64_t qLen, int64_t kvLen, int64_t rowEnd) {
  if (!kernel.causal)
    return kvLen;
  int64_t lastToken = (rowEnd - 1) / kernel.heads;
  return std::clamp<int64_t>(lastToken + 1 + kvLen - qLen, 0, kvLen);
}

int64_t hiddenTokens(const KernelInfo &kernel, int64_t qLen, int64_t kvLen, int64_t row) {
  if (kernel.window < 0)
    return 0;
  return std::clamp<int64_t>(row / kernel.heads + kvLen - qLen - kernel.window, 0, kvLen);
}

namespace {

constexpr int64_t int32Max = std::numeric_limits<int32_t>::max();

/// A row tile with its place on the line.
struct Unit {
  int32_t request;
  int32_t rowBegin;
  int32_t firstTile; ///< those before lie outside the window
  int32_t tiles;
  int32_t piece; ///< with fixed pieces, their length; else 0
  int64_t start;

  /// An empty row tile still has an output to write.
  int64_t length() const { return std::max(tiles, 1); }
  int64_t end() const { return start + length(); }
};

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

/// The length of a fixed piece: never below four tiles, or a merge costs more than the piece saves.
int64_t fixedPiece(const KernelInfo &kernel, int64_t kvLen) {
  // Not causal, the window is open to the right.
  int64_t tokens = kernel.causal ? windowTokens(kernel, kvLen) : kvLen;
  int64_t tiles = (tokens + kernel.tile.tokens - 1) / kernel.tile.tokens;
  return std::max<int64_t>(4, (tiles + fixedPieces - 1) / fixedPieces);
}

void appendRequest(const KernelInfo &kernel, int32_t request, int64_t qLen, int64_t kvLen, bool fixed,
                   std::vector<Unit> &units) {
  int64_t rows = qLen * kernel.heads;
  auto piece = static_cast<int32_t>(fixed ? fixedPiece(kernel, kvLen) : 0);
  for (int64_t rowBegin = 0; rowBegin < rows; rowBegin += kernel.tile.rows) {
    int64_t rowEnd = std::min(rowBegin + kernel.tile.rows, rows);
    int64_t tokens = visibleTokens(kernel, qLen, kvLen, rowEnd);
    int64_t end = (tokens + kernel.tile.tokens - 1) / kernel.tile.tokens;
    int64_t first = std::min(hiddenTokens(kernel, qLen, kvLen, rowBegin) / kernel.tile.tokens, end);
    int64_t start = units.empty() ? 0 : units.back().end();
    units.push_back({request, static_cast<int32_t>(rowBegin), static_cast<int32_t>(first),
                     static_cast<int32_t>(end - first), piece, start});
  }
}

bool splits(const KernelInfo &kernel, const PlanRequest &request) {
  return request.split && !kernel.combine.name.empty();
}

std::vector<Unit> listUnits(const KernelInfo &kernel, const PlanRequest &request) {
  std::vector<Unit> units;
  bool fixed = request.fixedPieces && splits(kernel, request);
  for (size_t r = 0; r < request.kvLen.size(); ++r)
    appendRequest(kernel, static_cast<int32_t>(r), request.qIndptr[r + 1] - request.qIndptr[r],
                  request.kvLen[r], fixed, units);
  return units;
}

/// Chooses where the line is cut.
class Cutter {
public:
  /// `leastPiece`: the shortest piece worth a merge; units shorter than two of them stay whole.
  Cutter(const std::vector<Unit> &units, int64_t leastPiece) : units(units), leastPiece(leastPiece) {}

  /// Ascending cuts from 0 to the line's end: one more than blocks. Every block has work.
  std::vector<int64_t> cuts(int64_t blocks) const {
    int64_t length = units.back().end();
    int64_t count = std::min(blocks, sensiblePieces());
    std::vector<int64_t> result{0};
    for (int64_t block = 1; block <= count; ++block) {
      // The quotient first: length * block could leave 64 bits.
      int64_t even = length / count * block + length % count * block / count;
      int64_t cut = block == count ? length : moved(even);
      if (cut > result.back())
        result.push_back(cut);
    }
    return result;
  }

private:
  int64_t sensiblePieces() const {
    int64_t pieces = 0;
    for (const Unit &unit : units)
      pieces += std::max<int64_t>(1, unit.length() / leastPiece);
    return pieces;
  }

  /// The cut near `position` that leaves no piece below the least, or that ends a fixed piece. Monotone in
  /// `position`.
  int64_t moved(int64_t position) const {
    auto after = std::upper_bound(units.begin(), units.end(), position,
                                  [](int64_t value, const Unit &unit) { return value < unit.start; });
    const Unit &unit = *std::prev(after);
    int64_t before = position - unit.start;
    if (unit.piece > 0)
      return std::min(unit.start + (before + unit.piece / 2) / unit.piece * unit.piece, unit.end());
    int64_t behind = unit.end() - position;
    if (before >= leastPiece && behind >= leastPiece)
      return position;
    return before <= behind ? unit.start : unit.end();
  }

  const std::vector<Unit> &units;
  int64_t leastPiece;
};

/// Turns units and cuts into work items, partial slots and merges.
class ListWriter {
public:
  ListWriter(Plan &plan, const std::vector<Unit> &units) : plan(plan), units(units) {}

  void writeBlock(int64_t begin, int64_t end) {
    plan.workIndptr.push_back(static_cast<int32_t>(plan.work.size()));
    while (begin < end) {
      const Unit &unit = units[current];
      int64_t pieceEnd = std::min(end, endOfPiece(unit, begin));
      writePiece(unit, begin, pieceEnd);
      begin = pieceEnd;
      if (pieceEnd == unit.end())
        ++current;
    }
  }

private:
  static int64_t endOfPiece(const Unit &unit, int64_t position) {
    if (unit.piece == 0)
      return unit.end();
    return std::min(position + unit.piece - (position - unit.start) % unit.piece, unit.end());
  }

  void writePiece(const Unit &unit, int64_t begin, int64_t end) {
    auto tileBegin = static_cast<int32_t>(unit.firstTile + begin - unit.start);
    auto tileEnd = static_cast<int32_t>(unit.firstTile + std::min<int64_t>(end - unit.start, unit.tiles));
    bool whole = begin == unit.start && end == unit.end();
    int32_t slot = whole ? -1 : takeSlot(unit, begin == unit.start);
    plan.work.push_back({unit.request, unit.rowBegin, tileBegin, tileEnd, slot, {0, 0, 0}});
    plan.tiles += tileEnd - tileBegin;
  }

  /// Pieces of one unit come in order, so its slots are neighbours.
  int32_t takeSlot(const Unit &unit, bool first) {
    auto slot = static_cast<int32_t>(plan.slots++);
    if (first)
      plan.merges.push_back({unit.request, unit.rowBegin, slot, slot});
    plan.merges.back().slot_end = slot + 1;
    return slot;
  }

  Plan &plan;
  const std::vector<Unit> &units;
  size_t current = 0;
};

void writeLists(const KernelInfo &kernel, const PlanRequest &request, const std::vector<Unit> &units,
                Plan &plan) {
  int64_t leastPiece = splits(kernel, request) ? std::max(request.minTilesPerPiece, 1) : units.back().end();
  std::vector<int64_t> cuts = Cutter(units, leastPiece).cuts(request.blocks);
  int64_t pieces = units.front().piece > 0 ? fixedPieces : 1;
  requireInt32("the number of work items",
               static_cast<int64_t>(units.size()) * pieces + static_cast<int64_t>(cuts.size()));
  ListWriter writer(plan, units);
  for (size_t i = 0; i + 1 < cuts.size(); ++i)
    writer.writeBlock(cuts[i], cuts[i + 1]);
  plan.grid = static_cast<int64_t>(cuts.size()) - 1;
}

void computeSizes(const KernelInfo &kernel, Plan &plan) {
  int64_t rows = kernel.tile.rows;
  plan.combineGrid = static_cast<int64_t>(plan.merges.size()) * rows;
  requireInt32("the blocks of the combine launch", plan.combineGrid);
  plan.partialLseBytes = plan.slots * rows * static_cast<int64_t>(sizeof(float));
  plan.partialOutBytes = plan.partialLseBytes * kernel.vDim;
}

} // namespace

Plan makePlan(const KernelInfo &kernel, const PlanRequest &request) {
  checkPlanRequest(kernel, request);
  Plan plan;
  plan.qIndptr.assign(request.qIndptr.begin(), request.qIndptr.end());
  plan.kvLen.assign(request.kvLen.begin(), request.kvLen.end());
  plan.pageSize = request.pageSize;
  std::vector<Unit> units = listUnits(kernel, request);
  if (!units.empty())
    writeLists(kernel, request, units, plan);
  for (const Unit &unit : units)
    plan.skippedTiles += unit.firstTile;
  plan.workIndptr.push_back(static_cast<int32_t>(plan.work.size()));
  computeSizes(kernel, plan);
  return plan;
}

} // namespace mla

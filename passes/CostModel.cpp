// Cycles and registers of a schedule.
#include "passes/CostModel.h"

#include <algorithm>

using namespace mlir;

namespace mlac {

Element elementOf(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return Element::E4M3;
  if (isa<Float8E5M2Type>(type))
    return Element::E5M2;
  if (type.isBF16())
    return Element::BF16;
  return type.isF16() ? Element::F16 : Element::F32;
}

double TileCost::cycles() const { return std::max(memory, std::max({matrix, convert, shared}) + overhead); }

StringRef TileCost::bound() const {
  double compute = std::max({matrix, convert, shared});
  if (memory >= compute + overhead)
    return "memory";
  if (overhead >= compute)
    return "barriers";
  return compute == matrix ? "matrix units" : compute == convert ? "conversions" : "shared memory";
}

namespace {
// Measured on an H200 (bench/RESULTS.md): conversion instructions a clock, latency of a DRAM read, and the cycles from
// one barrier of a tile to the next that no unit accounts for.
constexpr double kConversionsPerClock = 1.74;
constexpr double kReadLatencySeconds = 0.9e-6;
constexpr double kBarrierCycles = 700;
} // namespace

/// DRAM time of a tile, or the share of a read's latency that the copies under way leave open.
static double memoryCycles(const KernelShape &shape, tile::ScheduleAttr schedule, const Profile &profile) {
  double bytes = double(schedule.getBlockTokens() * shape.cache.getTokenBytes());
  double transfer = bytes / (profile.bandwidth / double(profile.multiprocessors) / profile.clock);
  double latency = kReadLatencySeconds * profile.clock / double(schedule.getStages() - 1);
  return std::max(transfer, latency);
}

TileCost costOfTile(const KernelShape &shape, tile::ScheduleAttr schedule, const Profile &profile) {
  double tokens = double(schedule.getBlockTokens()), rows = double(schedule.getRows());
  double columns = double(shape.rowWidth() * schedule.getRowWarps() + shape.valueWidth);
  double storedBytes = shape.cache.getElementType().getIntOrFloatBitWidth() / 8.0;
  const ConversionRow *conversion = findConversion(elementOf(shape.cache.getElementType()), elementOf(shape.compute));
  double perPair = conversion ? conversion->instructionsPerPair : 0;
  TileCost cost{};
  cost.memory = memoryCycles(shape, schedule, profile);
  double flops = 2 * tokens * rows * double(shape.rowWidth() + shape.valueWidth);
  cost.matrix = flops / (profile.mmaFlops / double(profile.multiprocessors) / profile.clock);
  cost.convert = tokens * columns / 2 / 32 * perPair / kConversionsPerClock;
  // The query is read once for every 16 tokens that a warp scores, a cached byte once for every row warp and once as value.
  double queryBytes = tokens / double(schedule.getTokensPerWarp()) * rows * double(shape.rowWidth()) * 2;
  double keyBytes = tokens * double(shape.cache.getTokenBytes()) * double(schedule.getRowWarps());
  double valueBytes = tokens * double(shape.valueWidth) * storedBytes;
  double probBytes = tokens * rows * 2 * double(1 + schedule.getWarpsPerGroup());
  cost.shared = (tokens * double(shape.cache.getTokenBytes()) + queryBytes + keyBytes + valueBytes + probBytes) / 128;
  cost.overhead = kBarrierCycles;
  return cost;
}

int64_t estimateRegisters(const KernelShape &shape, tile::ScheduleAttr schedule) {
  int64_t rowTiles = schedule.getRows() / 8;
  int64_t accumulator = schedule.getValueDimsPerWarp(shape.valueWidth) / 16 * rowTiles * 4;
  int64_t scores = schedule.getTokensPerWarp() / 16 * (schedule.getRowsPerWarp() / 8) * 4;
  int64_t stats = rowTiles * 2 * 3, addresses = schedule.getCopyRows() * 5;
  constexpr int64_t rest = 56; // operands under way, addresses, loop state
  return accumulator + scores + stats + addresses + rest;
}

} // namespace mlac

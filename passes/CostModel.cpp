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
  double bytes = double(schedule.getTokens() * shape.cache.getTokenBytes());
  double transfer = bytes / (profile.bandwidth / double(profile.multiprocessors) / profile.clock);
  double latency = kReadLatencySeconds * profile.clock / double(schedule.getStages() - 1);
  return std::max(transfer, latency);
}

TileCost costOfTile(const KernelShape &shape, tile::ScheduleAttr schedule, const Profile &profile) {
  double tokens = double(schedule.getTokens()), rows = double(schedule.getRows());
  double columns = double(shape.rowWidth() + shape.valueWidth);
  double storedBytes = shape.cache.getElementType().getIntOrFloatBitWidth() / 8.0;
  const ConversionRow *conversion = findConversion(elementOf(shape.cache.getElementType()), elementOf(shape.compute));
  double perPair = conversion ? conversion->instructionsPerPair : 0;
  TileCost cost{};
  cost.memory = memoryCycles(shape, schedule, profile);
  double flops = 2 * tokens * rows * columns;
  cost.matrix = flops / (profile.mmaFlops / double(profile.multiprocessors) / profile.clock);
  cost.convert = tokens * columns / 2 / 32 * perPair / kConversionsPerClock;
  double exchange = tokens * rows * (8.0 * double(schedule.getDimWarps()) + 2 + 2.0 * double(schedule.getWarps()));
  cost.shared = (tokens * columns * storedBytes + tokens * double(shape.cache.getTokenBytes()) + exchange) / 128;
  cost.overhead = kBarrierCycles;
  return cost;
}

int64_t estimateRegisters(const KernelShape &shape, tile::ScheduleAttr schedule) {
  int64_t rowTiles = schedule.getRows() / 8;
  int64_t query = schedule.getStepsPerWarp(shape.rowWidth()) * rowTiles * 2;
  int64_t accumulator = schedule.getValueDimsPerWarp(shape.valueWidth) / 16 * rowTiles * 4;
  int64_t scores = schedule.getTokensPerWarp() / 16 * rowTiles * 4;
  constexpr int64_t addressing = 56;
  return query + accumulator + scores + addressing;
}

} // namespace mlac

// Cycles and registers of a schedule.
#include "passes/CostModel.h"

#include "codegen/FragmentLayout.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace mlac {

Element elementOf(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return Element::E4M3;
  if (isa<Float8E5M2Type>(type))
    return Element::E5M2;
  if (type.isInteger(8))
    return Element::Int8;
  if (type.isBF16())
    return Element::BF16;
  return type.isF16() ? Element::F16 : Element::F32;
}

double TileCost::cycles() const {
  double largest = std::max({memory, matrix, convert, shared, issue}), sum = 0;
  if (sharpness == 0)
    return largest;
  for (double part : {memory, matrix, shared, issue})
    sum += std::pow(part / largest, sharpness);
  return largest * std::pow(sum, 1 / sharpness);
}

StringRef TileCost::bound() const {
  double most = std::max({memory, matrix, convert, shared, issue});
  if (most == memory)
    return "memory";
  if (most == issue)
    return "instruction latency";
  return most == matrix ? "matrix units" : most == convert ? "conversions" : "shared memory";
}

namespace {
// Fitted to 120 schedules on an H200 (docs/kernels.md). What instructions weigh, in issue slots: what they wait for is
// in it.
constexpr double kConversion = 0.8, kFragment = 0.5, kCopy = 3.5, kScore = 10, kRow = 10, kStep = 50;
// Instructions a clock of one warp, and of all of an SM.
constexpr double kOneWarp = 0.287, kAllWarps = 1.35;
// Shares of the rates that shared memory and DRAM reach, and the latency of a read.
constexpr double kSharedShare = 0.75, kMemoryShare = 0.93, kReadLatencySeconds = 0.9e-6;
constexpr double kConversionsPerClock = 1.74;
// How sharply the largest of several costs decides.
constexpr double kSharpness = 6.2;
} // namespace

/// DRAM time of a tile, or the share of a read's latency that the copies under way leave open.
static double memoryCycles(const KernelShape &shape, tile::ScheduleAttr schedule, double blocks, const Profile &profile) {
  double bytes = double(schedule.getBlockTokens() * (shape.cache.getTokenBytes() + shape.cache.getScaleRowBytes()));
  double transfer = bytes / (kMemoryShare * profile.bandwidth / double(profile.multiprocessors) / profile.clock);
  double latency = kReadLatencySeconds * profile.clock / (double(schedule.getStages() - 1) * blocks);
  return std::max(transfer, latency);
}

namespace {

/// Counts for one of the plan's KV tiles, over all warps of a block.
struct TileWork {
  double valuePairs;                      // warp-wide loads of two elements a lane
  double conversions;                     // instructions
  double products;                        // matrix instructions
  double keyBytes, queryBytes, valueBytes, probBytes, copyBytes; // through shared memory
  double softmax;                         // instructions

  TileWork(const KernelShape &shape, tile::ScheduleAttr schedule) {
    double tokens = double(schedule.getBlockTokens()), rows = double(schedule.getRows());
    double width = double(shape.rowWidth()), valueWidth = double(shape.valueWidth);
    double rowWarps = double(schedule.getRowWarps()), warps = double(schedule.getWarps());
    mla::StoredPart valuePart = shape.valuePart();
    double copies = double(shape.valueGroups());
    valuePairs = tokens * valueWidth / 64;
    conversions = valuePairs * perPair(valuePart.element, shape.compute);
    double groups = 0; // of a token that have a scale
    for (const mla::StoredPart &part : mla::partsOf(shape.cache.getElementType(), shape.rowWidth())) {
      conversions += tokens * double(part.width) * rowWarps / 64 * perPair(part.element, shape.compute);
      groups += part.isScaled() ? double(part.getGroups()) : 0;
    }
    products = tokens / 16 * rows / 8 * (width + valueWidth) / 16;
    copyBytes = tokens * double(shape.cache.getTokenBytes() + shape.cache.getScaleRowBytes());
    keyBytes = copyBytes * rowWarps;
    valueBytes = tokens * double(mla::bytesOf(valuePart.element, shape.valueWidth));
    // A warp reads its rows of the query once for all tokens that it scores.
    queryBytes = tokens / double(schedule.getTokensPerWarp()) * rows * width * 2;
    probBytes = tokens * rows * 2 * (copies + std::max(copies, double(schedule.getWarpsPerGroup())));
    double scores = double(schedule.getTokensPerWarp() * schedule.getRowsPerWarp()) / 32;
    double rowsPerWarp = double(schedule.getRowsPerWarp());
    softmax = warps * ((kScore + double(shape.editInstructions)) * scores + kRow * rowsPerWarp + kStep);
    if (groups > 0) // a product with each scale, for the scores and, rounded and stored, for the values
      softmax += warps * scores * (groups + 2 * copies);
  }

  static double perPair(Type storage, Type compute) {
    const ConversionRow *row = findConversion(elementOf(storage), elementOf(compute));
    return row ? row->instructionsPerPair : 0;
  }

  double sharedBytes() const { return keyBytes + queryBytes + valueBytes + probBytes + copyBytes; }
};

} // namespace

int64_t residentBlocks(const KernelShape &shape, tile::ScheduleAttr schedule, const Profile &profile) {
  int64_t registers = std::min(estimateRegisters(shape, schedule), profile.registersPerThread);
  int64_t blocks = blocksPerSM(profile, schedule.getThreads(), registers, layoutShared(shape, schedule).bytes);
  return std::max<int64_t>(blocks, 1);
}

/// Cycles of an SM for a tile of one of its blocks. A warp's instructions wait for one another; the warps of all blocks fill
/// each other's waits, up to what an SM issues.
static double issueCycles(double instructions, double warps, double blocks) {
  double alone = instructions / warps / kOneWarp, together = instructions * blocks / kAllWarps;
  return std::pow(std::pow(alone, kSharpness) + std::pow(together, kSharpness), 1 / kSharpness) / blocks;
}

TileCost costOfTile(const KernelShape &shape, tile::ScheduleAttr schedule, const Profile &profile) {
  TileWork work(shape, schedule);
  double blocks = double(residentBlocks(shape, schedule, profile));
  TileCost cost{};
  cost.sharpness = kSharpness;
  cost.memory = memoryCycles(shape, schedule, blocks, profile);
  cost.matrix = 4096 * work.products / (profile.mmaFlops / double(profile.multiprocessors) / profile.clock);
  cost.convert = work.conversions / kConversionsPerClock;
  cost.shared = work.sharedBytes() / 128 / kSharedShare;
  double fragments = (work.sharedBytes() - work.copyBytes) / 512, copies = work.copyBytes / 512;
  double instructions = kConversion * work.conversions + work.products + kFragment * fragments + kCopy * copies + work.softmax;
  cost.issue = issueCycles(instructions, double(schedule.getWarps()), blocks);
  return cost;
}

int64_t estimateRegisters(const KernelShape &shape, tile::ScheduleAttr schedule) {
  int64_t rowTiles = schedule.getRows() / 8;
  int64_t accumulator = schedule.getValueDimsPerWarp(shape.valueWidth) / 16 * rowTiles * 4;
  int64_t scores = schedule.getTokensPerWarp() / 16 * (schedule.getRowsPerWarp() / 8) * 4;
  int64_t stats = rowTiles * 2 * 3, stream = std::max<int64_t>(12, (schedule.getRowsPerCopyWarp() + 7) / 8 * 5);
  // Operands under way, loop state: what ptxas 13.0 was seen to need beyond the above, so that no schedule of more than one
  // warp spills.
  mla::StoredPart value = shape.valuePart();
  bool bytes = value.element.getIntOrFloatBitWidth() == 8;
  int64_t rest = !bytes ? 96 : shape.compute.isBF16() ? 96 + schedule.getRows() / 2 : 56;
  // The sums of a group beside those of all, and what finds the scales and the copies of the probabilities.
  int64_t scales = value.isScaled() ? scores + (shape.compute.isBF16() ? 8 : 32) : 0;
  int64_t edit = shape.editInstructions > 0 ? 8 : 0;
  return accumulator + scores + stats + stream + rest + scales + edit;
}

} // namespace mlac

// Cycles and registers of a prefill schedule.
#include "passes/PrefillCost.h"

#include <algorithm>

using namespace mlir;

namespace mlac {

namespace {

// Fitted on an H200 (docs/kernels.md): conversion instructions a clock, the share of shared memory's rate
// that warps between products reach, and the warp instructions a clock that a warp adds, up to what all of
// one SM reach.
constexpr double kConversionsPerClock = 1.74;
constexpr double kSharedEfficiency = 0.7;
constexpr double kInstructionsPerClockAndWarp = 0.19, kInstructionsPerClock = 1.6;

/// Counts for one KV tile, over all warps of a block.
struct PrefillWork {
  double products;    // matrix instructions
  double conversions; // instructions
  double fragmentBytes, copyBytes;
  double softmax; // instructions

  PrefillWork(const PrefillShape &shape, tile::PrefillScheduleAttr schedule) {
    double tokens = double(schedule.getTokens()), rows = double(schedule.getRows());
    double warps = double(schedule.getRowWarps()), keyWidth = double(shape.keyWidth());
    double keyBytes = tokens * double(mla::bytesOf(shape.key.getElementType(), shape.keyWidth()));
    double valueBytes = tokens * double(mla::bytesOf(shape.value.getElementType(), shape.valueWidth()));
    products = rows / 16 * tokens / 8 * double(shape.keyWidth() + shape.valueWidth()) / 16;
    copyBytes = keyBytes + valueBytes;
    fragmentBytes = warps * copyBytes + rows * keyWidth * 2;
    conversions = warps * tokens / 64 *
                  (keyWidth * perPair(shape.key, shape.compute) +
                   double(shape.valueWidth()) * perPair(shape.value, shape.compute));
    softmax = rows * tokens / 32 * double(6 + shape.scores.instructions) + warps * 60;
  }

  static double perPair(mla::BufferType buffer, Type compute) {
    Element storage = elementOf(buffer.getElementType());
    if (bitsOf(storage) == 8 && compute.isBF16())
      return 4; // by way of f16 and f32
    const ConversionRow *row = findConversion(storage, elementOf(compute));
    return row ? row->instructionsPerPair : 0;
  }
};

} // namespace

int64_t residentBlocks(const PrefillShape &shape, tile::PrefillScheduleAttr schedule,
                       const Profile &profile) {
  int64_t registers = std::min(estimateRegisters(shape, schedule), profile.registersPerThread);
  int64_t blocks =
      blocksPerSM(profile, schedule.getThreads(), registers, layoutPrefill(shape, schedule).bytes);
  return std::max<int64_t>(blocks, 1);
}

TileCost costOfPrefillTile(const PrefillShape &shape, tile::PrefillScheduleAttr schedule,
                           const Profile &profile) {
  PrefillWork work(shape, schedule);
  double blocks = double(residentBlocks(shape, schedule, profile));
  TileCost cost{};
  // The row tiles of one head run side by side, so that tiles come from the L2 as a rule: a tenth from DRAM.
  cost.memory = 0.1 * work.copyBytes / (profile.bandwidth / double(profile.multiprocessors) / profile.clock);
  cost.matrix = 4096 * work.products / (profile.mmaFlops / double(profile.multiprocessors) / profile.clock);
  cost.convert = work.conversions / kConversionsPerClock;
  cost.shared = (work.fragmentBytes + work.copyBytes) / 128 / kSharedEfficiency;
  double instructions =
      work.products + work.conversions + work.fragmentBytes / 512 + work.copyBytes / 128 + work.softmax;
  double warps = blocks * double(schedule.getRowWarps());
  cost.issue = instructions / std::min(kInstructionsPerClock, kInstructionsPerClockAndWarp * warps);
  return cost;
}

int64_t estimateRegisters(const PrefillShape &shape, tile::PrefillScheduleAttr schedule) {
  int64_t rows = schedule.getRowsPerWarp();
  int64_t accumulator = rows * shape.valueWidth() / 32, scores = rows * schedule.getTokens() / 32,
          stats = rows / 8 * 3;
  // Of each row its position and a head's value; a score's way through the edit.
  int64_t ofEdits = shape.editedScores ? rows / 8 * 2 + 6 : 0;
  // Where conversions take registers, too, those of a window's bounds were seen to spill.
  bool ofBytes = bitsOf(elementOf(shape.key.getElementType())) == 8;
  int64_t ofWindow = shape.window && ofBytes ? 8 : 0;
  // Operands under way, addresses, loop state: what ptxas 13.0 was seen to need beyond the above, so that no
  // schedule spills.
  return accumulator + scores + stats + ofEdits + ofWindow + (schedule.getStages() > 1 ? 52 : 44);
}

} // namespace mlac

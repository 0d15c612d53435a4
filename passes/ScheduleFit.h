// What the schedulers of both kernel families share: hints, the instructions that a kernel needs, the word when nothing fits, and
// the sizes that a schedule closes.
#pragma once

#include "dialect/tile/Tile.h"
#include "passes/CostModel.h"
#include "passes/TargetOptions.h"

namespace mlac {

/// A schedule and what it asks of an SM.
struct ScheduleNeed {
  mlir::Attribute schedule;
  int64_t sharedBytes, registers, threads;
};

/// The value that a hint fixes, else those that it leaves open.
llvm::SmallVector<int64_t> choices(mlir::DictionaryAttr hints, llvm::StringRef name, llvm::ArrayRef<int64_t> open);

/// Registers a thread of a block of this size, at most.
int64_t mostRegisters(const Profile &limits, int64_t threads);

/// Whether one block fits on an SM.
bool fits(const ScheduleNeed &need, const Profile &limits);

/// The stored types need conversions, and the compute type a matrix instruction, that the target has [target-conversion,
/// target-mma].
mlir::LogicalResult checkInstructions(mlir::tile::KernelOp kernel, llvm::ArrayRef<mlir::Type> stored,
                                      const TargetChoice &choice);

/// Candidates with a `cost` and a `need()`, the cheapest first; of equal ones the first stays first.
template <typename CandidateT>
llvm::SmallVector<ScheduleNeed> rankedByCost(llvm::ArrayRef<CandidateT> candidates) {
  llvm::SmallVector<const CandidateT *> order =
      llvm::map_to_vector(candidates, [](const CandidateT &c) { return &c; });
  llvm::sort(order, [](auto *a, auto *b) { return std::tie(a->cost, a) < std::tie(b->cost, b); });
  return llvm::map_to_vector(order, [](const CandidateT *c) { return c->need(); });
}

/// Leaves the first `most` different ones of a kernel's schedules, best first, in its attribute
/// `tile.candidates`.
void listCandidates(mlir::tile::KernelOp kernel, llvm::ArrayRef<ScheduleNeed> ranked, int64_t most);

/// Of a kernel's schedules, best first, the one that was tuned for it (attribute `tile.tuned`, taken off), or
/// the first [schedule-tuned].
const ScheduleNeed &tunedOrBest(mlir::tile::KernelOp kernel, llvm::ArrayRef<ScheduleNeed> ranked,
                                const Profile &limits);

/// The error when not even `least`, the schedule of the fewest bytes, fits [schedule-fit].
mlir::LogicalResult reportNoFit(mlir::tile::KernelOp kernel, const ScheduleNeed &least, const Profile &limits);

/// Says what was chosen and why [schedule-choice].
void remarkOnChoice(mlir::tile::KernelOp kernel, const ScheduleNeed &chosen, const TileCost &cost, int64_t tileTokens,
                    const Profile &limits);

/// Closes the open sizes of a kernel's tiles.
void closeSizes(mlir::tile::KernelOp kernel, int64_t rows, int64_t tokens);

} // namespace mlac

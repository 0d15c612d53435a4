// What a schedule costs on a card: the model that tile-schedule ranks by and that the report prints.
#pragma once

#include "codegen/Instructions.h"
#include "passes/SharedLayout.h"

#include <string>

namespace mlac {

/// Cycles of one SM for one of the plan's KV tiles, by the resource that spends them. They overlap: the largest counts.
struct TileCost {
  double memory;  // DRAM at the profile's bandwidth, or the latency that too few stages leave open
  double matrix;  // tensor pipe
  double convert; // ALU pipe: conversions
  double shared;  // shared-memory wavefronts
  double issue;   // the warps' instructions: a dozen warps or fewer hide little of each other's latencies
  double sharpness = 0; // how well they overlap: the norm by which they add up; 0: the largest counts
  double cycles() const;
  llvm::StringRef bound() const;
};

/// Blocks of the schedule that share an SM, at least 1.
int64_t residentBlocks(const KernelShape &shape, mlir::tile::ScheduleAttr schedule, const Profile &profile);

TileCost costOfTile(const KernelShape &shape, mlir::tile::ScheduleAttr schedule, const Profile &profile);

/// Registers a thread holds at once, estimated: fragments and what addressing takes.
int64_t estimateRegisters(const KernelShape &shape, mlir::tile::ScheduleAttr schedule);

/// The instruction table's name for a float type.
Element elementOf(mlir::Type type);

} // namespace mlac

// The shared-memory allocations of a scheduled kernel. tile-schedule sums them to see what fits,
// tile-pipeline creates them: one list, so that the model and the kernel cannot drift apart.
#pragma once

#include "dialect/tile/Tile.h"

namespace mlac {

/// What a kernel asks of a schedule.
struct KernelShape {
  mlir::mla::BufferType query, cache;
  mlir::Type compute;
  int64_t heads;
  int64_t editInstructions; // a score, beyond scale and mask
  int64_t valueColumn, valueWidth;

  int64_t rowWidth() const { return cache.getWidth(); }
  /// How the value's columns are stored.
  mlir::mla::StoredPart valuePart() const;
  /// Groups of the value's columns that have a scale each; 1 without scales.
  int64_t valueGroups() const;
};

/// Reads the shape of a tile.kernel that walks work items; null query for one that does not.
KernelShape shapeOf(mlir::tile::KernelOp kernel);

/// Rows an odd number of 16-byte units apart: eight consecutive rows then touch all 32 banks, so ldmatrix has
/// no conflicts.
int64_t conflictFreePitch(int64_t rowBytes);

struct Allocation {
  llvm::StringRef name;
  mlir::tile::SharedType type;
  int64_t offset;
};

struct SharedLayout {
  Allocation ring;   // KV tiles: groups x stages, tokens, row
  Allocation query;  // query rows in the compute type
  Allocation probs;  // probabilities: groups x groups of the value's columns, rows, tokens, compute type
  Allocation maxima; // row maxima of one tile: a plane a token warp of every group, rows, f32
  Allocation
      shrinks; // shrink factors of one tile: groups, rows, f32; only where rows are divided among warps
  Allocation
      stats; // at the end: a plane of references a group, then a plane of sums a token warp of every group
  int64_t bytes;

  llvm::SmallVector<const Allocation *> all() const {
    llvm::SmallVector<const Allocation *> list{&ring, &query, &probs, &maxima};
    if (shrinks.type)
      list.push_back(&shrinks);
    list.push_back(&stats);
    return list;
  }
};

/// Bytes that the groups' merge needs at least: four accumulators of every thread that hands some down.
int64_t leastMergeBytes(mlir::tile::ScheduleAttr schedule);

/// Shared memory of the combine's large blocks: values of a span and two statistics for each of their parts.
int64_t combineSharedBytes(int64_t threads);

SharedLayout layoutShared(const KernelShape &shape, mlir::tile::ScheduleAttr schedule);

} // namespace mlac

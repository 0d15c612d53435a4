// The shared-memory allocations of a scheduled kernel. tile-schedule sums them to see what fits, tile-pipeline
// creates them: one list, so that the model and the kernel cannot drift apart.
#pragma once

#include "dialect/tile/Tile.h"

namespace mlac {

/// What a kernel asks of a schedule.
struct KernelShape {
  mlir::mla::BufferType query, cache;
  mlir::Type compute;
  int64_t heads;
  int64_t valueColumn, valueWidth;

  int64_t rowWidth() const { return cache.getWidth(); }
};

/// Reads the shape of a tile.kernel that walks work items; null query for one that does not.
KernelShape shapeOf(mlir::tile::KernelOp kernel);

struct Allocation {
  llvm::StringRef name;
  mlir::tile::SharedType type;
  int64_t offset;
};

struct SharedLayout {
  Allocation ring;      // KV tiles: stages x tokens x row
  Allocation planes;    // partial scores: dim warps x rows x tokens, f32
  Allocation probs;     // probabilities: rows x tokens, compute type
  Allocation rowFactor; // one f32 a row: the shrink factor, then the final factor
  int64_t bytes;

  llvm::SmallVector<const Allocation *> all() const { return {&ring, &planes, &probs, &rowFactor}; }
};

SharedLayout layoutShared(const KernelShape &shape, mlir::tile::ScheduleAttr schedule);

} // namespace mlac

// What a prefill kernel asks of a schedule, and the shared-memory allocations that follow: one list, as
// SharedLayout.h keeps it for decode.
#pragma once

#include "passes/ScoreEdit.h"
#include "passes/SharedLayout.h"

namespace mlac {

struct PrefillShape {
  mlir::mla::BufferType query, key, value;
  mlir::Type compute;
  int64_t heads, kvHeads;
  bool editedScores; // scores are scaled, and perhaps edited, before the softmax
  bool window;
  ScoreCost scores;  // of that, a score

  int64_t keyWidth() const { return key.getWidth(); }
  int64_t valueWidth() const { return value.getWidth(); }
};

/// Reads the shape of a prefill kernel, as values or scheduled.
PrefillShape prefillShapeOf(mlir::tile::KernelOp kernel);

struct PrefillLayout {
  Allocation keys;   // key tiles: stages, tokens, row
  Allocation values; // value tiles: stages, tokens, row
  Allocation query;  // query rows in the compute type
  int64_t bytes;
};

PrefillLayout layoutPrefill(const PrefillShape &shape, mlir::tile::PrefillScheduleAttr schedule);

} // namespace mlac

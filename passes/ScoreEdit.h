// A program's edit of scores: as text for the artefact, as the region of a tile, and what it costs.
#pragma once

#include "dialect/tile/Tile.h"
#include "mlir/IR/IRMapping.h"

namespace mlac {

/// The edit as the artefact spells it (runtime/ScoreEdit.h): steps, the score's place among them, the
/// condition's.
mlir::DictionaryAttr describeEdit(mlir::mla::KernelOp kernel, mlir::mla::EditOp edit);

/// Fills the edit of a tile's scores, which are in base-2 units afterwards. What is the same for all scores
/// is computed before `outside`; `factor`, by which the product is multiplied first, takes up what it can.
void buildEdit(mlir::OpBuilder &outside, mlir::mla::EditOp edit, mlir::IRMapping mapping, mlir::Region &into,
               mlir::Value &factor);

/// Instructions a score; `special` of them go to the unit for exp2 and reciprocals.
struct ScoreCost {
  int64_t instructions = 0, special = 0;
};

/// Of an edit alone; nothing for an empty region.
ScoreCost costOfEdit(mlir::Region &edit);
/// Of what prefill does to every score: a scale of its own, the edit, what it does not keep. Bounds are
/// looked for in few tiles.
ScoreCost costOfRows(mlir::Region &edit, bool scaled);
/// Of everything between the product and the softmax.
ScoreCost costOfScores(mlir::tile::MaskScoresOp op);

} // namespace mlac

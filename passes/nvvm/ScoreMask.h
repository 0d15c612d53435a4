// What happens to a score between the product and the softmax: scale, edit and mask, whichever schedule family holds it.
#pragma once

#include "passes/nvvm/Lowering.h"

namespace mlac {

/// A row of scores, as registers: a query token of the request, a head, and whether the request has such a row.
struct ScoreRow {
  Value queryToken, head, inside;
};

/// Where the scores that a thread holds belong. `rowOf` and `tokenOf` give the places of a register in the two lists.
struct ScorePlaces {
  llvm::SmallVector<ScoreRow> rows;
  llvm::SmallVector<Value> tokens; // cached tokens of the request
  std::function<size_t(size_t)> rowOf, tokenOf;
};

/// Lengths of the request, in tokens.
struct ScoreLengths {
  Value query, cached;
};

/// What tile.mask_scores says, for any op that says it.
struct ScoreRules {
  Value scale;
  bool causal;
  std::optional<int64_t> window;
  mlir::Region *edit; // null or empty: none
  /// What a value from outside the edit is by now.
  std::function<Value(Value)> captured;
};

/// The scores as the softmax takes them: -inf where the row may not see the token.
llvm::SmallVector<Value> finishScores(Emitter &e, const ScoreRules &rules, const ScorePlaces &places,
                                      const ScoreLengths &lengths, ValueRange scores);

/// The row that packed row `packed` (of query token x head) of the item's request is.
ScoreRow packedRow(Emitter &e, const ItemView &item, Value packed, int64_t heads);

} // namespace mlac

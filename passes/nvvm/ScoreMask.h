// What happens to a score between the product and the softmax: scale, edit and mask, whichever schedule
// family holds it.
#pragma once

#include "passes/nvvm/Lowering.h"

namespace mlac {

/// A row of scores, as registers: a query token of the request, a head, and whether the request has such a
/// row.
struct ScoreRow {
  Value queryToken, head, inside;
};

/// Lengths of the request, in tokens.
struct ScoreLengths {
  Value query, cached;
};

/// What tile.mask_scores says, for any op that says it.
struct ScoreRules {
  bool causal;
  std::optional<int64_t> window;
  mlir::Region *edit; // null or empty: none
  /// What a value from outside the edit is by now.
  std::function<Value(Value)> captured;

  bool edits() const { return edit && !edit->empty(); }
};

/// Where the scores that a thread holds belong: `rowOf` and `tokenOf` give the places of a register in the
/// list of rows and in `tokens`, the cached tokens of the request.
struct ScorePlaces {
  llvm::SmallVector<Value> tokens;
  std::function<size_t(size_t)> rowOf, tokenOf;
};

/// Makes of products what the softmax takes: scaled, edited, -inf where the row may not see the token. What
/// depends on the rows alone is emitted where one is made, best before the loop over KV tiles.
class ScoreFinisher {
public:
  ScoreFinisher(Emitter &e, ScoreRules rules, llvm::ArrayRef<ScoreRow> rows, const ScoreLengths &lengths);

  llvm::SmallVector<Value> finish(Emitter &e, Value scale, const ScorePlaces &places,
                                  ValueRange scores) const;

  /// Scaled and edited only: of what is hidden, -inf is what the edit itself does not keep.
  llvm::SmallVector<Value> edited(Emitter &e, Value scale, const ScorePlaces &places,
                                  ValueRange scores) const;

private:
  /// Of a row: it sees tokens [first, end), `first` null where that is 0; the rest is for edits.
  struct RowState {
    Value first, end, position, head;
    llvm::SmallVector<std::pair<mlir::Operation *, Value>> headValues;
  };

  RowState prepare(Emitter &e, const ScoreRow &row, const ScoreLengths &lengths) const;
  std::pair<Value, Value> edit(Emitter &e, const RowState &row, Value score, Value token) const;
  Value isVisible(Emitter &e, const RowState &row, Value token) const;

  ScoreRules rules;
  llvm::SmallVector<RowState> rows;
};

/// Makes something where the loop over KV tiles that `op` stands in begins, if what the item defines reaches
/// there.
template <typename Make>
auto beforeLoop(Emitter &e, mlir::Operation *op, const ItemView &item, Make make) {
  mlir::OpBuilder::InsertionGuard guard(e.builder);
  auto loop = op->getParentOfType<mlir::scf::ForOp>();
  if (loop && loop.isDefinedOutsideOfLoop(item.rowBegin))
    e.builder.setInsertionPoint(loop);
  return make();
}

/// The row that packed row `packed` (of query token x head) of the item's request is.
ScoreRow packedRow(Emitter &e, const ItemView &item, Value packed, int64_t heads);

} // namespace mlac

// How large values are and how often ops run: what makes a value a buffer or a tile.
#pragma once

#include "passes/BufferCastCalls.h"

#include <optional>

namespace mlac {

/// Declares that a value is a buffer, whatever its size: on a function argument or on the op that makes the
/// value.
inline constexpr llvm::StringLiteral kBufferAttr = "mlac.buffer";
/// The opposite: a value that is as small as a tile, though its type does not say so.
inline constexpr llvm::StringLiteral kTileAttr = "mlac.tile";
/// On an integer argument: it is a page table, and the cache beside it is a buffer.
inline constexpr llvm::StringLiteral kPageTableAttr = "mlac.page_table";

/// Questions that lead to more questions than this are not answered: what is not known is large.
inline constexpr unsigned kDeepest = 512;

/// Element type of a buffer, tensor, memref, vector or mla rows; of a scalar, its type.
mlir::Type elementTypeOf(mlir::Type type);

/// Elements of one token's row: the product of the static dimensions after those that count tokens.
int64_t elementsPerToken(mlir::Type type, bool isPaged);

/// Unknown sizes are large: an upper bound that is not found is std::nullopt.
class BufferCastSizes {
public:
  BufferCastSizes(const BufferCastCalls &calls, int64_t threshold) : calls(calls), threshold(threshold) {}

  /// An upper bound of the elements of a value: of its type, or through the ops that chose its dynamic sizes.
  std::optional<int64_t> elements(mlir::Value value);
  /// How often the op runs in one call of the function that nobody calls, if all loops around it are
  /// constant.
  std::optional<int64_t> repeats(mlir::Operation *op);

  /// Whether elements are stored here that somebody may convert as a whole.
  bool isBuffer(mlir::Value value);
  /// Whether a converted copy of `buffer` that is written here is one of the whole buffer; `written` is how
  /// many elements are, if that is known.
  bool holdsWhole(mlir::Value destination, mlir::Value buffer, std::optional<int64_t> written);
  /// Whether the value is an argument beside a page table.
  bool isPaged(mlir::Value value);

private:
  std::optional<int64_t> findElements(mlir::Value value);
  std::optional<int64_t> elementsOfResult(mlir::OpResult result);
  std::optional<int64_t> elementsOfArgument(mlir::BlockArgument argument);
  std::optional<int64_t> findRepeats(mlir::Block *block);
  std::optional<int64_t> repeatsOfCalls(mlir::Operation *function);
  bool isLarge(mlir::Type element, std::optional<int64_t> count);

  const BufferCastCalls &calls;
  int64_t threshold;
  unsigned depth = 0;
  llvm::DenseMap<mlir::Value, std::optional<int64_t>> knownElements;
  llvm::DenseMap<mlir::Block *, std::optional<int64_t>> knownRepeats;
  llvm::DenseMap<mlir::Region *, llvm::DenseMap<mlir::Block *, bool>> cycles;
};

} // namespace mlac

// Which ops store a converted copy of a whole buffer. The rule, in terms of MLIR values:
//
// A *buffer* is an mla.buffer; a memref or tensor of stored numbers (floats, or integers of 2 to 8 bits) that
// has at least `threshold` bytes, or an unknown size; one with the attribute `mlac.buffer`; an argument of
// rank 2 or more beside a page table. Ops that make no stored rows (tensor.empty, fills, contractions,
// reductions, arithmetic of several buffers) make no buffer. A *tile* is everything else: smaller values,
// vectors, scalars, shared and private memory, mla rows, and what carries the attribute `mlac.tile`. A
// dynamic size is small where the program takes its minimum with a constant.
//
// The elements of a buffer are *followed* through views, slices, reshapes, transposes, loads, stores, copies,
// gathers and scatters, selects, elementwise ops whose other operands are scales (constants, scalars, values
// of a memory with fewer values a token, anything wider that a quantised value is multiplied with), calls,
// returns, branches, loops and regions. What combines them (contractions, reductions, loop-carried sums,
// comparisons) ends the trace: its result is a new value. Their element type *changes* at arith's float,
// integer-widening and float-integer conversions, at mla.cast, and wherever an op stores them as another
// type. Reinterpreting bits (memref.view, arith.bitcast) is no change.
//
// A *whole-buffer cast* is found where changed elements become a tensor that is a buffer, or are written into
// memory that is one, unless what is written, times the constant trip counts around it, is less than the
// threshold and than the buffer they come from. Everything that follows from one first conversion is one
// finding.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <optional>

namespace mlac {

/// Bytes below which a memref or tensor is a tile.
inline constexpr int64_t kBufferThreshold = int64_t(1) << 20;

/// One step on the way of a buffer's elements.
struct BufferHop {
  enum Kind { View, Call, Return, Region, Copy, Cast, Store };

  Kind kind;
  mlir::Operation *op;
  mlir::Type element; // what the elements are afterwards
};

/// What a cast moves: in one call, where all sizes are constants; else for each token of the buffer.
struct BufferTraffic {
  int64_t perToken = 1; // elements, of the first copy
  int64_t readPerToken = 0;
  int64_t writtenPerToken = 0;     // bytes, of all copies
  std::optional<int64_t> elements; // of the first copy
  int64_t read = 0;
  int64_t written = 0; // bytes of one call, if `elements` is known

  /// Bytes of one call; nothing if it takes the pool's size and that is 0.
  std::optional<double> bytesPerCall(int64_t poolTokens) const;
};

struct BufferCast {
  mlir::Operation *cast; // the first conversion, or the op that stores where none is visible
  mlir::Value buffer;
  mlir::Type from;
  mlir::Type to;                     // as it is first stored
  llvm::SmallVector<BufferHop> hops; // from the buffer to the last copy, without the cast itself
  BufferTraffic traffic;
};

/// A conversion that stays in a tile.
struct TileConversion {
  mlir::Operation *op;
  mlir::Value buffer;
  mlir::Type to;
  bool isFirst;          // of the stored values; others convert what was converted
  bool isDetour = false; // the result is at once converted again: nothing is computed in its type
};

/// A value that a trace starts at.
struct StoredBuffer {
  mlir::Value value;
  int64_t elementsPerToken = 1;
  std::optional<int64_t> elements; // of all of it, if that is constant
};

class BufferCastAnalysis {
public:
  explicit BufferCastAnalysis(mlir::ModuleOp module, int64_t threshold = kBufferThreshold);

  /// In the order of the casts in the module.
  llvm::ArrayRef<BufferCast> casts() const { return found; }
  llvm::ArrayRef<TileConversion> tileConversions() const { return conversions; }
  llvm::ArrayRef<StoredBuffer> buffers() const { return roots; }
  /// The first op of each dialect whose ops are not followed.
  llvm::ArrayRef<mlir::Operation *> unknown() const { return unknownOps; }
  /// Ops looked at, counting repetitions: a small multiple of the ops of the module.
  int64_t visits() const { return visited; }

private:
  llvm::SmallVector<BufferCast> found;
  llvm::SmallVector<TileConversion> conversions;
  llvm::SmallVector<StoredBuffer> roots;
  llvm::SmallVector<mlir::Operation *> unknownOps;
  int64_t visited = 0;
};

} // namespace mlac

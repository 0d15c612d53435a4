// Structured control flow with values that are carried from one round to the next, for code that is more program than kernel.
#pragma once

#include "passes/nvvm/Emitter.h"

namespace mlac {

using Values = llvm::SmallVector<Value>;

/// For each i32 in [begin, end): `body` gets it and the carried values, and gives the next ones.
Values forEach(Emitter &e, Value begin, Value end, Values carried, llvm::function_ref<Values(Value, ValueRange)> body,
               int64_t step = 1);

/// While `condition` holds of the carried values.
Values whileTrue(Emitter &e, Values carried, llvm::function_ref<Value(ValueRange)> condition,
                 llvm::function_ref<Values(ValueRange)> body);

/// An array of i32 or i64 in memory.
struct ArrayView {
  Value data;
  Type element;

  Value at(Emitter &e, Value index) const;
  Value load(Emitter &e, Value index) const;
  void store(Emitter &e, Value value, Value index) const;
  unsigned bytes() const { return element.getIntOrFloatBitWidth() / 8; }
  /// How many of the first `count` elements, which ascend, are at most `value`.
  Value countUpTo(Emitter &e, Value count, Value value) const;
};

} // namespace mlac

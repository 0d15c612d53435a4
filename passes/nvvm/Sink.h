// An attention sink: one more logit a head in the softmax's denominator, without a value.
#pragma once

#include "passes/nvvm/Lowering.h"

namespace mlac {

/// What a row's scores add up to: 2^maximum * sum; maximum -inf and sum 0 for a row that saw no token.
struct RowSum {
  Value maximum, sum;

  /// The maximum, or 0 where it is -inf: subtracting it then gives no NaN.
  Value reference(Emitter &e) const;
  /// -inf for a row that saw no token.
  Value lse(Emitter &e) const;
};

/// The sum with the sink's term. A sink of -inf changes nothing; one of +inf leaves the rest no weight.
RowSum withSink(Emitter &e, const RowSum &row, Value sink);

/// The logit of a packed row's head in base-2 units.
Value loadSink(Emitter &e, Value logits, Value head);

} // namespace mlac

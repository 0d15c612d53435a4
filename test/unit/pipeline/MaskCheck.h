// What a mask shows when zero queries weigh all visible rows alike and row j of the values holds a one in column j.
#pragma once

#include "test/unit/pipeline/Values.h"

namespace mlac::test {

struct MaskLengths {
  int query, cached;
};

/// Every row of the only request is the mean of the rows that it sees, bottom-right aligned where the mask is causal, and its
/// log-sum-exp their count.
void expectMeanOfVisible(const HostOperands &operands, MaskLengths lengths, int64_t heads, int64_t columns, bool causal);

} // namespace mlac::test

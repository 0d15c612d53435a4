#include "test/unit/pipeline/MaskCheck.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mlac::test {

void expectMeanOfVisible(const HostOperands &operands, MaskLengths lengths, int64_t heads, int64_t columns, bool causal) {
  for (int64_t token = 0; token < lengths.query; ++token) {
    int64_t visible = causal ? token + lengths.cached - lengths.query + 1 : lengths.cached;
    visible = std::clamp<int64_t>(visible, 0, lengths.cached);
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t column = 0; column < columns; ++column)
        ASSERT_NEAR(outValue(operands, token, head, column), column < visible ? 1.0 / double(visible) : 0, 1e-6)
            << "token " << token << ", head " << head << ", column " << column;
      double lse = lseValue(operands, token, head);
      if (visible == 0)
        EXPECT_EQ(lse, -std::numeric_limits<double>::infinity());
      else
        EXPECT_NEAR(lse, std::log2(double(visible)), 1e-5);
    }
  }
}

} // namespace mlac::test

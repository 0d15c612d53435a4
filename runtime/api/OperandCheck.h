// What run() compares with the plan.
#pragma once

#include "mla/Kernel.h"
#include "runtime/Manifest.h"

namespace mla {

/// What the operands of a planned batch must be.
struct Expected {
  int64_t rows = 0;  ///< query tokens
  bool work = false; ///< is anything launched?
  int64_t cachedTokens = 0;
  // A paged cache.
  int32_t pageSize = 0;
  int64_t pages = 0;
  int64_t tableColumns = 0;
};

/// Checks without scalars; no allocation unless it throws. Throws Error operandMismatch, operandNull or
/// operandAlignment.
void checkTensor(const Operand &operand, const Tensor &tensor, int64_t rows);
void checkCache(const Operand &operand, const Cache &cache, const Expected &expected);

/// The list of an operand that holds head values among those given. Throws Error missingOperand,
/// operandMismatch, operandNull or operandAlignment.
const HeadValues &headValuesOf(const Operand &operand, std::span<const HeadValues> given);

/// The value of a scalar among those given. Throws Error missingOperand or scaleValue.
float scalarValue(const KernelInfo &kernel, const std::string &name, std::span<const Scalar> scalars);

} // namespace mla

// The programs of the device cases.
#pragma once

#include "Rig.h"

namespace mla::test {

/// glm5_decode, the same without a causal mask, and that with a natural logarithm.
std::string sourceOf(Program program);

} // namespace mla::test

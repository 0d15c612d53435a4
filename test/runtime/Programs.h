// The programs of the device cases.
#pragma once

#include "Rig.h"

namespace mla::test {

/// glm5_decode, the same without a causal mask, that with a natural logarithm, and glm5_decode with 128
/// heads.
std::string sourceOf(Program program);

} // namespace mla::test

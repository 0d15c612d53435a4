//===- Mma.h - mma.sync on the fragments of a warp --------------*- C++ -*-===//
//
// Products are exact, sums are in double and rounded to float once. A tensor core adds the products of a step
// after it aligned and truncated them to the largest one's exponent, so its results differ by some units of
// 2^-23 (f16, bf16) or 2^-13 (8-bit formats, on some chips) relative to the largest product: compare with a
// tolerance that grows with the sum of magnitudes, not with the result.
//
//===----------------------------------------------------------------------===//
#ifndef MLAC_RUNTIME_EMULATOR_MMA_H
#define MLAC_RUNTIME_EMULATOR_MMA_H

#include "runtime/emulator/Clock.h"

#include <cstdint>

namespace mla::emulator {

enum class MmaKind : uint32_t { F16 = 0, Bf16 = 1, E4m3 = 2, E5m2 = 3 };
inline constexpr uint32_t mmaKinds = 4;

/// One lane's registers.
struct MmaFragment {
  float *d;
  const uint32_t *a;
  const uint32_t *b;
  const float *c;
};

/// D = A * B + C; A is 16 x K row-major, B is K x 8 column-major, K is 16, or 32 for 8-bit elements.
void multiply(MmaKind kind, const MmaFragment (&lanes)[warpSize]);

} // namespace mla::emulator

#endif // MLAC_RUNTIME_EMULATOR_MMA_H

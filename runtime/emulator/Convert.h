//===- Convert.h - Small float formats, bit by bit --------------*- C++ -*-===//
#ifndef MLAC_RUNTIME_EMULATOR_CONVERT_H
#define MLAC_RUNTIME_EMULATOR_CONVERT_H

#include <bit>
#include <cstdint>

namespace mla::emulator {

/// A binary float format of up to 16 bits.
struct FloatFormat {
  int mantissaBits;
  int minExponent;    ///< Of the least normal number.
  uint32_t bits;      ///< Of the whole format.
  uint32_t maxFinite; ///< Its encoding.
  uint32_t infinity;  ///< Its encoding, or that of the greatest finite number in a saturating format.
  uint32_t nan;       ///< The canonical NaN.
};

inline constexpr FloatFormat f16Format = {10, -14, 16, 0x7BFF, 0x7C00, 0x7FFF};
inline constexpr FloatFormat bf16Format = {7, -126, 16, 0x7F7F, 0x7F80, 0x7FFF};
inline constexpr FloatFormat e4m3Format = {3, -6, 8, 0x7E, 0x7E, 0x7F};

/// Rounds to the nearest number of the format, ties to even. Exact products of two numbers of the format fit
/// a double, so they are rounded once.
uint32_t encode(const FloatFormat &format, double value);

float decodeF16(uint32_t bits);
float decodeE4m3(uint32_t bits);
float decodeE5m2(uint32_t bits);
inline float decodeBf16(uint32_t bits) { return std::bit_cast<float>(bits << 16); }

} // namespace mla::emulator

#endif // MLAC_RUNTIME_EMULATOR_CONVERT_H

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
inline constexpr FloatFormat e5m2Format = {2, -14, 8, 0x7B, 0x7B, 0x7F};

/// Rounds to the nearest number of the format, ties to even. Exact products of two numbers of the format fit
/// a double, so they are rounded once.
uint32_t encode(const FloatFormat &format, double value);

// The decoders select instead of branching, so that loops over them become vector code, and never compute on
// a subnormal float, which is slow.

inline float decodeF16(uint32_t bits) {
  uint32_t magnitude = bits & 0x7FFF, sign = (bits & 0x8000) << 16;
  uint32_t normal = (magnitude << 13) + (112u << 23); // The bias goes from 15 to 127.
  uint32_t subnormal =
      std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  uint32_t special = magnitude > f16Format.infinity ? 0x7FFFFFFF : 0x7F800000;
  uint32_t finite = magnitude < 0x0400 ? subnormal : normal;
  return std::bit_cast<float>(sign | (magnitude >= f16Format.infinity ? special : finite));
}

inline float decodeE4m3(uint32_t bits) {
  uint32_t magnitude = bits & 0x7F, sign = (bits & 0x80) << 24;
  uint32_t normal = (magnitude << 20) + (120u << 23); // The bias goes from 7 to 127.
  uint32_t subnormal = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-9f);
  uint32_t finite = magnitude < 0x08 ? subnormal : normal;
  return std::bit_cast<float>(sign | (magnitude == e4m3Format.nan ? 0x7FFFFFFF : finite));
}

inline float decodeE5m2(uint32_t bits) { return decodeF16((bits & 0xFF) << 8); }
inline float decodeBf16(uint32_t bits) { return std::bit_cast<float>(bits << 16); }

} // namespace mla::emulator

#endif // MLAC_RUNTIME_EMULATOR_CONVERT_H

//===- Convert.cpp - Small float formats, bit by bit ----------------------===//

#include "runtime/emulator/Convert.h"
#include "runtime/emulator/Hooks.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace mla::emulator;

namespace {
constexpr int doubleMantissa = 52;
constexpr int doubleBias = 1023;
} // namespace

/// Divides by 2^shift and rounds to the nearest integer, ties to even.
static uint64_t shiftRounded(uint64_t value, int shift) {
  if (shift > 54)
    return 0; // Less than half: `value` has 53 bits.
  uint64_t half = uint64_t(1) << (shift - 1);
  uint64_t odd = value >> shift & 1;
  return (value + half - 1 + odd) >> shift;
}

uint32_t mla::emulator::encode(const FloatFormat &format, double value) {
  auto bits = std::bit_cast<uint64_t>(value);
  uint32_t sign = static_cast<uint32_t>(bits >> 63) << (format.bits - 1);
  if (std::isnan(value))
    return format.nan;
  if (std::isinf(value))
    return sign | format.infinity;
  int exponent = static_cast<int>(bits >> doubleMantissa & 0x7FF) - doubleBias;
  if (exponent < format.minExponent - format.mantissaBits - 1)
    return sign; // Zero, and what is less than half of the least subnormal number.
  uint64_t mantissa = (bits & ((uint64_t(1) << doubleMantissa) - 1)) | uint64_t(1) << doubleMantissa;
  int scale = std::max(exponent, format.minExponent);
  // With the implicit bit in place the sum below is the encoding, and a carry moves it to the next exponent.
  uint64_t rounded = shiftRounded(mantissa, doubleMantissa - format.mantissaBits + scale - exponent);
  uint64_t encoded = (static_cast<uint64_t>(scale - format.minExponent) << format.mantissaBits) + rounded;
  return sign | (encoded > format.maxFinite ? format.infinity : static_cast<uint32_t>(encoded));
}

static uint32_t pack16(uint32_t high, uint32_t low) { return high << 16 | low; }

namespace {
/// The f16 codes of all 8-bit codes.
using HalfTable = std::array<uint16_t, 256>;

HalfTable makeTable(float (*decode)(uint32_t)) {
  HalfTable table;
  for (uint32_t code = 0; code < table.size(); ++code)
    table[code] = encode(f16Format, decode(code));
  return table;
}
} // namespace

extern "C" {

uint32_t mlac_emu_cvt_f16x2_e4m3x2(uint32_t x) {
  static const HalfTable table = makeTable(decodeE4m3);
  return pack16(table[x >> 8 & 0xFF], table[x & 0xFF]);
}

uint32_t mlac_emu_cvt_f16x2_e5m2x2(uint32_t x) {
  static const HalfTable table = makeTable(decodeE5m2);
  return pack16(table[x >> 8 & 0xFF], table[x & 0xFF]);
}

uint32_t mlac_emu_cvt_f16x2_f32(float hi, float lo) {
  return pack16(encode(f16Format, hi), encode(f16Format, lo));
}

uint32_t mlac_emu_cvt_bf16x2_f32(float hi, float lo) {
  return pack16(encode(bf16Format, hi), encode(bf16Format, lo));
}

float mlac_emu_cvt_f32_f16(uint32_t x) { return decodeF16(x & 0xFFFF); }

uint32_t mlac_emu_cvt_e4m3x2_f32(float hi, float lo) {
  return encode(e4m3Format, hi) << 8 | encode(e4m3Format, lo);
}

uint32_t mlac_emu_cvt_e5m2x2_f32(float hi, float lo) {
  return encode(e5m2Format, hi) << 8 | encode(e5m2Format, lo);
}

float mlac_emu_ex2(float x) { return static_cast<float>(std::exp2(static_cast<double>(x))); }
float mlac_emu_lg2(float x) { return static_cast<float>(std::log2(static_cast<double>(x))); }
float mlac_emu_rcp(float x) { return 1.0f / x; }

uint32_t mlac_emu_mul_bf16x2(uint32_t a, uint32_t b) {
  auto multiply = [](uint32_t x, uint32_t y) {
    return encode(bf16Format, static_cast<double>(decodeBf16(x)) * decodeBf16(y));
  };
  return pack16(multiply(a >> 16, b >> 16), multiply(a & 0xFFFF, b & 0xFFFF));
}

uint32_t mlac_emu_prmt(uint32_t a, uint32_t b, uint32_t sel) {
  uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t pick = sel >> 4 * i & 0xF;
    uint32_t byte = bytes >> 8 * (pick & 7) & 0xFF;
    if (pick & 8) // Replicates the sign.
      byte = byte & 0x80 ? 0xFF : 0;
    result |= byte << 8 * i;
  }
  return result;
}
}

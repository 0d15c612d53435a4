#include "runtime/reference/Formats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace mla::reference {

namespace {

/// A binary floating-point format: sign, exponent, mantissa from the top bit down.
struct Format {
  int exponentBits;
  int mantissaBits;
  bool infinities; ///< IEEE: the top exponent is infinity and NaN; else its last code alone is NaN
  bool saturates;  ///< whether overflow gives the largest finite value

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int leastExponent() const { return 1 - bias(); }
  uint32_t signBit() const { return 1u << (exponentBits + mantissaBits); }
  uint32_t magnitudeMask() const { return signBit() - 1; }
  uint32_t topExponent() const { return magnitudeMask() & ~((1u << mantissaBits) - 1); }
  uint32_t nanCode() const {
    return infinities ? topExponent() | (1u << (mantissaBits - 1)) : magnitudeMask();
  }
  uint32_t largestFinite() const { return infinities ? topExponent() - 1 : magnitudeMask() - 1; }
};

Format formatOf(DType type) {
  switch (type) {
  case DType::f32:
    return {8, 23, true, false};
  case DType::f16:
    return {5, 10, true, false};
  case DType::bf16:
    return {8, 7, true, false};
  case DType::e5m2:
    return {5, 2, true, true};
  case DType::e4m3:
  case DType::s8: // integers have no such format; callers take them first
  case DType::u8:
    break;
  }
  return {4, 3, false, true};
}

double decodeMagnitude(const Format &format, uint32_t magnitude) {
  if (format.infinities && magnitude == format.topExponent())
    return std::numeric_limits<double>::infinity();
  if (magnitude > format.largestFinite())
    return std::numeric_limits<double>::quiet_NaN();
  auto exponent = static_cast<int>(magnitude >> format.mantissaBits);
  uint32_t mantissa = magnitude & ((1u << format.mantissaBits) - 1);
  uint32_t leading = exponent == 0 ? 0 : 1u << format.mantissaBits;
  int power = std::max(exponent - format.bias(), format.leastExponent());
  return std::ldexp(static_cast<double>(leading + mantissa), power - format.mantissaBits);
}

/// The code of a finite magnitude, rounded to nearest even. Codes of neighbouring values are neighbours, so
/// rounding up into the next binade needs no care.
uint32_t roundMagnitude(const Format &format, double magnitude) {
  if (magnitude == 0)
    return 0;
  int power = std::max(std::ilogb(magnitude), format.leastExponent());
  auto steps = static_cast<uint64_t>(std::nearbyint(std::ldexp(magnitude, format.mantissaBits - power)));
  // A normal value's steps include the leading one, which stands for the first exponent code.
  return static_cast<uint32_t>(
      (static_cast<uint64_t>(power - format.leastExponent()) << format.mantissaBits) + steps);
}

uint32_t encodeFloat(const Format &format, double value) {
  if (std::isnan(value))
    return format.nanCode();
  uint32_t sign = std::signbit(value) ? format.signBit() : 0;
  uint32_t overflow = format.saturates ? format.largestFinite() : format.topExponent();
  // Twice the largest value is certain to overflow and keeps the steps small.
  double largest = decodeMagnitude(format, format.largestFinite());
  if (std::fabs(value) > 2 * largest)
    return sign | overflow;
  uint32_t magnitude = roundMagnitude(format, std::fabs(value));
  return sign | (magnitude > format.largestFinite() ? overflow : magnitude);
}

} // namespace

double decode(DType type, uint32_t code) {
  if (type == DType::s8)
    return static_cast<int8_t>(code);
  if (type == DType::u8)
    return static_cast<uint8_t>(code);
  Format format = formatOf(type);
  double magnitude = decodeMagnitude(format, code & format.magnitudeMask());
  return code & format.signBit() ? -magnitude : magnitude;
}

uint32_t encode(DType type, double value) {
  if (type != DType::s8 && type != DType::u8)
    return encodeFloat(formatOf(type), value);
  double least = type == DType::s8 ? -128 : 0;
  double rounded = std::isnan(value) ? 0 : std::clamp(std::nearbyint(value), least, least + 255);
  return static_cast<uint32_t>(static_cast<int32_t>(rounded)) & 0xFF;
}

double decodeScale(ScaleFormat format, uint32_t code) {
  if (format == ScaleFormat::ue8m0)
    return code == 0xFF ? std::numeric_limits<double>::quiet_NaN()
                        : std::ldexp(1.0, static_cast<int>(code) - 127);
  double value = decode(DType::f32, code);
  if (format == ScaleFormat::f32 || !std::isfinite(value))
    return value;
  if (std::fabs(value) < std::numeric_limits<float>::min()) // has no exponent
    return 0;
  return std::copysign(std::exp2(std::floor(std::log2(std::fabs(value)))), value);
}

uint32_t poisonCode(DType type) {
  switch (type) {
  case DType::f32:
    return 0x7FC00000;
  case DType::f16:
  case DType::bf16:
    return 0x7FC0;
  case DType::u8:
    return 0xFF;
  case DType::e4m3:
  case DType::e5m2:
  case DType::s8:
    break;
  }
  return 0x7F;
}

void fillPoison(DType type, std::span<uint8_t> buffer) {
  uint32_t code = poisonCode(type);
  auto size = static_cast<size_t>(bytes(type));
  for (size_t i = 0; i < buffer.size(); ++i)
    buffer[i] = static_cast<uint8_t>(code >> (8 * (i % size)));
}

uint32_t loadCode(DType type, const uint8_t *data, int64_t index) {
  uint32_t code = 0;
  int64_t size = bytes(type);
  std::memcpy(&code, data + index * size, static_cast<size_t>(size));
  return code;
}

void storeCode(DType type, uint8_t *data, int64_t index, uint32_t code) {
  int64_t size = bytes(type);
  std::memcpy(data + index * size, &code, static_cast<size_t>(size));
}

} // namespace mla::reference

#include "runtime/reference/Formats.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace mla;
using namespace mla::reference;

/// Value of sign, exponent and mantissa fields by repeated doubling: shares nothing with the decoder.
static double fromFields(bool negative, int exponent, int mantissa, int mantissaBits, int bias) {
  double value = (exponent > 0 ? 1 : 0) + static_cast<double>(mantissa) / (1 << mantissaBits);
  int power = (exponent > 0 ? exponent : 1) - bias;
  for (; power > 0; --power)
    value *= 2;
  for (; power < 0; ++power)
    value /= 2;
  return negative ? -value : value;
}

static void expectSame(double actual, double expected, uint32_t code) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << code;
    return;
  }
  EXPECT_EQ(actual, expected) << code;
  EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << code;
}

TEST(Formats, E4m3AllCodes) {
  for (uint32_t code = 0; code < 256; ++code) {
    bool nan = (code & 0x7F) == 0x7F;
    double expected = nan ? std::nan("") : fromFields(code >> 7, code >> 3 & 15, code & 7, 3, 7);
    expectSame(decode(DType::e4m3, code), expected, code);
  }
  EXPECT_EQ(decode(DType::e4m3, 0x7E), 448);
  EXPECT_EQ(decode(DType::e4m3, 0x01), 0x1p-9);
}

TEST(Formats, E5m2AllCodes) {
  for (uint32_t code = 0; code < 256; ++code) {
    double expected = fromFields(code >> 7, code >> 2 & 31, code & 3, 2, 15);
    if ((code & 0x7C) == 0x7C)
      expected = code & 3 ? std::nan("") : std::copysign(std::numeric_limits<double>::infinity(), expected);
    expectSame(decode(DType::e5m2, code), expected, code);
  }
  EXPECT_EQ(decode(DType::e5m2, 0x7B), 57344);
}

TEST(Formats, Bf16AllCodesAreTruncatedFloats) {
  for (uint32_t code = 0; code < 65536; ++code)
    expectSame(decode(DType::bf16, code), std::bit_cast<float>(code << 16), code);
}

TEST(Formats, F16AllCodes) {
  for (uint32_t code = 0; code < 65536; ++code) {
    double expected = fromFields(code >> 15, code >> 10 & 31, code & 1023, 10, 15);
    if ((code & 0x7C00) == 0x7C00)
      expected =
          code & 1023 ? std::nan("") : std::copysign(std::numeric_limits<double>::infinity(), expected);
    expectSame(decode(DType::f16, code), expected, code);
  }
}

TEST(Formats, F32AndS8) {
  for (float value : {0.0f, -0.0f, 1.5f, -3e38f, 1e-45f, std::numeric_limits<float>::infinity()})
    expectSame(decode(DType::f32, std::bit_cast<uint32_t>(value)), value, 0);
  EXPECT_EQ(decode(DType::s8, 0x80), -128);
  EXPECT_EQ(decode(DType::s8, 0x7F), 127);
}

TEST(Formats, Scales) {
  auto bits = [](float value) { return std::bit_cast<uint32_t>(value); };
  EXPECT_EQ(decodeScale(ScaleFormat::f32, bits(0.3f)), double(0.3f));
  EXPECT_EQ(decodeScale(ScaleFormat::pow2, bits(0.3f)), 0.25);
  EXPECT_EQ(decodeScale(ScaleFormat::pow2, bits(4)), 4);
  EXPECT_EQ(decodeScale(ScaleFormat::pow2, bits(-3)), -2);
  EXPECT_EQ(decodeScale(ScaleFormat::pow2, 0), 0);
  EXPECT_EQ(decodeScale(ScaleFormat::ue8m0, 127), 1);
  EXPECT_EQ(decodeScale(ScaleFormat::ue8m0, 0), 0x1p-127);
  EXPECT_EQ(decodeScale(ScaleFormat::ue8m0, 254), 0x1p127);
  EXPECT_TRUE(std::isnan(decodeScale(ScaleFormat::ue8m0, 255)));
}

TEST(Formats, EncodeInvertsDecode) {
  for (DType type : {DType::e4m3, DType::e5m2, DType::f16, DType::bf16, DType::s8, DType::u8})
    for (uint32_t code = 0; code < 1u << (8 * bytes(type)); ++code)
      if (double value = decode(type, code); std::isfinite(value)) {
        EXPECT_EQ(encode(type, value), code) << name(type);
      }
}

/// The nearest finite value by search; of two equally near ones, the even code.
static uint32_t nearest(DType type, double value) {
  uint32_t best = 0;
  double bestDistance = std::numeric_limits<double>::infinity();
  for (uint32_t code = 0; code < 1u << (8 * bytes(type)); ++code) {
    double candidate = decode(type, code);
    double distance = std::fabs(candidate - value);
    bool sameSign = std::signbit(candidate) == std::signbit(value);
    if (!std::isfinite(candidate) || !sameSign)
      continue;
    if (distance < bestDistance || (distance == bestDistance && code % 2 == 0)) {
      best = code;
      bestDistance = distance;
    }
  }
  return best;
}

TEST(Formats, EncodeRoundsToNearestEven) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (DType type : {DType::e4m3, DType::e5m2})
    for (int i = 0; i < 3000; ++i) {
      double value = std::ldexp(normal(random), static_cast<int>(random() % 16) - 10);
      EXPECT_EQ(encode(type, value), nearest(type, value)) << name(type) << " " << value;
    }
  for (uint32_t code = 0; code < 0x7D; ++code) {
    double middle = (decode(DType::e4m3, code) + decode(DType::e4m3, code + 1)) / 2;
    EXPECT_EQ(encode(DType::e4m3, middle), code + code % 2);
  }
}

TEST(Formats, EncodeOverflowAndSpecials) {
  double infinity = std::numeric_limits<double>::infinity();
  for (double value : {449.0, 463.0, 465.0, 1e4, 1e300, infinity}) {
    EXPECT_EQ(encode(DType::e4m3, value), 0x7Eu) << value;
    EXPECT_EQ(encode(DType::e4m3, -value), 0xFEu) << value;
  }
  EXPECT_EQ(encode(DType::e5m2, infinity), 0x7Bu);
  EXPECT_EQ(encode(DType::f16, 65519), 0x7BFFu);
  EXPECT_EQ(encode(DType::f16, 65520), 0x7C00u);
  EXPECT_EQ(encode(DType::bf16, infinity), 0x7F80u);
  EXPECT_EQ(encode(DType::e4m3, -0.0), 0x80u);
  EXPECT_EQ(encode(DType::e4m3, 0x1p-10), 0u);
  EXPECT_EQ(encode(DType::e4m3, 1.5 * 0x1p-10), 1u);
  for (DType type : {DType::e4m3, DType::e5m2, DType::f16, DType::bf16, DType::f32})
    EXPECT_TRUE(std::isnan(decode(type, encode(type, std::nan("")))));
}

TEST(Formats, Bf16MatchesFloatRounding) {
  std::mt19937 random(4);
  for (int i = 0; i < 20000; ++i) {
    auto bits = static_cast<uint32_t>(random());
    auto value = std::bit_cast<float>(bits);
    if (!std::isfinite(value))
      continue;
    uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
    EXPECT_EQ(encode(DType::bf16, value), rounded) << value;
  }
}

TEST(Formats, PoisonIsNaN) {
  for (DType type : {DType::e4m3, DType::e5m2, DType::f16, DType::bf16, DType::f32})
    EXPECT_TRUE(std::isnan(decode(type, poisonCode(type)))) << name(type);
  std::vector<uint8_t> buffer(8);
  fillPoison(DType::f32, buffer);
  EXPECT_EQ(loadCode(DType::f32, buffer.data(), 1), poisonCode(DType::f32));
}

//===- ConvertTest.cpp - Every code of the small formats ------------------===//

#include "runtime/emulator/Convert.h"
#include "Harness.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace mla::emulator;

static const float inf = std::numeric_limits<float>::infinity();
static const float nan_ = std::numeric_limits<float>::quiet_NaN();

/// The value of a code, from the definition of the format; NaN for a NaN.
static double valueOf(uint32_t code, int exponentBits, int mantissaBits, bool hasInfinity) {
  int bias = (1 << (exponentBits - 1)) - 1;
  int exponent = code >> mantissaBits & ((1 << exponentBits) - 1),
      mantissa = code & ((1 << mantissaBits) - 1);
  bool negative = code >> (exponentBits + mantissaBits) & 1;
  bool top = exponent == (1 << exponentBits) - 1;
  if (top && hasInfinity)
    return mantissa ? nan_ : negative ? -inf : inf;
  if (top && mantissa == (1 << mantissaBits) - 1)
    return nan_;
  double value = exponent ? std::ldexp(mantissa + (1 << mantissaBits), exponent - bias - mantissaBits)
                          : std::ldexp(mantissa, 1 - bias - mantissaBits);
  return negative ? -value : value;
}

static void expectSame(double a, double b) {
  if (std::isnan(b))
    EXPECT_TRUE(std::isnan(a));
  else
    EXPECT_EQ(std::bit_cast<uint64_t>(a), std::bit_cast<uint64_t>(b));
}

TEST(Convert, EveryE4m3AndE5m2Code) {
  for (uint32_t code = 0; code < 256; ++code) {
    uint32_t low = mlac_emu_cvt_f16x2_e4m3x2(code), high = mlac_emu_cvt_f16x2_e4m3x2(code << 8);
    expectSame(mlac_emu_cvt_f32_f16(low), valueOf(code, 4, 3, false));
    EXPECT_EQ(low & 0xFFFF, high >> 16);
    EXPECT_EQ(low >> 16, 0u);
    low = mlac_emu_cvt_f16x2_e5m2x2(code), high = mlac_emu_cvt_f16x2_e5m2x2(code << 8);
    expectSame(mlac_emu_cvt_f32_f16(low), valueOf(code, 5, 2, true));
    EXPECT_EQ(low & 0xFFFF, high >> 16);
  }
}

TEST(Convert, KnownE4m3Values) {
  EXPECT_EQ(decodeE4m3(0x7E), 448.0f);
  EXPECT_EQ(decodeE4m3(0x38), 1.0f);
  EXPECT_EQ(decodeE4m3(0x01), 0x1p-9f);
  EXPECT_EQ(decodeE4m3(0x81), -0x1p-9f);
  EXPECT_EQ(decodeE5m2(0x7B), 57344.0f);
}

TEST(Convert, EveryF16CodeSurvives) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    float value = mlac_emu_cvt_f32_f16(code | 0xABCD0000);
    double expected = valueOf(code, 5, 10, true);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value));
      ASSERT_EQ(mlac_emu_cvt_f16x2_f32(value, 0), 0x7FFF0000u);
      continue;
    }
    ASSERT_EQ(std::bit_cast<uint64_t>(double(value)), std::bit_cast<uint64_t>(expected));
    ASSERT_EQ(mlac_emu_cvt_f16x2_f32(value, 0), code << 16);
  }
}

TEST(Convert, EveryBf16CodeSurvives) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    float value = std::bit_cast<float>(code << 16);
    ASSERT_EQ(mlac_emu_cvt_bf16x2_f32(0, value), std::isnan(value) ? 0x7FFFu : code);
  }
}

/// Between two neighbours: below the middle goes down, above goes up, the middle goes to the even code.
template <typename Encode, typename Value>
static void checkRounding(uint32_t lastFinite, Encode encodeOne, Value value) {
  for (uint32_t code = 0; code < lastFinite; ++code) {
    double low = value(code), high = value(code + 1), middle = (low + high) / 2;
    auto f = static_cast<float>(middle);
    ASSERT_EQ(double(f), middle);
    ASSERT_EQ(encodeOne(f), code + (code & 1)) << code;
    ASSERT_EQ(encodeOne(std::nextafter(f, 0.0f)), code) << code;
    ASSERT_EQ(encodeOne(std::nextafter(f, inf)), code + 1) << code;
  }
}

TEST(Convert, RoundsToNearestEven) {
  checkRounding(
      0x7BFF, [](float f) { return mlac_emu_cvt_f16x2_f32(0, f); },
      [](uint32_t c) { return valueOf(c, 5, 10, true); });
  checkRounding(
      0x7E, [](float f) { return mlac_emu_cvt_e4m3x2_f32(0, f); },
      [](uint32_t c) { return valueOf(c, 4, 3, false); });
  checkRounding(
      0x7F7F, [](float f) { return mlac_emu_cvt_bf16x2_f32(0, f); },
      [](uint32_t c) { return valueOf(c, 8, 7, true); });
}

TEST(Convert, Overflow) {
  EXPECT_EQ(mlac_emu_cvt_f16x2_f32(65519.996f, 65520.0f), 0x7BFF7C00u);
  EXPECT_EQ(mlac_emu_cvt_f16x2_f32(-1e30f, -inf), 0xFC00FC00u);
  EXPECT_EQ(mlac_emu_cvt_bf16x2_f32(std::numeric_limits<float>::max(), inf), 0x7F807F80u);
  EXPECT_EQ(mlac_emu_cvt_e4m3x2_f32(449.0f, 1e9f), 0x7E7Eu);
  EXPECT_EQ(mlac_emu_cvt_e4m3x2_f32(470.0f, -480.0f), 0x7EFEu);
  EXPECT_EQ(mlac_emu_cvt_e4m3x2_f32(-inf, inf), 0xFE7Eu);
  EXPECT_EQ(mlac_emu_cvt_e5m2x2_f32(-inf, 61440.0f), 0xFB7Bu);
  EXPECT_EQ(mlac_emu_cvt_e5m2x2_f32(1.125f, 1.375f), 0x3C3Eu);
  EXPECT_EQ(mlac_emu_cvt_e4m3x2_f32(nan_, -nan_), 0x7F7Fu);
}

TEST(Convert, TinyAndSignedZero) {
  EXPECT_EQ(mlac_emu_cvt_f16x2_f32(-0.0f, 0x1p-26f), 0x80000000u);
  EXPECT_EQ(mlac_emu_cvt_f16x2_f32(0x1p-25f, 0x1.8p-25f), 0x00000001u);
  EXPECT_EQ(mlac_emu_cvt_e4m3x2_f32(0x1p-10f, 0x1.8p-10f), 0x0001u);
  EXPECT_EQ(mlac_emu_cvt_bf16x2_f32(0x1p-149f, -0x1p-149f), 0x00008000u);
}

TEST(Convert, MulBf16x2) {
  auto one = [](uint32_t a, uint32_t b) {
    uint32_t packed = mlac_emu_mul_bf16x2(a << 16 | b, b << 16 | a);
    EXPECT_EQ(packed >> 16, packed & 0xFFFF);
    return packed & 0xFFFF;
  };
  EXPECT_EQ(one(0x3F80, 0x4040), 0x4040u); // 1 * 3
  EXPECT_EQ(one(0x0001, 0x3F80), 0x0001u); // The least subnormal number survives.
  EXPECT_EQ(one(0x0080, 0x3F00), 0x0040u); // Normal times one half: subnormal.
  EXPECT_EQ(one(0x7F00, 0x7F00), 0x7F80u); // Overflow.
  EXPECT_EQ(one(0x7F80, 0x0000), 0x7FFFu); // inf * 0
  EXPECT_EQ(one(0x3F81, 0x3F81), 0x3F82u); // 1.015625 + 2^-14, rounds down.
  EXPECT_EQ(one(0xBF80, 0x4049), 0xC049u);
}

TEST(Convert, Prmt) {
  uint32_t a = 0x83828180, b = 0x07060504;
  EXPECT_EQ(mlac_emu_prmt(a, b, 0x3210), a);
  EXPECT_EQ(mlac_emu_prmt(a, b, 0x7654), b);
  EXPECT_EQ(mlac_emu_prmt(a, b, 0x0475), 0x80040705u);
  EXPECT_EQ(mlac_emu_prmt(a, b, 0xCB80), 0x00FFFF80u);
}

TEST(Convert, Math) {
  EXPECT_EQ(mlac_emu_ex2(3.0f), 8.0f);
  EXPECT_EQ(mlac_emu_ex2(-inf), 0.0f);
  EXPECT_EQ(mlac_emu_lg2(0.25f), -2.0f);
  EXPECT_EQ(mlac_emu_lg2(0.0f), -inf);
  EXPECT_EQ(mlac_emu_rcp(4.0f), 0.25f);
  EXPECT_TRUE(std::isnan(mlac_emu_lg2(-1.0f)));
}

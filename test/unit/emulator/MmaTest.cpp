//===- MmaTest.cpp - Fragment layouts against plain matrices --------------===//

#include "runtime/emulator/Mma.h"
#include "Harness.h"
#include "runtime/emulator/Convert.h"

#include <array>
#include <bit>
#include <cmath>
#include <random>

using namespace mla::emulator;
using namespace mla::emulator::test;

namespace {
struct Format {
  uint32_t kind, depth, bits;
  float (*decode)(uint32_t);
  uint32_t one; ///< The code of 1.
};

const Format formats[] = {
    {0, 16, 16, decodeF16, 0x3C00},
    {1, 16, 16, decodeBf16, 0x3F80},
    {2, 32, 8, decodeE4m3, 0x38},
    {3, 32, 8, decodeE5m2, 0x3C},
};

/// Operands as codes in plain matrices.
struct Problem {
  uint32_t a[16][32] = {};
  uint32_t b[32][8] = {};
  float c[16][8] = {};
  float d[16][8] = {};
};

// The index formulas of the PTX manual, "Matrix fragments for mma.m16n8k16 / .m16n8k32".
uint32_t rowA(uint32_t lane, uint32_t i, uint32_t perRegister) {
  return lane / 4 + (i / perRegister % 2 ? 8 : 0);
}
uint32_t columnA(uint32_t lane, uint32_t i, uint32_t perRegister) {
  return lane % 4 * perRegister + i % perRegister + (i < 2 * perRegister ? 0 : 4 * perRegister);
}
uint32_t rowB(uint32_t lane, uint32_t i, uint32_t perRegister) {
  return lane % 4 * perRegister + i % perRegister + (i < perRegister ? 0 : 4 * perRegister);
}

/// What the lane does: packs its fragments, multiplies, and unpacks its part of the result.
void multiplyOnLane(const Format &format, Problem &problem) {
  uint32_t n = 32 / format.bits, me = lane(), group = me / 4;
  uint32_t a[4] = {}, b[2] = {};
  for (uint32_t i = 0; i < 4 * n; ++i)
    a[i / n] |= problem.a[rowA(me, i, n)][columnA(me, i, n)] << format.bits * (i % n);
  for (uint32_t i = 0; i < 2 * n; ++i)
    b[i / n] |= problem.b[rowB(me, i, n)][group] << format.bits * (i % n);
  float c[4], d[4];
  for (uint32_t i = 0; i < 4; ++i)
    c[i] = problem.c[group + i / 2 * 8][me % 4 * 2 + i % 2];
  mlac_emu_mma(d, a, b, c, format.kind, "mma");
  for (uint32_t i = 0; i < 4; ++i)
    problem.d[group + i / 2 * 8][me % 4 * 2 + i % 2] = d[i];
}

void solve(const Format &format, Problem &problem) {
  run([&] { multiplyOnLane(format, problem); });
}

Problem randomProblem(const Format &format, uint32_t seed) {
  std::mt19937 random(seed);
  auto code = [&] { // Finite and moderate: any sign and mantissa, exponents near 1.
    uint32_t code;
    do
      code = random() & ((1u << format.bits) - 1);
    while (!(std::fabs(format.decode(code)) <= 16 && std::fabs(format.decode(code)) >= 0.0625));
    return code;
  };
  Problem problem;
  for (auto &row : problem.a)
    for (uint32_t &x : row)
      x = code();
  for (auto &row : problem.b)
    for (uint32_t &x : row)
      x = code();
  for (auto &row : problem.c)
    for (float &x : row)
      x = std::ldexp(static_cast<float>(random() % 1000), -5);
  return problem;
}
} // namespace

TEST(Mma, IdentityTimesBIsB) {
  for (const Format &format : formats) {
    for (uint32_t shift = 0; shift < format.depth; shift += 16) {
      Problem problem = randomProblem(format, 1);
      for (uint32_t row = 0; row < 16; ++row)
        for (uint32_t k = 0; k < 32; ++k)
          problem.a[row][k] = k == row + shift ? format.one : 0;
      for (auto &row : problem.c)
        std::fill(std::begin(row), std::end(row), 0.0f);
      solve(format, problem);
      for (uint32_t row = 0; row < 16; ++row)
        for (uint32_t column = 0; column < 8; ++column)
          ASSERT_EQ(problem.d[row][column], format.decode(problem.b[row + shift][column])) << format.kind;
    }
  }
}

/// One element of A and one of B at a time: every element is where it belongs, and nowhere else.
TEST(Mma, EverySingleElement) {
  for (const Format &format : formats) {
    auto kernel = [&] {
      static Problem problem; // The lanes fill in and read out disjoint parts.
      for (uint32_t row = 0; row < 16; ++row)
        for (uint32_t k = 0; k < format.depth; ++k) {
          problem = Problem();
          problem.a[row][k] = format.one;
          problem.b[k][k % 8] = format.one;
          multiplyOnLane(format, problem);
          mlac_emu_warp_sync(all, "sync");
          for (uint32_t i = 0; i < 16; ++i)
            for (uint32_t j = 0; j < 8; ++j)
              if ((problem.d[i][j] != 0) != (i == row && j == k % 8))
                ADD_FAILURE() << format.kind << ": " << row << " " << k << " at " << i << " " << j;
          mlac_emu_warp_sync(all, "sync");
        }
    };
    run(kernel);
  }
}

TEST(Mma, RandomMatricesAreExact) {
  for (const Format &format : formats) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
      Problem problem = randomProblem(format, seed);
      solve(format, problem);
      for (uint32_t row = 0; row < 16; ++row)
        for (uint32_t column = 0; column < 8; ++column) {
          long double sum = problem.c[row][column];
          for (uint32_t k = 0; k < format.depth; ++k)
            sum += static_cast<long double>(format.decode(problem.a[row][k])) *
                   format.decode(problem.b[k][column]);
          ASSERT_EQ(problem.d[row][column], static_cast<float>(sum)) << format.kind;
        }
    }
  }
}

TEST(Mma, SpecialValues) {
  Problem problem;
  problem.a[0][0] = 0x7C00; // inf
  problem.b[0][0] = 0x3C00;
  problem.a[1][1] = 0x7C00;
  problem.b[1][1] = 0;
  problem.c[2][2] = -0.5f;
  solve(formats[0], problem);
  EXPECT_TRUE(std::isinf(problem.d[0][0]));
  EXPECT_EQ(std::bit_cast<uint32_t>(problem.d[1][1]), 0x7FFFFFFFu);
  EXPECT_EQ(problem.d[2][2], -0.5f);
}

TEST(Mma, MayAccumulateInPlace) {
  run([] {
    uint32_t a[4] = {0x3C003C00, 0x3C003C00, 0x3C003C00, 0x3C003C00}, b[2] = {0x3C003C00, 0x3C003C00};
    float d[4] = {1, 2, 3, 4};
    mlac_emu_mma(d, a, b, d, 0, "mma");
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(d[i], 17.0f + i);
  });
}

TEST(Mma, NeedsTheWholeWarp) {
  auto kernel = [] {
    uint32_t a[4] = {}, b[2] = {};
    float d[4] = {};
    if (lane() != 3)
      mlac_emu_mma(d, a, b, d, 0, "mma at k.mla:1:1");
  };
  EXPECT_THAT(failureOf(kernel), testing::HasSubstr("waits in mma"));
}

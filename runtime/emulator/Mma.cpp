//===- Mma.cpp - mma.sync on the fragments of a warp ----------------------===//

#include "runtime/emulator/Mma.h"
#include "runtime/emulator/Convert.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

using namespace mla::emulator;

// AVX2 where there is any. Contracting to FMA changes nothing: the products are exact.
#define MLAC_VECTORISED __attribute__((target_clones("arch=haswell", "default")))

namespace {
constexpr uint32_t rows = 16, columns = 8, maxDepth = 32;

/// The fragments as matrices of codes: A by rows and B by columns, eight registers each, first element
/// lowest.
struct Codes {
  uint32_t a[rows][8];
  uint32_t b[columns][8];
};

/// The operands as plain matrices. Doubles hold every product exactly.
struct Matrices {
  double a[rows][maxDepth];
  double b[maxDepth][columns];
  double sum[rows][columns];
};
} // namespace

/// Lane 4g + t holds in a0..a3 the rows g, g+8, g, g+8 of A, the first two in the first half of K; b0, b1
/// hold the halves of column g of B. Within half a row or column, t is the place of the register.
static void gather(Codes &codes, const MmaFragment (&lanes)[warpSize]) {
  for (uint32_t lane = 0; lane < warpSize; ++lane) {
    uint32_t group = lane / 4, place = lane % 4;
    for (uint32_t r = 0; r < 4; ++r)
      codes.a[group + r % 2 * 8][place + r / 2 * 4] = lanes[lane].a[r];
    for (uint32_t r = 0; r < 2; ++r)
      codes.b[group][place + r * 4] = lanes[lane].b[r];
  }
}

/// Unpacks eight registers.
template <typename Element, float (*decode)(uint32_t)>
static inline __attribute__((always_inline)) void unpack(float (&values)[maxDepth],
                                                         const uint32_t (&registers)[8]) {
  Element codes[32 / sizeof(Element)];
  std::memcpy(codes, registers, sizeof(codes));
  for (uint32_t i = 0; i < std::size(codes); ++i)
    values[i] = decode(codes[i]);
}

template <typename Element, float (*decode)(uint32_t)>
static inline __attribute__((always_inline)) void decodeAll(Matrices &m, const Codes &codes) {
  constexpr uint32_t depth = 32 / sizeof(Element);
  float values[maxDepth];
  for (uint32_t row = 0; row < rows; ++row) {
    unpack<Element, decode>(values, codes.a[row]);
    for (uint32_t k = 0; k < depth; ++k)
      m.a[row][k] = values[k];
  }
  for (uint32_t column = 0; column < columns; ++column) {
    unpack<Element, decode>(values, codes.b[column]);
    for (uint32_t k = 0; k < depth; ++k)
      m.b[k][column] = values[k];
  }
}

MLAC_VECTORISED static void decodeHalf(Matrices &m, const Codes &codes) {
  decodeAll<uint16_t, decodeF16>(m, codes);
}
MLAC_VECTORISED static void decodeBrain(Matrices &m, const Codes &codes) {
  decodeAll<uint16_t, decodeBf16>(m, codes);
}
MLAC_VECTORISED static void decodeQuarter(Matrices &m, const Codes &codes) {
  decodeAll<uint8_t, decodeE4m3>(m, codes);
}
MLAC_VECTORISED static void decodeWideQuarter(Matrices &m, const Codes &codes) {
  decodeAll<uint8_t, decodeE5m2>(m, codes);
}

/// Four rows at a time hide the latency of the additions.
MLAC_VECTORISED static void accumulate(Matrices &m, uint32_t depth) {
  constexpr uint32_t rowsAtOnce = 4;
  for (uint32_t row = 0; row < rows; row += rowsAtOnce) {
    double sum[rowsAtOnce][columns] = {};
    for (uint32_t k = 0; k < depth; ++k)
      for (uint32_t r = 0; r < rowsAtOnce; ++r)
        for (uint32_t column = 0; column < columns; ++column)
          sum[r][column] += m.a[row + r][k] * m.b[k][column];
    std::memcpy(m.sum[row], sum, sizeof(sum));
  }
}

/// Tensor cores return one NaN.
static float canonical(double value) {
  return std::isnan(value) ? std::bit_cast<float>(0x7FFFFFFFu) : static_cast<float>(value);
}

/// Lane 4g + t holds the columns 2t and 2t+1 of row g, then of row g+8.
static void scatter(const Matrices &m, const MmaFragment (&lanes)[warpSize]) {
  for (uint32_t lane = 0; lane < warpSize; ++lane) {
    for (uint32_t r = 0; r < 4; ++r) {
      double sum = m.sum[lane / 4 + r / 2 * 8][lane % 4 * 2 + r % 2];
      lanes[lane].d[r] = canonical(sum + lanes[lane].c[r]);
    }
  }
}

void mla::emulator::multiply(MmaKind kind, const MmaFragment (&lanes)[warpSize]) {
  using Decode = void (*)(Matrices &, const Codes &);
  static constexpr Decode decoders[mmaKinds] = {decodeHalf, decodeBrain, decodeQuarter, decodeWideQuarter};
  Codes codes;
  Matrices m;
  gather(codes, lanes);
  decoders[static_cast<uint32_t>(kind)](m, codes);
  accumulate(m, kind == MmaKind::F16 || kind == MmaKind::Bf16 ? 16 : 32);
  scatter(m, lanes);
}

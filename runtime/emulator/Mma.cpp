//===- Mma.cpp - mma.sync on the fragments of a warp ----------------------===//

#include "runtime/emulator/Mma.h"
#include "runtime/emulator/Convert.h"

#include <array>
#include <cmath>

using namespace mla::emulator;

namespace {
constexpr uint32_t rows = 16, columns = 8, maxDepth = 32;

/// The operands of one instruction as plain matrices. Doubles hold every product exactly.
struct Matrices {
  double a[rows][maxDepth];
  double b[maxDepth][columns];
  double sum[rows][columns];
};

using DecodeTable = std::array<double, 256>;

DecodeTable makeTable(float (*decode)(uint32_t)) {
  DecodeTable table;
  for (uint32_t code = 0; code < table.size(); ++code)
    table[code] = decode(code);
  return table;
}

const DecodeTable e4m3Table = makeTable(decodeE4m3);
const DecodeTable e5m2Table = makeTable(decodeE5m2);

struct Half {
  static constexpr uint32_t perRegister = 2;
  static double decode(uint32_t bits) { return decodeF16(bits & 0xFFFF); }
};
struct Brain {
  static constexpr uint32_t perRegister = 2;
  static double decode(uint32_t bits) { return decodeBf16(bits & 0xFFFF); }
};
struct E4m3 {
  static constexpr uint32_t perRegister = 4;
  static double decode(uint32_t bits) { return e4m3Table[bits & 0xFF]; }
};
struct E5m2 {
  static constexpr uint32_t perRegister = 4;
  static double decode(uint32_t bits) { return e5m2Table[bits & 0xFF]; }
};
} // namespace

/// Lane 4g + t holds in registers a0..a3 the rows g, g+8, g, g+8 from column t * perRegister, the last two in
/// the second half of K; b0, b1 hold column g from row t * perRegister, b1 in the second half.
template <typename Element>
static void gather(Matrices &m, const MmaFragment (&lanes)[warpSize]) {
  constexpr uint32_t n = Element::perRegister, bits = 32 / n, half = 4 * n;
  for (uint32_t lane = 0; lane < warpSize; ++lane) {
    uint32_t group = lane / 4, first = lane % 4 * n;
    for (uint32_t i = 0; i < n; ++i) {
      for (uint32_t r = 0; r < 4; ++r)
        m.a[group + r % 2 * 8][first + r / 2 * half + i] = Element::decode(lanes[lane].a[r] >> bits * i);
      for (uint32_t r = 0; r < 2; ++r)
        m.b[first + r * half + i][group] = Element::decode(lanes[lane].b[r] >> bits * i);
    }
  }
}

/// Contracting to FMA changes nothing here: the products are exact. Four rows at a time hide the latency of
/// adds.
__attribute__((target_clones("arch=haswell", "default"))) static void accumulate(Matrices &m,
                                                                                 uint32_t depth) {
  constexpr uint32_t rowsAtOnce = 4;
  for (uint32_t row = 0; row < rows; row += rowsAtOnce) {
    double sum[rowsAtOnce][columns] = {};
    for (uint32_t k = 0; k < depth; ++k)
      for (uint32_t r = 0; r < rowsAtOnce; ++r)
        for (uint32_t column = 0; column < columns; ++column)
          sum[r][column] += m.a[row + r][k] * m.b[k][column];
    for (uint32_t r = 0; r < rowsAtOnce; ++r)
      for (uint32_t column = 0; column < columns; ++column)
        m.sum[row + r][column] = sum[r][column];
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

template <typename Element>
static void run(const MmaFragment (&lanes)[warpSize]) {
  Matrices m;
  gather<Element>(m, lanes);
  accumulate(m, 8 * Element::perRegister);
  scatter(m, lanes);
}

void mla::emulator::multiply(MmaKind kind, const MmaFragment (&lanes)[warpSize]) {
  switch (kind) {
  case MmaKind::F16:
    return run<Half>(lanes);
  case MmaKind::Bf16:
    return run<Brain>(lanes);
  case MmaKind::E4m3:
    return run<E4m3>(lanes);
  case MmaKind::E5m2:
    return run<E5m2>(lanes);
  }
}

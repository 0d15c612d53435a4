//===- GemmTest.cpp - A tile through cp.async, ldmatrix and mma -----------===//
//
// The instructions agree with each other: two matrices go through shared memory into fragments the way a
// kernel does it, and the product is right under every seed.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "runtime/emulator/Convert.h"

#include <random>

using namespace mla::emulator;
using namespace mla::emulator::test;

namespace {
constexpr uint32_t M = 64, N = 32, K = 64, warps = M / 16;
constexpr uint32_t stride = 80; ///< Elements between rows in shared memory: a multiple of 8, no power of two.

uint32_t code(std::mt19937 &random) { return encode(f16Format, static_cast<int>(random() % 17) - 8); }

class Gemm : public testing::Test {
protected:
  Gemm()
      : a(static_cast<uint16_t *>(memory.allocate(2 * M * K, "a"))),
        b(static_cast<uint16_t *>(memory.allocate(2 * N * K, "b"))),
        c(static_cast<float *>(memory.allocate(4 * M * N, "c"))) {
    std::mt19937 random(5);
    std::generate_n(a, M * K, [&] { return code(random); });
    std::generate_n(b, N * K, [&] { return code(random); });
  }

  /// Copies `rows` rows of `columns` elements to shared memory, 8 elements at a time.
  static void fetch(uint16_t *dst, const uint16_t *src, uint32_t rows, uint32_t columns) {
    for (uint32_t i = tid(); i < rows * columns / 8; i += 32 * warps) {
      uint32_t row = i / (columns / 8), column = i % (columns / 8) * 8;
      mlac_emu_cp_async(dst + row * stride + column, src + row * columns + column, 16, 16, "fetch");
    }
    mlac_emu_cp_commit("commit");
  }

  /// Row `lane % 8` of the matrix that lane gives the address of, in a 2 x 2 arrangement of 8 x 8 matrices.
  static uint16_t *matrixAddress(uint16_t *origin, bool downFirst) {
    uint32_t matrix = lane() / 8, down = downFirst ? matrix % 2 : matrix / 2,
             right = downFirst ? matrix / 2 : matrix % 2;
    return origin + (down * 8 + lane() % 8) * stride + right * 8;
  }

  /// Each warp multiplies 16 rows of A by all of B. B lies by rows of N (each K long), or by rows of K,
  /// transposed while it is loaded.
  void multiply(bool byRowsOfK) {
    uint16_t *as = shared<uint16_t>(), *bs = as + M * stride;
    fetch(as, a, M, K);
    byRowsOfK ? fetch(bs, b, K, N) : fetch(bs, b, N, K);
    mlac_emu_cp_wait(0, "wait");
    bar();
    uint32_t firstRow = tid() / 32 * 16;
    for (uint32_t n = 0; n < N; n += 16) {
      float sum[2][4] = {};
      for (uint32_t k = 0; k < K; k += 16) {
        uint32_t fa[4], fb[4];
        mlac_emu_ldmatrix(fa, matrixAddress(as + firstRow * stride + k, true), 4, 0, "ldmatrix a");
        if (byRowsOfK)
          mlac_emu_ldmatrix(fb, matrixAddress(bs + k * stride + n, true), 4, 1, "ldmatrix.trans b");
        else
          mlac_emu_ldmatrix(fb, matrixAddress(bs + n * stride + k, false), 4, 0, "ldmatrix b");
        mlac_emu_mma(sum[0], fa, fb, sum[0], 0, "mma left");
        mlac_emu_mma(sum[1], fa, fb + 2, sum[1], 0, "mma right");
      }
      for (uint32_t i = 0; i < 8; ++i) {
        uint32_t row = firstRow + lane() / 4 + i % 4 / 2 * 8, column = n + i / 4 * 8 + lane() % 4 * 2 + i % 2;
        put(c + row * N + column, sum[i / 4][i % 4]);
      }
    }
  }

  void check(bool byRowsOfK) {
    for (uint64_t seed : seeds) {
      run(memory, [&] { multiply(byRowsOfK); },
          {.threads = 32 * warps, .sharedBytes = 2 * stride * (M + K), .seed = seed});
      for (uint32_t row = 0; row < M; ++row)
        for (uint32_t column = 0; column < N; ++column) {
          float expected = 0;
          for (uint32_t k = 0; k < K; ++k)
            expected += decodeF16(a[row * K + k]) * decodeF16(b[byRowsOfK ? k * N + column : column * K + k]);
          ASSERT_EQ(c[row * N + column], expected) << row << " " << column;
        }
    }
  }

  Memory memory;
  uint16_t *a, *b;
  float *c;
};
} // namespace

TEST_F(Gemm, KeysByRow) { check(false); }

TEST_F(Gemm, ValuesTransposedOnTheWay) { check(true); }

#include "TestKernel.h"

#include "runtime/reference/Check.h"
#include "runtime/reference/Formats.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

using namespace mla;
using namespace mla::reference;

namespace {

/// Outputs that are the rounded truth, to be spoiled. The first request is empty.
struct Fixture {
  KernelInfo kernel = test::makeKernel({.heads = 2, .qkDim = 24, .vDim = 16});
  HostOperands operands = makeOperands(kernel, {{1, 2}, {0, 20}, 4, 2});
  Expected expected = evaluate(kernel, operands);
  HostTensor &out = *operands.find(Role::output);
  HostTensor &lse = *operands.find(Role::lse);

  Fixture() {
    for (int64_t token = 0; token < 3; ++token)
      for (int64_t head = 0; head < 2; ++head) {
        int64_t row = token * 2 + head;
        setLse(token, head, expected.lse[row]);
        for (int64_t d = 0; d < 16; ++d)
          setOut(token, head, d, expected.out[row * 16 + d]);
      }
  }

  void setOut(int64_t token, int64_t head, int64_t d, double value) {
    storeCode(DType::bf16, out.data(), out.element(token, head, d), encode(DType::bf16, value));
  }
  void setLse(int64_t token, int64_t head, double value) {
    storeCode(DType::f32, lse.data(), lse.element(token, head), encode(DType::f32, value));
  }
  Report report() { return check(kernel, operands, expected); }
};

} // namespace

TEST(Check, RoundedTruthPasses) {
  Report report = Fixture().report();
  EXPECT_TRUE(report.passed()) << report.toText();
  EXPECT_EQ(report.rows, 6);
  EXPECT_GT(report.maxRowError, 0);
  EXPECT_LT(report.maxRowError, 3e-3);
  EXPECT_LT(report.maxLseError, 1e-6);
}

TEST(Check, OneBadRow) {
  Fixture f;
  f.setOut(2, 1, 3, f.expected.out[5 * 16 + 3] + 1);
  Report report = f.report();
  EXPECT_FALSE(report.passed());
  EXPECT_EQ(report.badRows, 1);
  EXPECT_EQ(report.worstToken, 2);
  EXPECT_EQ(report.worstHead, 1);
}

TEST(Check, UnwrittenOutputFails) {
  Fixture f;
  fillPoison(DType::bf16, f.out.bytes);
  Report report = f.report();
  EXPECT_EQ(report.badRows, 6);
  EXPECT_TRUE(std::isinf(report.maxRowError));
  EXPECT_TRUE(nlohmann::json::parse(report.toJson())["max_row_error"].is_null());
}

TEST(Check, EmptyRowMustBeZero) {
  Fixture f;
  f.setOut(0, 0, 0, 1e-30);
  EXPECT_EQ(f.report().badRows, 1);
}

TEST(Check, InfinityMatchesOnlyItself) {
  for (double wrong : {0.0, -1e30, std::numeric_limits<double>::infinity(), std::nan("")}) {
    Fixture f;
    f.setLse(0, 1, wrong);
    EXPECT_EQ(f.report().badRows, 1) << wrong;
  }
  Fixture f;
  f.setLse(1, 1, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(f.report().badRows, 1);
}

TEST(Check, LseOfAnotherBaseFails) {
  Fixture f;
  f.setLse(1, 0, f.expected.lse[2] / std::log2(std::exp(1.0)));
  EXPECT_EQ(f.report().badRows, 1);
}

TEST(Check, CanariesAndGaps) {
  auto spoiled = [](auto spoil) {
    Fixture f;
    spoil(f);
    return !f.report().canariesIntact;
  };
  EXPECT_FALSE(spoiled([](Fixture &) {}));
  EXPECT_TRUE(spoiled([](Fixture &f) { f.out.bytes.front() = 0; }));
  EXPECT_TRUE(spoiled([](Fixture &f) { f.out.bytes.back() = 0; }));
  EXPECT_TRUE(spoiled([](Fixture &f) { f.setOut(1, 0, 16, 0); }));
  EXPECT_TRUE(spoiled([](Fixture &f) { f.lse.bytes[f.lse.bytes.size() - 1] = 0; }));
}

TEST(Check, Tolerances) {
  EXPECT_EQ(toleranceFor(DType::f16).out, 4e-3);
  EXPECT_EQ(toleranceFor(DType::bf16).out, 1.2e-2);
  EXPECT_EQ(toleranceFor(DType::f16).lse, 2e-3);
}

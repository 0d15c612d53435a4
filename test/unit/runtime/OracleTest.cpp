#include "TestKernel.h"

#include "runtime/reference/Formats.h"
#include "runtime/reference/Oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mla;
using namespace mla::reference;

static constexpr double infinity = std::numeric_limits<double>::infinity();

static void setQuery(HostOperands &operands, int64_t token, int64_t head, const std::vector<double> &values) {
  HostTensor &q = *operands.find(Role::query);
  for (size_t d = 0; d < values.size(); ++d)
    storeCode(q.operand.dtype, q.data(), q.element(token, head, static_cast<int64_t>(d)),
              encode(q.operand.dtype, values[d]));
}

static void setCache(HostOperands &operands, int64_t request, int64_t token,
                     const std::vector<double> &values) {
  HostTensor &kv = *operands.find(Role::cache);
  for (size_t d = 0; d < values.size(); ++d)
    storeCode(kv.operand.dtype, kv.data(), operands.cacheRow(kv, request, token) + static_cast<int64_t>(d),
              encode(kv.operand.dtype, values[d]));
}

static KernelInfo tinyKernel(test::KernelShape shape = {}) {
  shape.heads = 1;
  shape.qkDim = 2;
  shape.vDim = 1;
  shape.vOffset = 1;
  return test::makeKernel(shape);
}

/// One query row (2, 1), cached rows (1, 4) and (-1, 2): scores 0.5 s (6, 0) with s the softmax scale.
static HostOperands tinyOperands(const KernelInfo &kernel) {
  HostOperands operands = makeOperands(kernel, {{1}, {2}, 1, 0});
  setQuery(operands, 0, 0, {2, 1});
  setCache(operands, 0, 0, {1, 4});
  setCache(operands, 0, 1, {-1, 2});
  operands.scalars["sm_scale"] = 0.25f;
  return operands;
}

TEST(Oracle, HandComputed) {
  for (DType type : {DType::e4m3, DType::e5m2, DType::bf16, DType::f16, DType::f32}) {
    KernelInfo kernel = tinyKernel({.cache = type, .lse = LseBase::ln});
    Expected expected = evaluate(kernel, tinyOperands(kernel));
    double e = std::exp(0.5 * 0.25 * 6); // against exp(0)
    ASSERT_EQ(expected.out.size(), 1u);
    EXPECT_NEAR(expected.out[0], 0.5 * (e * 4 + 2) / (e + 1), 1e-12);
    EXPECT_NEAR(expected.lse[0], std::log(e + 1), 1e-12);
  }
}

/// Columns 0 and 1 have a scale of one byte each, column 2 is plain: the value is the second.
TEST(Oracle, RecordsAreDecodedPartByPart) {
  KernelInfo kernel = tinyKernel({.cache = DType::u8, .lse = LseBase::ln});
  kernel.qkDim = 3;
  for (Operand &operand : kernel.operands) {
    if (operand.role == Role::query)
      operand.shape = {1, 3};
    if (operand.role == Role::cache) {
      operand.shape = {6};
      operand.alignment = 2;
      operand.record = {{"a", DType::e4m3, 2, ScaleFormat::ue8m0, 1}, {"b", DType::bf16, 1}};
    }
  }
  HostOperands operands = makeOperands(kernel, {{1}, {1}, 1, 0});
  setQuery(operands, 0, 0, {2, 1, 3});
  HostTensor &kv = *operands.find(Role::cache);
  const uint8_t row[] = {0x38, 0x40, 127 + 3, 127 - 1, 0x80, 0xBF}; // 1 and 2, times 8 and 0.5; -1
  std::ranges::copy(row, kv.data() + operands.cacheRow(kv, 0, 0));
  operands.scalars["sm_scale"] = 0.25f;
  Expected expected = evaluate(kernel, operands);
  EXPECT_EQ(expected.out[0], 0.5 * 1);                                   // kv_scale times 2 * 0.5
  EXPECT_NEAR(expected.lse[0], 0.5 * 0.25 * (2 * 8 + 1 * 1 - 3), 1e-12); // kv_scale, sm_scale
}

/// The same scales, four bytes a token behind the records of the page.
TEST(Oracle, ScalesApartAreFoundAsRecordsAre) {
  KernelInfo kernel = tinyKernel({.cache = DType::u8});
  for (Operand &operand : kernel.operands)
    if (operand.role == Role::cache)
      operand.record = {{"a", DType::e4m3, 2, ScaleFormat::ue8m0, 1, true}};
  HostOperands operands = makeOperands(kernel, {{1}, {3}, 2, 0});
  HostTensor &kv = *operands.find(Role::cache);
  EXPECT_GE(kv.scalesAt, 2 * kv.strideToken);
  EXPECT_GE(kv.stridePage, kv.scalesAt + 2 * kv.strideScaleToken);
  setQuery(operands, 0, 0, {0, 0});
  double sum = 0;
  for (int64_t token = 0; token < 3; ++token) {
    kv.data()[operands.cacheRow(kv, 0, token) + 1] = 0x38;
    kv.data()[operands.scaleRow(kv, 0, token) + 1] = static_cast<uint8_t>(127 + token);
    sum += std::exp2(token);
  }
  EXPECT_NEAR(evaluate(kernel, operands).out[0], 0.5 * sum / 3, 1e-12); // kv_scale
}

TEST(Oracle, LseBaseTwo) {
  KernelInfo kernel = tinyKernel({.lse = LseBase::log2});
  EXPECT_NEAR(evaluate(kernel, tinyOperands(kernel)).lse[0], std::log2(std::exp(0.75) + 1), 1e-12);
}

TEST(Oracle, ScoresBeyondExpRange) {
  KernelInfo kernel = tinyKernel({.lse = LseBase::ln});
  HostOperands operands = tinyOperands(kernel);
  operands.scalars["sm_scale"] = 1000;
  Expected expected = evaluate(kernel, operands);
  EXPECT_NEAR(expected.out[0], 0.5 * 4, 1e-12);
  EXPECT_NEAR(expected.lse[0], 3000, 1e-9);
}

TEST(Oracle, EmptyRows) {
  KernelInfo kernel = test::makeKernel();
  HostOperands operands = makeOperands(kernel, {{2, 1}, {0, 7}, 4, 1});
  Expected expected = evaluate(kernel, operands);
  for (int64_t row = 0; row < 2 * 16; ++row)
    EXPECT_EQ(expected.lse[row], -infinity);
  for (int64_t i = 0; i < 2 * 16 * 512; ++i)
    EXPECT_EQ(expected.out[i], 0);
  EXPECT_TRUE(std::isfinite(expected.lse[2 * 16]));
}

TEST(Oracle, EmptyBatch) {
  KernelInfo kernel = test::makeKernel();
  Expected expected = evaluate(kernel, makeOperands(kernel, {{}, {}, 4, 1}));
  EXPECT_TRUE(expected.out.empty());
}

/// With q = 0 every visible row weighs the same, and one-hot values show which are visible.
static void expectCausal(int32_t qLen, int32_t kvLen) {
  KernelInfo kernel = test::makeKernel(
      {.heads = 2, .qkDim = 8, .vDim = 8, .causal = true, .cache = DType::f16, .lse = LseBase::log2});
  HostOperands operands = makeOperands(kernel, {{qLen}, {kvLen}, 2, 3});
  for (int64_t i = 0; i < qLen; ++i)
    for (int64_t head = 0; head < 2; ++head)
      setQuery(operands, i, head, std::vector<double>(8, 0.0));
  for (int64_t j = 0; j < kvLen; ++j) {
    std::vector<double> oneHot(8, 0.0);
    oneHot[j] = 1;
    setCache(operands, 0, j, oneHot);
  }
  Expected expected = evaluate(kernel, operands);
  for (int64_t i = 0; i < qLen; ++i) {
    int64_t visible = std::max<int64_t>(0, i + kvLen - qLen + 1);
    for (int64_t row : {2 * i, 2 * i + 1}) {
      EXPECT_DOUBLE_EQ(expected.lse[row], std::log2(visible));
      for (int64_t j = 0; j < 8; ++j)
        EXPECT_DOUBLE_EQ(expected.out[row * 8 + j], j < visible ? 0.5 / visible : 0) << i << " sees " << j;
    }
  }
}

TEST(Oracle, CausalIsBottomRight) {
  expectCausal(2, 3);
  expectCausal(5, 6);
  expectCausal(1, 4);
  expectCausal(4, 4);
  expectCausal(5, 3); // two rows see nothing
}

TEST(Oracle, PagingDoesNotMatter) {
  KernelInfo paged = test::makeKernel({.causal = true});
  KernelInfo ragged = test::makeKernel({.causal = true, .layout = Layout::ragged});
  HostOperands a = makeOperands(paged, {{2, 3}, {50, 7}, 3, 6}),
               b = makeOperands(ragged, {{2, 3}, {50, 7}, 3, 6});
  b.find(Role::query)->bytes = a.find(Role::query)->bytes;
  HostTensor &from = *a.find(Role::cache), &to = *b.find(Role::cache);
  for (int64_t r = 0; r < 2; ++r)
    for (int64_t token = 0; token < a.shape.kvLens[r]; ++token)
      std::copy_n(from.data() + a.cacheRow(from, r, token), 576, to.data() + b.cacheRow(to, r, token));
  EXPECT_EQ(evaluate(paged, a).out, evaluate(ragged, b).out);
}

TEST(Oracle, ThreadsDoNotMatter) {
  KernelInfo kernel = test::makeKernel();
  HostOperands operands = makeOperands(kernel, {{2, 3}, {50, 7}, 3, 6});
  Expected one = evaluate(kernel, operands, 1), four = evaluate(kernel, operands, 4);
  EXPECT_EQ(one.out, four.out);
  EXPECT_EQ(one.lse, four.lse);
}

#include "TestKernel.h"

#include "runtime/reference/Formats.h"
#include "runtime/reference/Operands.h"

#include <cmath>
#include <set>

using namespace mla;
using namespace mla::reference;

static const BatchShape shape{{1, 0, 3, 2}, {13, 5, 0, 129}, 4, 11};

/// Elements of a tensor that its requests own.
static std::set<int64_t> ownedElements(const HostOperands &operands, const HostTensor &tensor) {
  std::set<int64_t> owned;
  auto add = [&](int64_t first, int64_t count) {
    for (int64_t d = 0; d < count; ++d)
      EXPECT_TRUE(owned.insert(first + d).second) << "element owned twice";
  };
  if (tensor.operand.role == Role::cache) {
    for (int64_t r = 0; r < operands.batch(); ++r)
      for (int64_t token = 0; token < operands.shape.kvLens[r]; ++token)
        add(operands.cacheRow(tensor, r, token), tensor.operand.shape[0]);
    return owned;
  }
  int64_t dims = tensor.operand.shape.size() > 1 ? tensor.operand.shape[1] : 1;
  for (int64_t token = 0; token < tensor.tokens; ++token)
    for (int64_t head = 0; head < tensor.operand.shape[0]; ++head)
      add(tensor.element(token, head), dims);
  return owned;
}

/// Everything but owned elements is poison; owned ones are finite, or poison too for an output.
static void expectPoisonedAround(const HostOperands &operands, const HostTensor &tensor) {
  DType type = tensor.operand.dtype;
  int64_t size = bytes(type);
  bool output = tensor.operand.role == Role::output || tensor.operand.role == Role::lse;
  std::set<int64_t> owned = ownedElements(operands, tensor);
  int64_t first = -tensor.offset / size;
  int64_t end = (static_cast<int64_t>(tensor.bytes.size()) - tensor.offset) / size;
  for (int64_t element = first; element < end; ++element) {
    uint32_t code = loadCode(type, tensor.data(), element);
    if (owned.count(element) && !output)
      ASSERT_TRUE(std::isfinite(decode(type, code))) << tensor.operand.name << " " << element;
    else
      ASSERT_EQ(code, poisonCode(type)) << tensor.operand.name << " " << element;
  }
  if (!owned.empty()) {
    EXPECT_LT(*owned.rbegin(), end);
  }
}

static void expectHostile(const KernelInfo &kernel) {
  HostOperands operands = makeOperands(kernel, shape);
  EXPECT_EQ(operands.tensors.size(), 4u);
  for (const HostTensor &tensor : operands.tensors) {
    expectPoisonedAround(operands, tensor);
    int64_t size = bytes(tensor.operand.dtype);
    EXPECT_EQ(tensor.offset % tensor.operand.alignment, 0);
    for (int64_t stride : {tensor.strideToken, tensor.strideHead, tensor.stridePage})
      EXPECT_EQ(stride * size % tensor.operand.alignment, 0) << tensor.operand.name;
  }
}

TEST(Operands, PagedIsPoisonedOutsideRequests) {
  for (DType type : {DType::e4m3, DType::e5m2, DType::bf16, DType::f16, DType::f32})
    expectHostile(test::makeKernel({.heads = 3, .qkDim = 36, .vDim = 20, .cache = type}));
}

TEST(Operands, RaggedIsPoisonedOutsideRequests) {
  expectHostile(test::makeKernel({.heads = 3, .qkDim = 36, .vDim = 20, .layout = Layout::ragged}));
}

TEST(Operands, StridesDifferFromTheShape) {
  HostOperands operands = makeOperands(test::makeKernel(), shape);
  const HostTensor &q = *operands.find(Role::query), &kv = *operands.find(Role::cache);
  EXPECT_GT(q.strideHead, 576);
  EXPECT_GT(q.strideToken, 16 * q.strideHead);
  EXPECT_GT(kv.strideToken, 576);
  EXPECT_GT(kv.stridePage, 4 * kv.strideToken);
}

TEST(Operands, TableHasSentinelsAndSomePagesAreNobodys) {
  HostOperands operands = makeOperands(test::makeKernel(), shape);
  std::set<int32_t> used;
  for (int64_t r = 0; r < operands.batch(); ++r)
    for (int64_t slot = 0; slot < operands.tableStride; ++slot) {
      int32_t page = operands.table[r * operands.tableStride + slot];
      if (slot >= (shape.kvLens[r] + 3) / 4) {
        EXPECT_EQ(page, unusedPage);
      } else {
        EXPECT_TRUE(used.insert(page).second) << "page shared";
        EXPECT_LT(page, operands.pages);
      }
    }
  EXPECT_LT(static_cast<int64_t>(used.size()), operands.pages);
  EXPECT_GT(operands.tableStride, operands.tableColumns);
}

TEST(Operands, PagesAreShuffled) {
  HostOperands operands = makeOperands(test::makeKernel(), {{1}, {1000}, 1, 5});
  int neighbours = 0;
  for (size_t slot = 1; slot < 1000; ++slot)
    neighbours += operands.table[slot] == operands.table[slot - 1] + 1;
  EXPECT_LT(neighbours, 20);
}

TEST(Operands, ValuesAreStandardNormal) {
  HostOperands operands = makeOperands(test::makeKernel(), {{4}, {300}, 64, 9});
  const HostTensor &kv = *operands.find(Role::cache);
  double sum = 0, squares = 0;
  for (int64_t token = 0; token < 300; ++token)
    for (int64_t d = 0; d < 576; ++d) {
      double value =
          decode(DType::e4m3, loadCode(DType::e4m3, kv.data(), operands.cacheRow(kv, 0, token) + d));
      sum += value;
      squares += value * value;
    }
  double count = 300 * 576;
  EXPECT_NEAR(sum / count, 0, 0.02);
  EXPECT_NEAR(squares / count, 1, 0.03);
}

TEST(Operands, ScalarsByTheirRole) {
  HostOperands operands = makeOperands(test::makeKernel(), shape);
  EXPECT_FLOAT_EQ(operands.scalars.at("kv_scale"), 0.5f);
  EXPECT_FLOAT_EQ(operands.scalars.at("sm_scale"), 0.0721688f);
  EXPECT_NEAR(operands.evaluate({2, {"kv_scale", "sm_scale"}}), 0.0721688, 1e-7);
}

TEST(Operands, SameSeedSameBytes) {
  BatchShape other = shape;
  other.seed = 12;
  auto bytesOf = [&](const BatchShape &s) {
    return makeOperands(test::makeKernel(), s).find(Role::cache)->bytes;
  };
  EXPECT_EQ(bytesOf(shape), bytesOf(shape));
  EXPECT_NE(bytesOf(shape), bytesOf(other));
}

TEST(Operands, EmptyBatches) {
  for (const BatchShape &empty : {BatchShape{{}, {}, 64, 0}, BatchShape{{0, 0}, {0, 0}, 64, 0}}) {
    HostOperands operands = makeOperands(test::makeKernel(), empty);
    EXPECT_EQ(operands.queryTokens(), 0);
    EXPECT_EQ(operands.table.size(), empty.qLens.size() * operands.tableStride);
  }
}

TEST(Operands, BadShapesAreRefused) {
  using Code = Error::Code;
  KernelInfo kernel = test::makeKernel();
  test::expectError(Code::kvLenSize, [&] { makeOperands(kernel, {{1, 1}, {1}, 64, 0}); });
  test::expectError(Code::pageSize, [&] { makeOperands(kernel, {{1}, {1}, 0, 0}); });
  test::expectError(Code::indptrOrder, [&] { makeOperands(kernel, {{-1}, {1}, 64, 0}); });
  test::expectError(Code::tooLarge, [&] { makeOperands(kernel, {{1, 1}, {0x7FFFFFFF, 1}, 64, 0}); });
}

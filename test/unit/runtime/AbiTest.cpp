#include "TestKernel.h"

#include <limits>
#include <random>

using namespace mla;

static int64_t divide(int64_t token, const PageDivision &division) {
  return static_cast<int64_t>((static_cast<uint64_t>(token) * division.magic) >> (31 + division.shift));
}

/// Tokens where a wrong magic number shows first: around multiples of the page size, and the largest.
static void checkDivision(int32_t pageSize) {
  PageDivision division = pageDivision(pageSize);
  constexpr int64_t largest = std::numeric_limits<int32_t>::max();
  int64_t lastMultiple = largest / pageSize * pageSize;
  for (int64_t base :
       {int64_t{0}, int64_t{pageSize}, int64_t{1} << 20, lastMultiple / 2 / pageSize * pageSize,
        lastMultiple - pageSize, lastMultiple, largest})
    for (int64_t token = std::max<int64_t>(0, base - 2); token <= std::min(largest, base + 2); ++token)
      ASSERT_EQ(divide(token, division), token / pageSize) << token << " / " << pageSize;
}

TEST(PageDivision, EverySmallPageSize) {
  for (int32_t pageSize = 1; pageSize <= 70000; ++pageSize)
    checkDivision(pageSize);
}

TEST(PageDivision, LargePageSizes) {
  for (int bit = 16; bit < 31; ++bit)
    for (int32_t offset : {-1, 0, 1})
      checkDivision((int32_t{1} << bit) + offset);
  checkDivision(std::numeric_limits<int32_t>::max());
  std::mt19937 random(1);
  std::uniform_int_distribution<int32_t> any(1, std::numeric_limits<int32_t>::max());
  for (int i = 0; i < 20000; ++i)
    checkDivision(any(random));
}

TEST(PageDivision, EveryTokenOfCommonPageSizes) {
  for (int32_t pageSize : {1, 2, 3, 16, 64, 100}) {
    PageDivision division = pageDivision(pageSize);
    for (int64_t token = 0; token < 1'000'000; ++token)
      ASSERT_EQ(divide(token, division), token / pageSize);
  }
}

TEST(Params, PagedCacheVocabulary) {
  KernelInfo kernel = test::makeKernel();
  EXPECT_EQ(paramType(kernel, "kv.data"), ParamType::pointer);
  EXPECT_EQ(paramType(kernel, "kv.stride_page"), ParamType::i64);
  EXPECT_EQ(paramType(kernel, "kv.page_magic"), ParamType::i32);
  EXPECT_EQ(paramType(kernel, "sm_scale"), ParamType::f32);
  EXPECT_EQ(paramType(kernel, "plan.work"), ParamType::pointer);
  EXPECT_EQ(paramType(kernel, "kv.indptr"), std::nullopt);
  EXPECT_EQ(paramType(kernel, "q.table"), std::nullopt);
  EXPECT_EQ(paramType(kernel, "kv"), std::nullopt);
}

TEST(Params, RaggedCacheVocabulary) {
  KernelInfo kernel = test::makeKernel({.layout = Layout::ragged});
  EXPECT_EQ(paramType(kernel, "kv.indptr"), ParamType::pointer);
  EXPECT_EQ(paramType(kernel, "kv.table"), std::nullopt);
}

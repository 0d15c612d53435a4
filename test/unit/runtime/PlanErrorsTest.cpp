#include "TestKernel.h"

#include <limits>

using namespace mla;
using test::Batch;
using test::expectError;
using Code = Error::Code;

namespace {

constexpr int32_t int32Max = std::numeric_limits<int32_t>::max();

/// A good batch of three requests to spoil.
struct Fixture {
  Batch batch{{1, 2, 1}, {100, 0, 64}};
  KernelInfo kernel = test::makeKernel();

  template <typename Spoil>
  Error plan(Code code, Spoil spoil) {
    PlanRequest request = batch.request(8);
    spoil(request);
    return expectError(code, [&] { makePlan(kernel, request); });
  }
};

} // namespace

TEST(PlanErrors, TheFixtureIsGood) {
  Fixture f;
  EXPECT_NO_THROW(makePlan(f.kernel, f.batch.request(8)));
}

TEST(PlanErrors, IndptrEmpty) {
  Fixture().plan(Code::indptrSize, [](PlanRequest &r) { r.qIndptr = {}; });
}

TEST(PlanErrors, IndptrStart) {
  Fixture f;
  f.batch.qIndptr = {1, 2, 3, 4};
  EXPECT_EQ(f.plan(Code::indptrStart, [](PlanRequest &) {}).field, "q_indptr[0]");
}

TEST(PlanErrors, IndptrOrder) {
  Fixture f;
  f.batch.qIndptr = {0, 3, 1, 4};
  Error error = f.plan(Code::indptrOrder, [](PlanRequest &) {});
  EXPECT_EQ(error.field, "q_indptr[2]");
  EXPECT_EQ(error.value, "1");
  EXPECT_NE(std::string(error.what()).find("q_indptr[1] = 3"), std::string::npos) << error.what();
}

TEST(PlanErrors, IndptrEnd) {
  Error error = Fixture().plan(Code::indptrEnd, [](PlanRequest &r) { r.queryTokens = 5; });
  EXPECT_EQ(error.value, "4");
}

TEST(PlanErrors, KvLenSize) {
  Fixture f;
  f.batch.kvLens.pop_back();
  f.plan(Code::kvLenSize, [](PlanRequest &) {});
}

TEST(PlanErrors, KvLenNegative) {
  Fixture f;
  f.batch.kvLens[1] = -1;
  EXPECT_EQ(f.plan(Code::kvLenNegative, [](PlanRequest &) {}).field, "kv_len[1]");
}

TEST(PlanErrors, KvLenBeyondTable) {
  Error error = Fixture().plan(Code::kvLenBeyondTable, [](PlanRequest &r) { r.tableColumns = 1; });
  EXPECT_EQ(error.field, "kv_len[0]");
  EXPECT_NE(error.allowed.find("1 table columns x 64"), std::string::npos) << error.what();
}

TEST(PlanErrors, KvLenMismatchOfRaggedCache) {
  Fixture f;
  f.kernel = test::makeKernel({.layout = Layout::ragged});
  f.batch.cacheIndptr = {0, 100, 101, 165};
  EXPECT_EQ(f.plan(Code::kvLenMismatch, [](PlanRequest &) {}).field, "kv_len[1]");
}

TEST(PlanErrors, RaggedIndptrOfAnotherBatch) {
  Fixture f;
  f.kernel = test::makeKernel({.layout = Layout::ragged});
  f.batch.cacheIndptr.pop_back();
  f.plan(Code::indptrSize, [](PlanRequest &) {});
}

TEST(PlanErrors, PageSize) {
  for (int32_t size : {0, -64})
    Fixture().plan(Code::pageSize, [&](PlanRequest &r) { r.pageSize = size; });
}

TEST(PlanErrors, TableColumns) {
  Fixture().plan(Code::tableGeometry, [](PlanRequest &r) { r.tableColumns = -1; });
}

TEST(PlanErrors, PoolSize) {
  for (int64_t pages : {int64_t{-1}, int64_t{0}, int64_t{1} << 31})
    Fixture().plan(Code::poolSize, [&](PlanRequest &r) { r.pages = pages; });
}

TEST(PlanErrors, Blocks) {
  for (int blocks : {0, -3})
    Fixture().plan(Code::blockCount, [&](PlanRequest &r) { r.blocks = blocks; });
}

TEST(PlanErrors, TooManyRows) {
  Fixture f;
  f.batch.qIndptr = {0, int32Max / 16, int32Max / 16, int32Max / 16};
  f.plan(Code::tooLarge, [](PlanRequest &) {});
}

TEST(PlanErrors, TooLongAContext) {
  Fixture f;
  f.batch.kvLens[0] = int32Max;
  f.plan(Code::tooLarge, [](PlanRequest &r) { r.tableColumns = int32Max; });
}

TEST(PlanErrors, TooManyRowTiles) {
  Fixture f;
  f.kernel = test::makeKernel({.heads = 128, .tileRows = 1});
  f.batch.qIndptr = {0, 16'000'000, 32'000'000, 32'000'000};
  EXPECT_EQ(f.plan(Code::tooLarge, [](PlanRequest &) {}).field, "row tiles of the batch");
}

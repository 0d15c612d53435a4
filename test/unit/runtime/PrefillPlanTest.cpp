// The work list of prefill: every row tile of every KV head once and whole, longest first, evenly over the
// blocks.
#include "TestKernel.h"

#include "runtime/reference/Oracle.h"

#include <cmath>
#include <cstring>
#include <set>

using namespace mla;
using test::Batch;
using test::expectError;

namespace {

KernelInfo prefillKernel(int heads, int kvHeads, bool causal) {
  return test::makePrefillKernel({.heads = heads, .kvHeads = kvHeads, .causal = causal});
}

Plan planOf(const KernelInfo &kernel, const Batch &batch, int blocks) {
  return makePlan(kernel, batch.request(blocks));
}

} // namespace

TEST(PrefillPlan, EveryRowTileOfEveryHeadOnce) {
  KernelInfo kernel = prefillKernel(6, 2, true);
  Batch batch({0, 1, 43, 200, 5}, {7, 1, 100, 200, 0});
  Plan plan = planOf(kernel, batch, 5);
  std::set<std::tuple<int, int, int>> seen;
  for (const WorkItem &item : plan.work) {
    int64_t qLen = batch.qIndptr[item.request + 1] - batch.qIndptr[item.request],
            kvLen = batch.kvLens[item.request];
    EXPECT_TRUE(seen.insert({item.request, item.head, item.row_begin}).second);
    EXPECT_EQ(item.row_begin % kernel.tile.rows, 0);
    EXPECT_LT(item.row_begin, qLen * 3);
    EXPECT_EQ(item.kv_begin, batch.cacheIndptr[item.request]);
    EXPECT_EQ(item.slot, -1);
    // The last row's token sees the most.
    int64_t lastToken = (std::min<int64_t>(item.row_begin + kernel.tile.rows, qLen * 3) - 1) / 3;
    int64_t visible = std::max<int64_t>(0, std::min<int64_t>(kvLen, lastToken + kvLen - qLen + 1));
    EXPECT_EQ(item.tile_begin, 0);
    EXPECT_EQ(item.tile_end, (visible + kernel.tile.tokens - 1) / kernel.tile.tokens);
  }
  size_t tiles = 0;
  for (size_t r = 0; r < batch.kvLens.size(); ++r)
    tiles += 2 * static_cast<size_t>((3 * (batch.qIndptr[r + 1] - batch.qIndptr[r]) + kernel.tile.rows - 1) /
                                     kernel.tile.rows);
  EXPECT_EQ(seen.size(), tiles);
  EXPECT_EQ(plan.grid, 5);
  EXPECT_EQ(plan.workIndptr.front(), 0);
  EXPECT_EQ(plan.workIndptr.back(), static_cast<int32_t>(plan.work.size()));
  EXPECT_EQ(plan.combineGrid, 0);
  EXPECT_EQ(plan.partialOutBytes + plan.partialLseBytes, 0);
}

TEST(PrefillPlan, LongestFirstAndEvenly) {
  KernelInfo kernel = prefillKernel(16, 16, true);
  Plan plan = planOf(kernel, Batch({8192}, {8192}), 264);
  int64_t least = INT64_MAX, most = 0;
  for (int64_t block = 0; block < plan.grid; ++block) {
    int64_t tiles = 0, before = INT64_MAX;
    for (int32_t i = plan.workIndptr[block]; i < plan.workIndptr[block + 1]; ++i) {
      EXPECT_LE(plan.work[i].tile_end, before);
      before = plan.work[i].tile_end;
      tiles += before;
    }
    least = std::min(least, tiles);
    most = std::max(most, tiles);
  }
  EXPECT_LE(double(most), 1.05 * double(plan.tiles) / double(plan.grid));
  EXPECT_GE(double(least), 0.9 * double(plan.tiles) / double(plan.grid));
}

TEST(PrefillPlan, NothingToDo) {
  KernelInfo kernel = prefillKernel(4, 4, true);
  EXPECT_EQ(planOf(kernel, Batch({}, {}), 8).grid, 0);
  EXPECT_EQ(planOf(kernel, Batch({0, 0}, {5, 0}), 8).grid, 0);
  Plan empty = planOf(kernel, Batch({3}, {0}), 8); // rows without a token: outputs to be written
  EXPECT_EQ(empty.grid, 4);
  EXPECT_EQ(empty.tiles, 0);
}

TEST(PrefillPlan, RefusesIndptrsThatDoNotFit) {
  KernelInfo kernel = prefillKernel(4, 4, true);
  Batch batch({3, 4}, {3, 4});
  batch.cacheIndptr = {0, 3, 8};
  Error error = expectError(Error::Code::kvLenMismatch, [&] { planOf(kernel, batch, 2); });
  EXPECT_EQ(error.field, "kv_len[1]");
  batch.cacheIndptr = {0, 3};
  expectError(Error::Code::indptrSize, [&] { planOf(kernel, batch, 2); });
}

/// By hand: two KV heads, four heads, two tokens; the second token of the request sees both.
TEST(PrefillOracle, HeadsReadTheirOwnKeysAndValues) {
  KernelInfo kernel =
      test::makePrefillKernel({.heads = 4, .kvHeads = 2, .qkDim = 1, .vDim = 1, .causal = true});
  reference::HostOperands operands = reference::makeOperands(kernel, {{2}, {2}, 1, 1});
  operands.scalars["sm_scale"] = 1;
  auto set = [&](Role role, int64_t token, int64_t head, uint32_t bf16) {
    reference::HostTensor &tensor = *operands.find(role);
    uint16_t code = static_cast<uint16_t>(bf16);
    std::memcpy(tensor.data() + 2 * tensor.element(token, head), &code, 2);
  };
  constexpr uint32_t one = 0x3F80, two = 0x4000, zero = 0;
  for (int64_t token : {0, 1})
    for (int64_t head = 0; head < 4; ++head)
      set(Role::query, token, head, one);
  for (int64_t head : {0, 1}) {
    set(Role::key, 0, head, zero);
    set(Role::key, 1, head, head ? two : one);
    set(Role::value, 0, head, zero);
    set(Role::value, 1, head, head ? two : one);
  }
  reference::Expected expected = evaluate(kernel, operands);
  for (int64_t head = 0; head < 4; ++head) {
    double key = head < 2 ? 1 : 2, weight = std::exp(key) / (std::exp(key) + 1);
    EXPECT_EQ(expected.out[head], 0) << "the first token sees the first row alone";
    EXPECT_NEAR(expected.out[4 + head], weight * key, 1e-12);
    EXPECT_NEAR(expected.lse[4 + head], std::log2(std::exp(key) + 1), 1e-12);
  }
}

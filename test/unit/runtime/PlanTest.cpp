#include "TestKernel.h"

#include <map>
#include <random>
#include <set>

using namespace mla;
using test::Batch;

namespace {

/// (request, first row) of a row tile.
using RowTile = std::pair<int32_t, int32_t>;

/// Tiles each row tile needs, computed from the definition: the last KV tile any of its rows can see.
std::map<RowTile, int64_t> expectedTiles(const KernelInfo &kernel, const Batch &batch) {
  std::map<RowTile, int64_t> expected;
  for (int32_t r = 0; r < static_cast<int32_t>(batch.kvLens.size()); ++r) {
    int64_t qLen = batch.qIndptr[r + 1] - batch.qIndptr[r];
    for (int64_t row = 0; row < qLen * kernel.heads; ++row) {
      int64_t token = row / kernel.heads;
      int64_t lastSeen = batch.kvLens[r] - 1;
      if (kernel.causal)
        lastSeen = std::min(lastSeen, token + batch.kvLens[r] - qLen);
      int64_t tiles = lastSeen < 0 ? 0 : lastSeen / kernel.tile.tokens + 1;
      auto begin = static_cast<int32_t>(row / kernel.tile.rows * kernel.tile.rows);
      int64_t &most = expected[{r, begin}];
      most = std::max(most, tiles);
    }
  }
  return expected;
}

/// Tiles before the first that any row of the row tile sees.
std::map<RowTile, int64_t> expectedSkips(const KernelInfo &kernel, const Batch &batch) {
  std::map<RowTile, int64_t> skips = expectedTiles(kernel, batch);
  for (auto &[tile, end] : skips) {
    int64_t qLen = batch.qIndptr[tile.first + 1] - batch.qIndptr[tile.first];
    int64_t position = tile.second / kernel.heads + batch.kvLens[tile.first] - qLen;
    int64_t first = kernel.window < 0 ? 0 : std::max<int64_t>(position - kernel.window, 0);
    end = std::min(end, first / kernel.tile.tokens);
  }
  return skips;
}

void expectCover(const KernelInfo &kernel, const Batch &batch, const Plan &plan) {
  // Items of a row tile come in order, so covering is appending.
  std::map<RowTile, int64_t> done = expectedSkips(kernel, batch);
  int64_t skipped = 0;
  for (const auto &[tile, count] : done)
    skipped += count;
  EXPECT_EQ(plan.skippedTiles, skipped);
  for (const WorkItem &item : plan.work) {
    RowTile tile{item.request, item.row_begin};
    EXPECT_EQ(item.tile_begin, done[tile]);
    EXPECT_LE(item.tile_begin, item.tile_end);
    done[tile] = item.tile_end;
  }
  EXPECT_EQ(done, expectedTiles(kernel, batch));
}

void expectSlots(const Plan &plan) {
  std::map<RowTile, std::vector<int32_t>> slots;
  for (const WorkItem &item : plan.work)
    slots[{item.request, item.row_begin}].push_back(item.slot);
  std::set<int32_t> used;
  for (const MergeItem &merge : plan.merges) {
    std::vector<int32_t> contiguous;
    for (int32_t slot = merge.slot_begin; slot < merge.slot_end; ++slot) {
      contiguous.push_back(slot);
      EXPECT_TRUE(used.insert(slot).second) << "slot " << slot << " used twice";
    }
    EXPECT_GE(contiguous.size(), 2u);
    EXPECT_EQ((slots[{merge.request, merge.row_begin}]), contiguous);
    slots.erase({merge.request, merge.row_begin});
  }
  EXPECT_EQ(static_cast<int64_t>(used.size()), plan.slots);
  for (const auto &[tile, list] : slots)
    EXPECT_EQ(list, std::vector<int32_t>{-1});
}

/// What an item's start costs, in tiles.
int64_t startTiles(const KernelInfo &kernel) {
  return (itemStartTokens + kernel.tile.tokens - 1) / kernel.tile.tokens;
}

void expectBlocks(const KernelInfo &kernel, const Plan &plan, int blocks, int64_t slack) {
  auto cost = [&](const WorkItem &item) { return startTiles(kernel) + item.tile_end - item.tile_begin; };
  ASSERT_EQ(static_cast<int64_t>(plan.workIndptr.size()), plan.grid + 1);
  EXPECT_LE(plan.grid, blocks);
  EXPECT_EQ(plan.workIndptr.back(), static_cast<int64_t>(plan.work.size()));
  int64_t total = 0, largest = 0;
  for (int64_t block = 0; block < plan.grid; ++block) {
    EXPECT_LT(plan.workIndptr[block], plan.workIndptr[block + 1]) << "an idle block";
    int64_t load = 0;
    for (int32_t i = plan.workIndptr[block]; i < plan.workIndptr[block + 1]; ++i)
      load += cost(plan.work[i]);
    total += load;
    largest = std::max(largest, load);
  }
  EXPECT_LE(largest, (total + blocks - 1) / blocks + slack);
}

void expectSizes(const KernelInfo &kernel, const Plan &plan) {
  EXPECT_EQ(plan.partialLseBytes, plan.slots * kernel.tile.rows * 4);
  EXPECT_EQ(plan.partialOutBytes, plan.slots * kernel.tile.rows * kernel.vDim * 4);
  int64_t rows = static_cast<int64_t>(plan.merges.size()) * kernel.tile.rows;
  bool small = plan.slots <= combineSmallSlots * static_cast<int64_t>(plan.merges.size());
  EXPECT_EQ(plan.combineThreads, small ? combineSmallThreads : kernel.combine.threads);
  EXPECT_EQ(plan.combineGrid, small ? rows : rows * ((kernel.vDim + 127) / 128));
}

Batch randomBatch(std::mt19937 &random) {
  auto upTo = [&](int limit) { return static_cast<int32_t>(random() % (limit + 1)); };
  int limit = random() % 2 ? 5000 : 200;
  std::vector<int32_t> qLens(upTo(12)), kvLens(qLens.size());
  for (size_t i = 0; i < qLens.size(); ++i) {
    qLens[i] = upTo(5);
    kvLens[i] = random() % 4 ? upTo(limit) : 0;
  }
  return Batch(qLens, kvLens, 1 + upTo(128));
}

} // namespace

TEST(Plan, RandomBatchesAreCoveredOnceAndEvenly) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    KernelInfo kernel = test::makeKernel({.heads = 1 + static_cast<int>(random() % 40),
                                          .tileRows = 8 << (random() % 4),
                                          .tileTokens = 16 << (random() % 3),
                                          .causal = random() % 2 == 0});
    if (random() % 2)
      kernel.window = static_cast<int64_t>(random() % (random() % 2 ? 100 : 4000));
    Batch batch = randomBatch(random);
    int blocks = 1 + static_cast<int>(random() % 140);
    PlanRequest request = batch.request(blocks);
    request.minTilesPerPiece = 1 + static_cast<int>(random() % 4);
    Plan plan = makePlan(kernel, request);
    expectCover(kernel, batch, plan);
    expectSlots(plan);
    // A cut moves by less than the least piece and a start, and the two cuts of a block can part; whole row tiles may take more.
    int64_t merge = (mergeTokens(kernel.tile.rows) + kernel.tile.tokens - 1) / kernel.tile.tokens;
    expectBlocks(kernel, plan, blocks, std::max(2 * (request.minTilesPerPiece + startTiles(kernel)) + 1, merge + 1));
    expectSizes(kernel, plan);
    if (HasFailure())
      FAIL() << "round " << round;
  }
}

TEST(Plan, UnsplitPlansHaveNoPartials) {
  std::mt19937 random(8);
  KernelInfo kernel = test::makeKernel();
  for (int round = 0; round < 200; ++round) {
    Batch batch = randomBatch(random);
    PlanRequest request = batch.request(20);
    request.split = false;
    Plan plan = makePlan(kernel, request);
    expectCover(kernel, batch, plan);
    EXPECT_EQ(plan.slots, 0);
    EXPECT_TRUE(plan.merges.empty());
  }
}

TEST(Plan, KernelWithoutCombineIsNotSplit) {
  KernelInfo kernel = test::makeKernel();
  kernel.combine = {};
  EXPECT_EQ(makePlan(kernel, Batch({1}, {8192}).request(132)).slots, 0);
}

TEST(Plan, OneLongRequestUsesEveryBlock) {
  Plan plan = makePlan(test::makeKernel(), Batch({1}, {128 * 1024}).request(132));
  EXPECT_EQ(plan.grid, 132);
  ASSERT_EQ(plan.merges.size(), 1u);
  EXPECT_EQ(plan.slots, 132);
}

TEST(Plan, ShortRequestsAreNotSplit) {
  Plan plan = makePlan(test::makeKernel(),
                       Batch(std::vector<int32_t>(40, 1), std::vector<int32_t>(40, 130)).request(132));
  EXPECT_EQ(plan.grid, 40);
  EXPECT_EQ(plan.slots, 0);
}

/// Two tiles, unless blocks would stand idle.
TEST(Plan, PiecesOfALoneRequestHoldTheLeast) {
  for (int32_t tiles = 1; tiles < 600; ++tiles) {
    Plan plan = makePlan(test::makeKernel(), Batch({1}, {tiles * 64}).request(132));
    for (const WorkItem &item : plan.work)
      if (item.slot >= 0) {
        EXPECT_GE(item.tile_end - item.tile_begin, tiles / 2 >= 132 ? 2 : 1) << tiles;
      }
    if (tiles >= 8) { // fewer gain less than a merge costs
      EXPECT_GE(plan.grid, std::min(tiles, 132) * 8 / 10) << tiles;
    }
  }
}

/// Blocks of whole requests, 2 at most, take 2 x (16 + 2) tiles where even ones take 34.9: no more beyond than a merge costs.
TEST(Plan, RequestsStayWholeWhereCutsGainLittle) {
  Plan plan = makePlan(test::makeKernel(),
                       Batch(std::vector<int32_t>(256, 1), std::vector<int32_t>(256, 1024)).request(132));
  EXPECT_EQ(plan.slots, 0);
  EXPECT_GE(plan.grid, 128);
}

/// A block with two items gets fewer tiles than one with a single one.
TEST(Plan, StartsCount) {
  Plan plan = makePlan(test::makeKernel(), Batch({1, 1}, {64 * 250, 64 * 150}).request(4));
  ASSERT_EQ(plan.work.size(), 5u);
  std::vector<int32_t> tiles;
  for (const WorkItem &item : plan.work)
    tiles.push_back(item.tile_end - item.tile_begin);
  EXPECT_EQ(tiles[0] + tiles[1] + tiles[2], 250);
  EXPECT_LT(tiles[2] + tiles[3], tiles[0]);
}

TEST(Plan, EqualRequestsThatFillTheDeviceStayWhole) {
  Plan plan = makePlan(test::makeKernel(),
                       Batch(std::vector<int32_t>(64, 1), std::vector<int32_t>(64, 8192)).request(64));
  EXPECT_EQ(plan.grid, 64);
  EXPECT_EQ(plan.slots, 0);
}

TEST(Plan, EmptyWorkIsLegal) {
  Plan none = makePlan(test::makeKernel(), Batch({}, {}).request(8));
  EXPECT_EQ(none.grid, 0);
  EXPECT_EQ(none.workIndptr, std::vector<int32_t>{0});
  EXPECT_EQ(none.combineGrid, 0);
  Plan noRows = makePlan(test::makeKernel(), Batch({0, 0, 0}, {5, 0, 70}).request(8));
  EXPECT_EQ(noRows.grid, 0);
}

TEST(Plan, EmptyRequestsStillGetAnItem) {
  Plan plan = makePlan(test::makeKernel(), Batch({1, 1}, {0, 64}).request(8));
  ASSERT_EQ(plan.work.size(), 2u);
  EXPECT_EQ(plan.work[0].tile_begin, plan.work[0].tile_end);
  EXPECT_EQ(plan.work[0].slot, -1);
}

TEST(Plan, CausalRowTilesStopAtTheirDiagonal) {
  KernelInfo kernel = test::makeKernel({.heads = 1, .tileRows = 1, .tileTokens = 4, .causal = true});
  Batch batch({6}, {4}); // the first two tokens see nothing
  Plan plan = makePlan(kernel, batch.request(1));
  ASSERT_EQ(plan.work.size(), 6u);
  EXPECT_EQ(plan.work[1].tile_end, 0);
  EXPECT_EQ(plan.work[2].tile_end, 1);
  EXPECT_EQ(visibleTokens(kernel, 6, 4, 2), 0);
  EXPECT_EQ(visibleTokens(kernel, 6, 4, 3), 1);
}

TEST(Plan, WindowsStartTheirTiles) {
  KernelInfo kernel = test::makeKernel({.heads = 8, .tileRows = 16, .tileTokens = 64, .causal = true});
  kernel.window = 127;
  Batch batch({1, 4}, {4096, 130});
  PlanRequest request = batch.request(1);
  Plan plan = makePlan(kernel, request);
  ASSERT_EQ(plan.work.size(), 3u);
  // Token 4095 sees 3968 on: tiles 62 and 63.
  EXPECT_EQ(plan.work[0].tile_begin, 62);
  EXPECT_EQ(plan.work[0].tile_end, 64);
  // Tokens 126 and 127 see from before the start on, 128 and 129 from 1 on.
  EXPECT_EQ(plan.work[1].tile_begin, 0);
  EXPECT_EQ(plan.work[1].tile_end, 2);
  EXPECT_EQ(plan.work[2].tile_begin, 0);
  EXPECT_EQ(plan.work[2].tile_end, 3);
  EXPECT_EQ(plan.tiles, 2 + 2 + 3);
  EXPECT_EQ(plan.skippedTiles, 62);
}

/// A window's pieces are as long as its own tiles ask for, and no more than a capacity counts on.
TEST(Plan, FixedPiecesOfWindows) {
  std::mt19937 random(9);
  for (int round = 0; round < 500; ++round) {
    KernelInfo kernel =
        test::makeKernel({.heads = 1 + static_cast<int>(random() % 40), .tileTokens = 16, .causal = true});
    kernel.window = static_cast<int64_t>(random() % 3000);
    Batch batch = randomBatch(random);
    PlanRequest request = batch.request(17);
    request.fixedPieces = true;
    Plan plan = makePlan(kernel, request);
    expectCover(kernel, batch, plan);
    for (const MergeItem &merge : plan.merges)
      EXPECT_LE(merge.slot_end - merge.slot_begin, fixedPieces);
  }
}

TEST(Plan, ManyRequests) {
  Plan plan = makePlan(test::makeKernel({.heads = 1}),
                       Batch(std::vector<int32_t>(80000, 1), std::vector<int32_t>(80000, 1)).request(132));
  EXPECT_EQ(plan.work.size(), 80000u);
  EXPECT_EQ(plan.grid, 132);
}

TEST(Plan, PaddedGraphBatch) {
  std::vector<int32_t> qLens(24, 5), kvLens(24, 0);
  std::fill_n(kvLens.begin(), 4, 5);
  KernelInfo kernel = test::makeKernel({.heads = 40, .causal = true});
  Batch batch(qLens, kvLens, 16);
  Plan plan = makePlan(kernel, batch.request(132));
  expectCover(kernel, batch, plan);
}

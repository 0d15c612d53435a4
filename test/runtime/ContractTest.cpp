// What plan(), run() and the configuration checks refuse, and that they leave everything usable.
#include "../unit/runtime/TestKernel.h"
#include "Rig.h"

#include "runtime/Plan.h"

#include <limits>
#include <set>

using namespace mla;
using namespace mla::test;

namespace {

template <typename Call>
std::string codeOf(Call call) {
  try {
    call();
  } catch (const Error &error) {
    EXPECT_FALSE(error.field.empty()) << error.what();
    return std::string(name(error.code));
  }
  return "accepted";
}

/// A planned batch of four requests.
class Contract : public DeviceCase {
protected:
  void SetUp() override {
    DeviceCase::SetUp();
    kernel.emplace(rig->load(Program::decode));
    live = std::make_unique<Live>(device(), kernel->info(),
                                  reference::BatchShape{{1, 2, 0, 1}, {40, 17, 0, 300}, 16});
    config.capacity = live->capacity();
    plan = std::make_unique<Planned>(*kernel, config);
    (*plan)->plan(live->lengths());
  }

  std::string codeOfRun(const Operands &operands) {
    return codeOf([&] { (*plan)->run(operands); });
  }

  std::optional<Kernel> kernel;
  std::unique_ptr<Live> live;
  Config config;
  std::unique_ptr<Planned> plan;
};

} // namespace

TEST_F(Contract, EveryChangedOperandIsCaught) {
  std::vector<std::pair<const char *, std::function<void(Operands &)>>> changes = {
      {"operandMismatch", [](Operands &o) { o.query.rows += 1; }},
      {"operandMismatch", [](Operands &o) { o.query.heads *= 2; }},
      {"operandMismatch", [](Operands &o) { o.query.dim -= 1; }},
      {"operandMismatch", [](Operands &o) { o.query.dtype = DType::f16; }},
      {"operandMismatch", [](Operands &o) { o.out.dtype = DType::f32; }},
      {"operandMismatch", [](Operands &o) { o.out.rows -= 1; }},
      {"operandMismatch", [](Operands &o) { o.out.dim += 1; }},
      {"operandMismatch", [](Operands &o) { o.lse.heads += 1; }},
      {"operandMismatch", [](Operands &o) { o.lse.dtype = DType::bf16; }},
      {"operandMismatch", [](Operands &o) { o.cache.dtype = DType::bf16; }},
      {"operandMismatch", [](Operands &o) { o.cache.dim += 16; }},
      {"operandMismatch", [](Operands &o) { o.cache.pageSize = 32; }}, // manager pages for storage pages
      {"operandMismatch", [](Operands &o) { o.cache.pages -= 1; }},
      {"operandMismatch", [](Operands &o) { o.cache.tableStride = 1; }},
      {"operandAlignment", [](Operands &o) { o.query.data += 1; }},
      {"operandAlignment", [](Operands &o) { o.cache.data += 1; }},
      {"operandAlignment", [](Operands &o) { o.cache.strideToken += 1; }},
      {"operandAlignment", [](Operands &o) { o.cache.stridePage += 1; }},
      {"operandAlignment", [](Operands &o) { o.out.strideToken += 1; }},
      {"operandNull", [](Operands &o) { o.query.data = 0; }},
      {"operandNull", [](Operands &o) { o.lse.data = 0; }},
      {"operandNull", [](Operands &o) { o.cache.table = 0; }},
      {"missingOperand", [](Operands &o) { o.scalars = o.scalars.subspan(1); }},
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    Operands operands = live->operands();
    changes[i].second(operands);
    EXPECT_EQ(codeOfRun(operands), changes[i].first) << "change " << i;
  }
  for (float value :
       {0.0f, -1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<Scalar> scalars(live->operands().scalars.begin(), live->operands().scalars.end());
    scalars[0].value = value;
    Operands operands = live->operands();
    operands.scalars = scalars;
    EXPECT_EQ(codeOfRun(operands), "scaleValue");
  }
  EXPECT_EQ(codeOfRun(live->operands()), "accepted");
  EXPECT_TRUE(live->check().passed());
}

TEST_F(Contract, StorageErrorNamesBothTypes) {
  Operands operands = live->operands();
  operands.cache.dtype = DType::bf16;
  try {
    (*plan)->run(operands);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.value, "bf16");
    EXPECT_EQ(error.allowed, "e4m3");
    EXPECT_NE(std::string(error.what()).find("nothing is converted"), std::string::npos);
  }
}

TEST_F(Contract, MalformedLengthsHaveErrorsOfTheirOwn) {
  struct Bad {
    std::vector<int32_t> indptr, kv;
    int32_t page = 16;
    int64_t columns = 100, pages = 1000;
  };
  constexpr int32_t most = std::numeric_limits<int32_t>::max();
  std::vector<Bad> inputs = {{{}, {}},
                             {{1, 2}, {5}},
                             {{0, 2, 1}, {5, 5}},
                             {{0, 1}, {5, 5}},
                             {{0, 1}, {-1}},
                             {{0, 1}, {1601}},
                             {{0, 1}, {5}, 0},
                             {{0, 1}, {5}, 16, -1},
                             {{0, 1}, {5}, 16, 100, 0},
                             {{0, 1}, {most}, most},
                             {{0, 5}, {5}}};
  std::set<std::string> codes;
  for (const Bad &bad : inputs)
    codes.insert(codeOf([&] {
      (*plan)->plan({.qIndptr = bad.indptr,
                     .kvLen = bad.kv,
                     .pageSize = bad.page,
                     .tableColumns = bad.columns,
                     .pages = bad.pages,
                     .cacheIndptr = {}});
    }));
  EXPECT_EQ(codes.size(), inputs.size()) << testing::PrintToString(codes);
  EXPECT_EQ(codes.count("accepted"), 0u);
  EXPECT_EQ(codeOfRun(live->operands()), "accepted") << "the plan made before is still in force";
  EXPECT_TRUE(live->check().passed());
}

TEST_F(Contract, CapacityErrorHasBothNumbers) {
  Config small;
  small.capacity = {14, 14};
  Planned fourteen(*kernel, small);
  std::vector<int32_t> indptr(17), lengths(16, 1);
  for (int32_t i = 0; i < 17; ++i)
    indptr[static_cast<size_t>(i)] = i;
  try {
    fourteen->plan({.qIndptr = indptr,
                    .kvLen = lengths,
                    .pageSize = 16,
                    .tableColumns = 1,
                    .pages = 1,
                    .cacheIndptr = {}});
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code, Error::Code::capacityExceeded);
    EXPECT_NE(std::string(error.what()).find("16"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("14"), std::string::npos);
  }
}

TEST_F(Contract, RunBeforePlan) {
  Planned fresh(*kernel, config);
  EXPECT_EQ(codeOf([&] { fresh->run(live->operands()); }), "notPlanned");
}

TEST_F(Contract, PlanCannotBeCaptured) {
  EXPECT_EQ(codeOf([&] { device().capture(0, [&] { (*plan)->plan(live->lengths()); }); }), "streamCapturing");
}

TEST_F(Contract, WorkspaceOneByteShort) {
  size_t bytes = kernel->workspaceSize(config);
  ASSERT_GT(bytes, 0u);
  Buffer memory(device(), bytes);
  try {
    kernel->prepare(config, {memory.get(), bytes - 1});
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code, Error::Code::workspaceSize);
    EXPECT_NE(error.value.find(std::to_string(bytes - 1)), std::string::npos);
    EXPECT_NE(error.allowed.find(std::to_string(bytes)), std::string::npos);
  }
  EXPECT_EQ(codeOf([&] { kernel->prepare(config, {memory.get() + 8, bytes}); }), "workspaceAlignment");
}

TEST_F(Contract, SupportsSaysWhatPrepareDoes) {
  const Config good = config;
  std::vector<std::function<void(Config &)>> changes = {
      [](Config &) {},
      [](Config &c) { c.queryDType = DType::bf16; },
      [](Config &c) { c.queryDType = DType::f16; },
      [](Config &c) { c.cacheDType = DType::e4m3; },
      [](Config &c) { c.cacheDType = DType::e5m2; },
      [](Config &c) { c.outDType = DType::f32; },
      [](Config &c) { c.heads = 3; },
      [](Config &c) { c.qkDim = 1; },
      [](Config &c) { c.vDim = 1; },
      [](Config &c) { c.layout = Layout::ragged; },
      [](Config &c) { c.layout = Layout::paged; },
      [](Config &c) { c.causal = false; },
      [](Config &c) { c.lse = LseBase::none; },
      [](Config &c) { c.lse = LseBase::log2; },
      [](Config &c) { c.capacity.requests = 0; },
      [](Config &c) { c.capacity.queryRows = 0; },
      [](Config &c) { c.capacity.queryRows = -1; },
      [](Config &c) { c.capacity.requests = int64_t{1} << 40; },
      [](Config &c) { c.capacity.workItems = -1; },
      [](Config &c) { c.blocks = -1; },
      [](Config &c) { c.deterministic = Deterministic::batch; },
      [](Config &c) { c.graph = true; },
      [](Config &c) { c.split = false; },
  };
  int accepted = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    Config changed = good;
    changes[i](changed);
    std::string why;
    bool supported = kernel->supports(changed, &why);
    std::string code = codeOf([&] {
      Buffer memory(device(), kernel->workspaceSize(changed) + 1);
      kernel->prepare(changed, {memory.get(), memory.size()}).plan(live->lengths());
    });
    EXPECT_EQ(supported, code == "accepted") << "change " << i << ": " << code << ", " << why;
    accepted += supported;
  }
  EXPECT_EQ(accepted, 8);
}

TEST_F(Contract, DescriptionNeedsNoDevice) {
  Manifest manifest = makeManifest();
  std::string artefact = writeArtefact(manifest, ".version 8.7\n");
  EXPECT_EQ(codeOf([&] { KernelDescription::read(artefact); }), "kernelUnknown") << "there are two";
  EXPECT_EQ(codeOf([&] { KernelDescription::read(artefact, "other"); }), "kernelUnknown");
  KernelDescription description = KernelDescription::read(artefact, "decode");
  EXPECT_EQ(description.heads(), 16);
  EXPECT_EQ(description.scalars().size(), 2u);
  Config needsBlocks;
  needsBlocks.capacity = {1, 1};
  EXPECT_EQ(codeOf([&] { description.workspaceSize(needsBlocks); }), "blockCount");
  needsBlocks.blocks = 10;
  EXPECT_EQ(description.workspaceSize(needsBlocks), 2u * 9 * 16 * (512 + 1) * 4);
}

//===-- Plans in numbers --===//

TEST_F(Contract, PaddedBatchInGraphMode) {
  constexpr size_t batch = 24;
  std::vector<int32_t> indptr(batch + 1), lengths(batch, 0);
  for (size_t i = 0; i <= batch; ++i)
    indptr[i] = static_cast<int32_t>(5 * i);
  std::fill_n(lengths.begin(), 4, 5);
  Config graph;
  graph.capacity = {batch, 5 * batch};
  graph.graph = true;
  Planned padded(*kernel, graph);
  padded->plan({.qIndptr = indptr,
                .kvLen = lengths,
                .pageSize = 16,
                .tableColumns = 1,
                .pages = 24,
                .cacheIndptr = {}});
  const KernelInfo &info = kernel->info();
  int64_t rowTiles = (5 * info.heads + info.tile.rows - 1) / info.tile.rows;
  EXPECT_EQ(padded->stats().items, static_cast<int64_t>(batch) * rowTiles) << "an item for every row tile";
}

TEST_F(Contract, TailOfTheScheduleRepeatsTheLastOffset) {
  Batch three({1, 1, 1}, {5, 5, 5}, 16);
  PlanRequest request = three.request(8);
  Plan made = makePlan(kernel->info(), request);
  ASSERT_LT(made.grid, 8);
  Config graph;
  graph.capacity = {8, 8};
  graph.graph = true;
  Planned padded(*kernel, graph);
  padded->plan({.qIndptr = three.qIndptr,
                .kvLen = three.kvLens,
                .pageSize = 16,
                .tableColumns = 1,
                .pages = 4,
                .cacheIndptr = {}});
  EXPECT_EQ(padded->stats().grid, 8)
      << "every block of the capacity is launched, those without work included";
}

TEST_F(Contract, FixedPiecesDependOnTheRequestAlone) {
  auto piecesOf = [&](std::vector<int32_t> q, std::vector<int32_t> kv, int blocks) {
    Batch batch(std::move(q), std::move(kv), 16);
    PlanRequest request = batch.request(blocks);
    request.fixedPieces = true;
    std::vector<std::pair<int32_t, int32_t>> pieces;
    for (const WorkItem &item : makePlan(kernel->info(), request).work)
      if (item.request == 0)
        pieces.emplace_back(item.tile_begin, item.tile_end);
    return pieces;
  };
  auto alone = piecesOf({1}, {5000}, 8);
  EXPECT_GT(alone.size(), 8u);
  EXPECT_LE(alone.size(), static_cast<size_t>(fixedPieces));
  EXPECT_EQ(piecesOf({1, 3, 0, 1}, {5000, 70, 3, 9000}, 8), alone);
  EXPECT_EQ(piecesOf({1, 1}, {5000, 1}, 132), alone);
}

TEST_F(Contract, PiecesNeverExceedWhatTheCapacityAllows) {
  for (Deterministic mode : {Deterministic::run, Deterministic::batch})
    for (uint32_t seed = 1; seed < 200; ++seed) {
      uint32_t state = seed * 2654435761u;
      auto next = [&](uint32_t below) {
        return static_cast<int32_t>((state = state * 1664525u + 1013904223u) >> 8) %
               static_cast<int32_t>(below);
      };
      std::vector<int32_t> q, kv;
      for (int32_t i = next(9); i >= 0; --i) {
        q.push_back(next(4));
        kv.push_back(next(3) ? next(5000) : 0);
      }
      Batch batch(q, kv, 16);
      PlanRequest request = batch.request(1 + next(40));
      Config fits;
      fits.capacity = {static_cast<int64_t>(kv.size()), std::max<int64_t>(1, batch.qIndptr.back())};
      fits.blocks = request.blocks;
      fits.deterministic = mode;
      Planned planned(*kernel, fits);
      EXPECT_EQ(codeOf([&] {
                  planned->plan({.qIndptr = batch.qIndptr,
                                 .kvLen = batch.kvLens,
                                 .pageSize = 16,
                                 .tableColumns = request.tableColumns,
                                 .pages = request.pages,
                                 .cacheIndptr = {}});
                }),
                "accepted")
          << "seed " << seed;
    }
}

#include "HostKernel.h"
#include "TestKernel.h"

#include "runtime/Runner.h"

#include <nlohmann/json.hpp>

using namespace mla;

namespace {

constexpr test::KernelShape smallShape{
    .heads = 5, .qkDim = 24, .vDim = 16, .vOffset = 8, .tileRows = 8, .tileTokens = 16};

/// A small kernel on the host.
struct Fixture {
  explicit Fixture(test::KernelShape shape = smallShape)
      : kernel(test::makeKernel(shape)), device(test::hostEntries(kernel)), module(device.load("")) {}

  RunReport run(const RunConfig &config) { return runAndCheck(device, *module, kernel, config); }

  KernelInfo kernel;
  test::HostDevice device;
  std::unique_ptr<Module> module;
};

RunConfig mixedBatch() {
  return {.qLens = {1, 3, 0, 2, 1}, .kvLens = {2000, 17, 9, 0, 64}, .pageSize = 3, .seed = 4};
}

} // namespace

TEST(Runner, MixedBatchPasses) {
  for (bool causal : {false, true})
    for (Layout layout : {Layout::paged, Layout::ragged})
      for (LseBase lse : {LseBase::none, LseBase::log2, LseBase::ln}) {
        test::KernelShape shape = smallShape;
        shape.causal = causal;
        shape.layout = layout;
        shape.lse = lse;
        Fixture f(shape);
        RunReport report = f.run(mixedBatch());
        EXPECT_TRUE(report.passed()) << report.toText();
        EXPECT_EQ(report.check.rows, 7 * 5);
        EXPECT_GT(report.stats.splits, 0);
        EXPECT_EQ(f.device.live(), 0u) << "buffers left allocated";
      }
}

TEST(Runner, StorageTypes) {
  for (DType cache : {DType::e4m3, DType::e5m2, DType::bf16, DType::f16, DType::f32})
    for (DType query : {DType::bf16, DType::f16}) {
      test::KernelShape shape = smallShape;
      shape.cache = cache;
      shape.query = query;
      RunReport report = Fixture(shape).run(mixedBatch());
      EXPECT_TRUE(report.passed()) << name(cache) << "\n" << report.toText();
    }
}

TEST(Runner, SplitAndUnsplitAgree) {
  Fixture f;
  RunConfig config = mixedBatch();
  RunReport split = f.run(config);
  config.split = false;
  RunReport whole = f.run(config);
  EXPECT_TRUE(split.passed() && whole.passed());
  EXPECT_EQ(whole.stats.slots, 0);
  EXPECT_EQ(whole.stats.workspaceBytes, 0);
  EXPECT_EQ(f.device.launches.size(), 3u) << "combine only after a split";
}

TEST(Runner, StatsCountBytes) {
  Fixture f;
  RunStats stats = f.run({.qLens = {1}, .kvLens = {100}, .pageSize = 8}).stats;
  EXPECT_EQ(stats.tiles, 7);
  EXPECT_EQ(stats.cacheBytesOwned, 100 * 24);
  EXPECT_EQ(stats.cacheBytesRead, 100 * 24);
  // Two row tiles of eight packed rows, both over the whole cache.
  EXPECT_EQ(f.run({.qLens = {2}, .kvLens = {100}, .pageSize = 8}).stats.cacheBytesRead, 2 * 100 * 24);
}

TEST(Runner, EmptyBatchesLaunchNothing) {
  for (RunConfig config : {RunConfig{}, RunConfig{.qLens = {0, 0}, .kvLens = {4, 0}}}) {
    Fixture f;
    RunReport report = f.run(config);
    EXPECT_TRUE(report.passed()) << report.toText();
    EXPECT_TRUE(f.device.launches.empty());
  }
}

TEST(Runner, WrongKernelFails) {
  Fixture f;
  KernelInfo claimed = f.kernel;
  claimed.causal = true;
  RunReport report = runAndCheck(f.device, *f.module, claimed, mixedBatch());
  EXPECT_FALSE(report.passed());
}

TEST(Runner, RawOutputsArePackedAndRepeatable) {
  Fixture f;
  RawOutputs first = runRaw(f.device, *f.module, f.kernel, mixedBatch());
  EXPECT_EQ(first.out.size(), 7u * 5 * 16 * 2);
  EXPECT_EQ(first.lse.size(), 7u * 5 * 4);
  EXPECT_EQ(first, runRaw(f.device, *f.module, f.kernel, mixedBatch()));
  RunConfig other = mixedBatch();
  other.seed = 5;
  EXPECT_FALSE(first == runRaw(f.device, *f.module, f.kernel, other));
}

TEST(Runner, ReportsAreJson) {
  auto json = nlohmann::json::parse(Fixture().run(mixedBatch()).toJson());
  EXPECT_EQ(json["run"]["kernel"], "decode");
  EXPECT_TRUE(json["run"]["microseconds"].is_null());
  EXPECT_TRUE(json["check"]["passed"].get<bool>());
}

TEST(Runner, BadBatchesAreTypedErrors) {
  Fixture f;
  test::expectError(Error::Code::kvLenSize, [&] { f.run({.qLens = {1}, .kvLens = {1, 2}}); });
  test::expectError(Error::Code::blockCount, [&] { f.run({.qLens = {1}, .kvLens = {1}, .blocks = -1}); });
}

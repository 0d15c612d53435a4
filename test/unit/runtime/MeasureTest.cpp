// Readings of repeated launches, and the cache's copies that they walk through.
#include "Clocked.h"
#include "HostKernel.h"
#include "TestKernel.h"

#include "runtime/Runner.h"

#include <nlohmann/json.hpp>
#include <set>

using namespace mla;
using test::Clocked;

namespace {

constexpr test::KernelShape shape{.heads = 5, .qkDim = 24, .vDim = 16, .tileRows = 8, .tileTokens = 16};

/// The device's entries, with each launch of the main kernel seen by `saw`, which gets the cache's address.
std::map<std::string, test::HostEntry> watched(const KernelInfo &kernel, std::function<void(DevicePtr)> saw) {
  std::map<std::string, test::HostEntry> entries = test::hostEntries(kernel);
  auto at = std::find(kernel.main.params.begin(), kernel.main.params.end(),
                      kernel.find(Role::cache)->name + ".data") -
            kernel.main.params.begin();
  entries["decode_main"] = [=, inner = entries.at("decode_main")](const Launch &launch, void **params) {
    saw(*static_cast<uint64_t *>(params[at]));
    inner(launch, params);
  };
  return entries;
}

} // namespace

TEST(Measure, SummaryIsMedianAndSpread) {
  Timing timing = summarise({5, 1, 9, 2, 3}, 7);
  EXPECT_EQ(timing.median, 3);
  EXPECT_EQ(timing.min, 1);
  EXPECT_EQ(timing.max, 9);
  EXPECT_EQ(timing.readings, 5);
  EXPECT_EQ(timing.launches, 7);
}

TEST(Measure, LaunchesAreCountedAndDividedBy) {
  KernelInfo kernel = test::makeKernel(shape);
  std::vector<DevicePtr> seen;
  Clocked *clock = nullptr;
  Clocked device(watched(kernel, [&](DevicePtr address) { seen.push_back(address), clock->now += 3; }));
  clock = &device;
  std::unique_ptr<Module> module = device.load("");
  RunReport report = runAndCheck(device, *module, kernel,
                                 {.qLens = {1}, .kvLens = {100}, .pageSize = 8, .repeat = 4, .rotate = 0});
  EXPECT_TRUE(report.passed()) << report.toText();
  EXPECT_EQ(report.stats.time.launches, static_cast<int64_t>(seen.size()));
  ASSERT_TRUE(report.stats.time.graph && report.stats.time.queued);
  for (const Timing &timing : {*report.stats.time.graph, *report.stats.time.queued}) {
    EXPECT_DOUBLE_EQ(timing.median, 3);
    EXPECT_EQ(timing.readings, 4);
  }
}

TEST(Measure, CopiesAreReadInTurn) {
  KernelInfo kernel = test::makeKernel(shape);
  std::vector<DevicePtr> seen;
  Clocked device(watched(kernel, [&](DevicePtr address) { seen.push_back(address); }));
  std::unique_ptr<Module> module = device.load("");
  RunConfig config{.qLens = {1}, .kvLens = {100}, .pageSize = 8, .repeat = 2, .rotate = 7 * 100 * 24 - 1};
  RunReport report = runAndCheck(device, *module, kernel, config);
  EXPECT_TRUE(report.passed()) << report.toText();
  EXPECT_EQ(report.stats.copies, 7);
  EXPECT_EQ(std::set<DevicePtr>(seen.begin(), seen.end()).size(), 7u);
  // After the first launch: six others stand between two launches on the same copy.
  for (size_t i = 1; i + 7 < seen.size(); ++i) {
    EXPECT_EQ(std::set<DevicePtr>(&seen[i], &seen[i + 7]).size(), 7u) << "from launch " << i;
    EXPECT_EQ(seen[i], seen[i + 7]) << "launch " << i;
  }
  EXPECT_EQ(device.live(), 0u) << "buffers left allocated";
}

TEST(Measure, WithoutTimeNothingIsRotatedUnlessAsked) {
  KernelInfo kernel = test::makeKernel(shape);
  std::vector<DevicePtr> seen;
  test::HostDevice device(watched(kernel, [&](DevicePtr address) { seen.push_back(address); }));
  std::unique_ptr<Module> module = device.load("");
  RunConfig config{.qLens = {1}, .kvLens = {100}, .pageSize = 8, .repeat = 3};
  auto json = nlohmann::json::parse(runAndCheck(device, *module, kernel, config).toJson());
  EXPECT_EQ(seen, std::vector<DevicePtr>(3, seen.front()));
  EXPECT_TRUE(json["run"]["microseconds"].is_null());
  EXPECT_EQ(json["run"]["rotated"]["copies"], 1);
  seen.clear();
  config.rotate = 3 * 100 * 24;
  EXPECT_TRUE(runAndCheck(device, *module, kernel, config).passed());
  EXPECT_EQ(std::set<DevicePtr>(seen.begin(), seen.end()).size(), 3u);
}

TEST(Measure, ASingleReadingIsOneColdLaunch) {
  KernelInfo kernel = test::makeKernel(shape);
  Clocked device(test::hostEntries(kernel), 5);
  std::unique_ptr<Module> module = device.load("");
  RunStats stats = runAndCheck(device, *module, kernel, {.qLens = {1}, .kvLens = {100}, .pageSize = 8}).stats;
  EXPECT_EQ(stats.time.launches, 1);
  EXPECT_FALSE(stats.time.graph);
  EXPECT_DOUBLE_EQ(stats.microseconds()->median, 5);
  EXPECT_EQ(stats.copies, 1);
}

TEST(Measure, JsonTellsSpreadAndRotation) {
  KernelInfo kernel = test::makeKernel(shape);
  Clocked device(test::hostEntries(kernel), 35);
  std::unique_ptr<Module> module = device.load("");
  RunConfig config{.qLens = {1}, .kvLens = {100}, .pageSize = 8, .repeat = 3, .rotate = 3 * 100 * 24};
  RunReport report = runAndCheck(device, *module, kernel, config);
  auto json = nlohmann::json::parse(report.toJson())["run"];
  EXPECT_EQ(json["microseconds"]["readings"], 3);
  EXPECT_EQ(json["microseconds"]["launches"], 21) << "a reading ends with a whole walk through the copies";
  EXPECT_DOUBLE_EQ(json["microseconds"]["median"].get<double>(), 35.0 / 21);
  EXPECT_TRUE(json["microseconds_queued"].is_object());
  EXPECT_EQ(json["rotated"]["copies"], 3);
  EXPECT_GE(json["rotated"]["bytes"].get<int64_t>(), 3 * 100 * 24);
  EXPECT_NE(report.toText().find("3 copies of the cache in turn"), std::string::npos) << report.toText();
}

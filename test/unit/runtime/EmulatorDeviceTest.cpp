#include "HostKernel.h"
#include "TestKernel.h"

#include "runtime/EmulatorDevice.h"
#include "runtime/Runner.h"
#include "runtime/emulator/Hooks.h"

#include <vector>

using namespace mla;

TEST(EmulatorDevice, CopiesAndFills) {
  std::unique_ptr<Device> device = createEmulatorDevice([](const std::string &) { return nullptr; });
  Buffer buffer(*device, 100, "data");
  buffer.fill(3);
  std::vector<uint8_t> bytes(100);
  buffer.copyOut(bytes.data(), 100);
  EXPECT_EQ(bytes, std::vector<uint8_t>(100, 3));
  bytes[7] = 9;
  buffer.copyIn(bytes.data(), 100);
  buffer.copyOut(bytes.data(), 100);
  EXPECT_EQ(bytes[7], 9);
  EXPECT_EQ(device->bytesRead(buffer.get()), 0u);
}

TEST(EmulatorDevice, CopiesBeyondAnAllocationAreFaults) {
  std::unique_ptr<Device> device = createEmulatorDevice([](const std::string &) { return nullptr; });
  Buffer buffer(*device, 100, "data");
  std::vector<uint8_t> bytes(200);
  EXPECT_THROW(device->copyIn(buffer.get(), bytes.data(), 101), emulator::Failure);
  EXPECT_THROW(buffer.copyOut(bytes.data(), 101), Error);
}

TEST(EmulatorDevice, UnknownEntry) {
  std::unique_ptr<Device> device = createEmulatorDevice([](const std::string &) { return nullptr; });
  std::unique_ptr<Module> module = device->load("");
  test::expectError(Error::Code::entryMissing, [&] {
    device->launch(*module, {"absent", 1, 32, 0}, nullptr);
  });
}

namespace {

/// Entry points are plain functions and capture nothing.
KernelInfo smallKernel() {
  return test::makeKernel(
      {.heads = 5, .qkDim = 24, .vDim = 16, .tileRows = 8, .tileTokens = 16, .causal = true});
}

void mainEntry(void **params) {
  if (mlac_emu_sreg(0) == 0)
    test::runMainBlock(smallKernel(), params, mlac_emu_sreg(1));
}

void combineEntry(void **params) {
  if (mlac_emu_sreg(0) == 0)
    test::runCombineBlock(smallKernel(), params, mlac_emu_sreg(1), mlac_emu_sreg(2));
}

emulator::Entry findEntry(const std::string &name) {
  return name == "decode_main" ? mainEntry : combineEntry;
}

} // namespace

TEST(EmulatorDevice, RunsABatch) {
  EmulatorOptions options;
  uint64_t blocksDone = 0;
  options.progress = [&](uint64_t, uint64_t) { ++blocksDone; };
  std::unique_ptr<Device> device = createEmulatorDevice(findEntry, options);
  std::unique_ptr<Module> module = device->load("");
  RunConfig config{.qLens = {1, 3, 0, 2}, .kvLens = {2000, 17, 9, 0}, .pageSize = 3, .seed = 4};
  RunReport report = runAndCheck(*device, *module, smallKernel(), config);
  EXPECT_TRUE(report.passed()) << report.toText();
  EXPECT_GT(report.stats.splits, 0);
  EXPECT_EQ(blocksDone, static_cast<uint64_t>(report.stats.grid + report.stats.splits * 8));
  EXPECT_FALSE(report.stats.microseconds());
}

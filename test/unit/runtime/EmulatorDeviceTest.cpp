#include "HostKernel.h"
#include "TestKernel.h"

#include "runtime/EmulatorDevice.h"

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

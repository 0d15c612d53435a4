// What can be said of the CUDA device with and without one.
#include "TestKernel.h"

#include "runtime/cuda/CudaDevice.h"

#include <vector>

using namespace mla;

/// data[i] = i + add for the block's own elements.
static const char *const countPtx = R"(.version 7.0
.target sm_52
.address_size 64
.visible .entry count(.param .u64 data, .param .u32 add)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [add];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  add.s32 %r6, %r5, %r1;
  st.global.u32 [%rd3], %r6;
  ret;
}
)";

namespace {

class Cuda : public testing::Test {
protected:
  void SetUp() override {
    try {
      device = createCudaDevice();
    } catch (const Error &error) {
      GTEST_SKIP() << error.what();
    }
  }

  std::unique_ptr<Device> device;
};

} // namespace

TEST(CudaAbsent, ErrorNamesTheLibraryAndTheWayOut) {
  try {
    createCudaDevice();
    GTEST_SKIP() << "there is a device";
  } catch (const Error &error) {
    EXPECT_TRUE(error.code == Error::Code::noDriver || error.code == Error::Code::noDevice);
    EXPECT_NE(std::string(error.what()).find("--device emulator"), std::string::npos) << error.what();
  }
}

TEST_F(Cuda, LaunchesAndCopies) {
  std::unique_ptr<Module> module = device->load(countPtx);
  Buffer buffer(*device, 1024 * 4, "data");
  buffer.fill(0);
  DevicePtr data = buffer.get();
  uint32_t add = 7;
  void *params[] = {&data, &add};
  std::optional<double> microseconds = device->timed([&] {
    device->launch(*module, {"count", 8, 128, 64 * 1024}, params);
  });
  EXPECT_GT(microseconds.value_or(0), 0);
  std::vector<uint32_t> values(1024);
  buffer.copyOut(values.data(), values.size() * 4);
  for (uint32_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], i + 7);
  EXPECT_GE(device->residentBlocks(*module, {"count", 1, 128, 0}), device->multiprocessors());
}

TEST_F(Cuda, RefusedImageCarriesTheLog) {
  std::string broken = std::string(countPtx) + "nonsense\n";
  Error error = test::expectError(Error::Code::imageRefused, [&] { device->load(broken); });
  EXPECT_NE(std::string(error.what()).find("ptxas"), std::string::npos) << error.what();
}

TEST_F(Cuda, ForeignTarget) {
  std::string foreign = ".version 8.7\n.target sm_999\n.address_size 64\n";
  test::expectError(Error::Code::imageRefused, [&] { device->load(foreign); });
}

TEST_F(Cuda, UnknownEntry) {
  std::unique_ptr<Module> module = device->load(countPtx);
  test::expectError(Error::Code::entryMissing, [&] {
    device->launch(*module, {"absent", 1, 32, 0}, nullptr);
  });
}

TEST_F(Cuda, TooMuchSharedMemoryNamesBothNumbers) {
  std::unique_ptr<Module> module = device->load(countPtx);
  Error error = test::expectError(Error::Code::sharedMemory, [&] {
    device->launch(*module, {"count", 1, 32, 1 << 20}, nullptr);
  });
  EXPECT_NE(error.value.find("1048576"), std::string::npos);
  EXPECT_NE(error.allowed.find("at most"), std::string::npos);
}

TEST_F(Cuda, TooLargeAllocation) {
  test::expectError(Error::Code::outOfMemory, [&] { device->allocate(size_t{1} << 50, "pool"); });
}

TEST_F(Cuda, NoSuchDevice) {
  test::expectError(Error::Code::noDevice, [] { createCudaDevice(1000); });
}

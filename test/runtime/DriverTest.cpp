// What the runtime makes of a driver's answers; runs against the fake driver beside it.
#include "../unit/runtime/TestKernel.h"

#include "mla/Kernel.h"

#include <cstdlib>

using namespace mla;
using namespace mla::test;

static Error refusal(int version, int result) {
  setenv("FAKE_CUDA_VERSION", std::to_string(version).c_str(), 1);
  setenv("FAKE_CUDA_RESULT", std::to_string(result).c_str(), 1);
  std::shared_ptr<Device> device = createCudaDevice();
  EXPECT_EQ(device->driverVersion(), version);
  return expectError(Error::Code::imageRefused, [&] {
    Kernel::load(device, writeArtefact(makeManifest(), ".version 9.1\n.target sm_120\n"), "decode");
  });
}

TEST(FakeDriver, TooNewPtxNamesBothVersionsAndTheLog) {
  std::string text = refusal(13000, 222).what();
  for (const char *part :
       {"CUDA 13.0", "PTX 9.1", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the log of a fake driver", "--ptx"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

TEST(FakeDriver, OtherRefusalsNameTheDeviceAndTheLog) {
  std::string text = refusal(12080, 218).what();
  for (const char *part :
       {"CUDA 12.8", "CUDA_ERROR_INVALID_PTX", "Fake GPU", "12.0", "the log of a fake driver"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

TEST(FakeDriver, NoSuchDevice) {
  expectError(Error::Code::noDevice, [] { createCudaDevice(1); });
}

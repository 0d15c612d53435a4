// A CUDA device, through the driver API. The driver is opened at run time; nothing of CUDA is needed to
// build.
#pragma once

#include "runtime/Device.h"

namespace mla {

/// What is asked of the driver before a device is opened.
struct CudaDeviceInfo {
  std::string name;
  int major = 0; ///< compute capability
  int minor = 0;
  int multiprocessors = 0;
  int sharedBytesPerBlock = 0; ///< the opt-in limit
  int driverVersion = 0;       ///< 1000 * major + 10 * minor of the CUDA version the driver supports
};

/// Throws Error noDriver, or noDevice when there is no device of that index.
CudaDeviceInfo cudaDeviceInfo(int index);

} // namespace mla

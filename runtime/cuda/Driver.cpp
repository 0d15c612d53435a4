#include "runtime/cuda/Driver.h"

#include <fmt/format.h>

#include <dlfcn.h>

namespace mla::cuda {

static constexpr const char *wayOut = "use --device emulator, or install an NVIDIA driver";

[[noreturn]] static void noDriver(std::string why) {
  throw Error(Error::Code::noDriver, "no CUDA driver: " + why, "", "", wayOut);
}

template <typename Function>
static void resolve(void *library, const char *symbol, Function &into) {
  void *address = dlsym(library, symbol);
  if (!address)
    noDriver(fmt::format("libcuda.so.1 has no {}; it is too old", symbol));
  into = reinterpret_cast<Function>(address);
}

static void resolveDevices(void *library, Driver &driver) {
  resolve(library, "cuInit", driver.init);
  resolve(library, "cuDriverGetVersion", driver.driverGetVersion);
  resolve(library, "cuGetErrorName", driver.getErrorName);
  resolve(library, "cuGetErrorString", driver.getErrorString);
  resolve(library, "cuDeviceGetCount", driver.deviceGetCount);
  resolve(library, "cuDeviceGet", driver.deviceGet);
  resolve(library, "cuDeviceGetName", driver.deviceGetName);
  resolve(library, "cuDeviceGetAttribute", driver.deviceGetAttribute);
  resolve(library, "cuDevicePrimaryCtxRetain", driver.devicePrimaryCtxRetain);
  resolve(library, "cuDevicePrimaryCtxRelease_v2", driver.devicePrimaryCtxRelease);
  resolve(library, "cuCtxCreate_v2", driver.ctxCreate);
  resolve(library, "cuCtxDestroy_v2", driver.ctxDestroy);
  resolve(library, "cuCtxSetCurrent", driver.ctxSetCurrent);
  resolve(library, "cuCtxGetCurrent", driver.ctxGetCurrent);
}

static void resolveModules(void *library, Driver &driver) {
  resolve(library, "cuModuleLoadDataEx", driver.moduleLoadDataEx);
  resolve(library, "cuModuleUnload", driver.moduleUnload);
  resolve(library, "cuModuleGetFunction", driver.moduleGetFunction);
  resolve(library, "cuFuncSetAttribute", driver.funcSetAttribute);
  resolve(library, "cuOccupancyMaxActiveBlocksPerMultiprocessor", driver.occupancyMaxActiveBlocks);
  resolve(library, "cuLaunchKernel", driver.launchKernel);
  driver.launchKernelEx =
      reinterpret_cast<decltype(driver.launchKernelEx)>(dlsym(library, "cuLaunchKernelEx"));
}

static void resolveMemory(void *library, Driver &driver) {
  resolve(library, "cuMemAlloc_v2", driver.memAlloc);
  resolve(library, "cuMemFree_v2", driver.memFree);
  resolve(library, "cuMemGetInfo_v2", driver.memGetInfo);
  resolve(library, "cuMemHostAlloc", driver.memHostAlloc);
  resolve(library, "cuMemFreeHost", driver.memFreeHost);
  resolve(library, "cuMemcpyHtoDAsync_v2", driver.memcpyHtoDAsync);
  resolve(library, "cuMemcpyDtoHAsync_v2", driver.memcpyDtoHAsync);
  resolve(library, "cuMemsetD8Async", driver.memsetD8Async);
}

static void resolveStreams(void *library, Driver &driver) {
  resolve(library, "cuStreamCreate", driver.streamCreate);
  resolve(library, "cuStreamDestroy_v2", driver.streamDestroy);
  resolve(library, "cuStreamSynchronize", driver.streamSynchronize);
  resolve(library, "cuEventCreate", driver.eventCreate);
  resolve(library, "cuEventDestroy_v2", driver.eventDestroy);
  resolve(library, "cuEventRecord", driver.eventRecord);
  resolve(library, "cuEventSynchronize", driver.eventSynchronize);
  resolve(library, "cuEventElapsedTime", driver.eventElapsedTime);
}

static void resolveGraphs(void *library, Driver &driver) {
  resolve(library, "cuStreamIsCapturing", driver.streamIsCapturing);
  resolve(library, "cuStreamBeginCapture_v2", driver.streamBeginCapture);
  resolve(library, "cuStreamEndCapture", driver.streamEndCapture);
  resolve(library, "cuGraphInstantiateWithFlags", driver.graphInstantiate);
  resolve(library, "cuGraphLaunch", driver.graphLaunch);
  resolve(library, "cuGraphDestroy", driver.graphDestroy);
  resolve(library, "cuGraphExecDestroy", driver.graphExecDestroy);
}

/// "NAME (text)", or the number for a code that the driver does not know.
static std::string describe(const Driver &driver, Result result) {
  const char *name = nullptr, *text = nullptr;
  if (driver.getErrorName(result, &name) != success || driver.getErrorString(result, &text) != success)
    return fmt::format("CUDA error {}", result);
  return fmt::format("{} ({})", name, text);
}

static Driver open() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    const char *why = dlerror();
    noDriver(fmt::format("libcuda.so.1 could not be opened ({})", why ? why : "no reason given"));
  }
  Driver driver{};
  resolveDevices(library, driver);
  resolveModules(library, driver);
  resolveMemory(library, driver);
  resolveStreams(library, driver);
  resolveGraphs(library, driver);
  if (Result result = driver.init(0))
    noDriver(fmt::format("cuInit failed with {}", describe(driver, result)));
  return driver;
}

const Driver &driver() {
  static const Driver opened = open();
  return opened;
}

std::string describe(Result result) { return describe(driver(), result); }

void require(Result result, const char *call) {
  if (result == success)
    return;
  bool memory = result == outOfMemory;
  throw Error(memory ? Error::Code::outOfMemory : Error::Code::driverFailure,
              fmt::format("{} failed with {}", call, describe(result)), "", "",
              memory ? "use a smaller batch or pool" : "");
}

} // namespace mla::cuda

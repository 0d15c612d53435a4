#include "runtime/cuda/CudaDevice.h"

#include "runtime/cuda/Driver.h"

#include <fmt/format.h>

#include <array>
#include <map>

namespace mla {

using cuda::driver;
using cuda::require;

namespace {

/// A module of the driver, with its functions as they were looked up. One shared-memory limit is kept per
/// function, the largest that was asked for.
class CudaModule : public Module {
public:
  CudaModule(cuda::Context context, cuda::ModuleRef handle) : context(context), handle(handle) {}

  ~CudaModule() override {
    if (driver().ctxSetCurrent(context) == cuda::success)
      driver().moduleUnload(handle);
  }

  /// The function, allowed `sharedBytes` of dynamic shared memory.
  cuda::Function function(const std::string &entry, uint32_t sharedBytes) {
    Known &known = find(entry);
    if (sharedBytes > known.sharedBytes) {
      require(driver().funcSetAttribute(known.function, cuda::functionMaxDynamicShared,
                                        static_cast<int>(sharedBytes)),
              "cuFuncSetAttribute(max dynamic shared memory)");
      known.sharedBytes = sharedBytes;
    }
    return known.function;
  }

private:
  struct Known {
    cuda::Function function = nullptr;
    uint32_t sharedBytes = 48 * 1024; ///< what every function may have unasked
  };

  Known &find(const std::string &entry) {
    auto found = functions.find(entry);
    if (found != functions.end())
      return found->second;
    Known known;
    cuda::Result result = driver().moduleGetFunction(&known.function, handle, entry.c_str());
    if (result == cuda::notFound)
      throw Error(Error::Code::entryMissing, "entry " + entry, "not in the module",
                  "a kernel of the artefact");
    require(result, "cuModuleGetFunction");
    return functions.emplace(entry, known).first->second;
  }

  cuda::Context context;
  cuda::ModuleRef handle;
  std::map<std::string, Known> functions;
};

/// Two events around a span of the stream.
class Timer {
public:
  explicit Timer(cuda::Stream stream) : stream(stream) {
    for (cuda::Event &event : events)
      require(driver().eventCreate(&event, 0), "cuEventCreate");
  }
  Timer(const Timer &) = delete;
  Timer &operator=(const Timer &) = delete;
  ~Timer() {
    for (cuda::Event event : events)
      driver().eventDestroy(event);
  }

  void start() { require(driver().eventRecord(events[0], stream), "cuEventRecord"); }

  double stopMicroseconds() {
    require(driver().eventRecord(events[1], stream), "cuEventRecord");
    require(driver().eventSynchronize(events[1]), "cuEventSynchronize");
    float milliseconds = 0;
    require(driver().eventElapsedTime(&milliseconds, events[0], events[1]), "cuEventElapsedTime");
    return 1e3 * milliseconds;
  }

private:
  cuda::Stream stream;
  std::array<cuda::Event, 2> events{};
};

class CudaDevice : public Device {
public:
  CudaDevice(CudaDeviceInfo info, cuda::DeviceOrdinal ordinal) : info(std::move(info)), ordinal(ordinal) {
    require(driver().devicePrimaryCtxRetain(&context, ordinal), "cuDevicePrimaryCtxRetain");
    makeCurrent();
    require(driver().streamCreate(&stream, cuda::streamNonBlocking), "cuStreamCreate");
  }

  ~CudaDevice() override {
    if (driver().ctxSetCurrent(context) == cuda::success)
      driver().streamDestroy(stream);
    driver().devicePrimaryCtxRelease(ordinal);
  }

  std::string name() const override {
    return fmt::format("{} (compute capability {}.{})", info.name, info.major, info.minor);
  }

  int multiprocessors() const override { return info.multiprocessors; }

  DevicePtr allocate(size_t bytes, const std::string &label) override {
    makeCurrent();
    DevicePtr pointer = 0;
    require(driver().memAlloc(&pointer, bytes),
            fmt::format("cuMemAlloc({} bytes) for {}", bytes, label).c_str());
    return pointer;
  }

  void release(DevicePtr pointer) noexcept override {
    // The driver repeats a failed launch's error on every later call, synchronize() included.
    if (driver().ctxSetCurrent(context) == cuda::success)
      driver().memFree(pointer);
  }

  void copyIn(DevicePtr to, const void *from, size_t bytes) override {
    makeCurrent();
    require(driver().memcpyHtoDAsync(to, from, bytes, stream), "cuMemcpyHtoDAsync");
    synchronize(); // the caller may change `from` at once
  }

  void copyOut(void *to, DevicePtr from, size_t bytes) override {
    makeCurrent();
    require(driver().memcpyDtoHAsync(to, from, bytes, stream), "cuMemcpyDtoHAsync");
    synchronize();
  }

  void fill(DevicePtr to, uint8_t value, size_t bytes) override {
    makeCurrent();
    require(driver().memsetD8Async(to, value, bytes, stream), "cuMemsetD8Async");
  }

  std::unique_ptr<Module> load(std::string_view image) override;

  void launch(Module &module, const Launch &launch, void **params) override {
    makeCurrent();
    cuda::Function function = prepare(module, launch);
    require(driver().launchKernel(function, launch.grid, 1, 1, launch.block, 1, 1, launch.sharedBytes, stream,
                                  params, nullptr),
            fmt::format("cuLaunchKernel({}, {} blocks of {} threads, {} bytes of shared memory)",
                        launch.entry, launch.grid, launch.block, launch.sharedBytes)
                .c_str());
  }

  int residentBlocks(Module &module, const Launch &launch) override {
    makeCurrent();
    int blocks = 0;
    require(driver().occupancyMaxActiveBlocks(&blocks, prepare(module, launch),
                                              static_cast<int>(launch.block), launch.sharedBytes),
            "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return blocks * info.multiprocessors;
  }

  void synchronize() override {
    makeCurrent();
    require(driver().streamSynchronize(stream), "cuStreamSynchronize");
  }

  std::optional<double> timed(const std::function<void()> &work) override {
    makeCurrent();
    Timer timer(stream);
    timer.start();
    work();
    return timer.stopMicroseconds();
  }

  std::optional<uint64_t> bytesRead(DevicePtr) const override { return std::nullopt; }

private:
  void makeCurrent() { require(driver().ctxSetCurrent(context), "cuCtxSetCurrent"); }

  /// Refuses what cannot fit before the driver does, with both numbers.
  cuda::Function prepare(Module &module, const Launch &launch) {
    if (launch.sharedBytes > static_cast<uint32_t>(info.sharedBytesPerBlock))
      throw Error(Error::Code::sharedMemory, "shared memory of " + launch.entry,
                  fmt::format("{} bytes", launch.sharedBytes),
                  fmt::format("at most {} bytes on {}", info.sharedBytesPerBlock, info.name),
                  "compile for this device's profile");
    return static_cast<CudaModule &>(module).function(launch.entry, launch.sharedBytes);
  }

  CudaDeviceInfo info;
  cuda::DeviceOrdinal ordinal;
  cuda::Context context = nullptr;
  cuda::Stream stream = nullptr;
};

int attribute(cuda::DeviceOrdinal ordinal, int which) {
  int value = 0;
  require(driver().deviceGetAttribute(&value, which, ordinal), "cuDeviceGetAttribute");
  return value;
}

cuda::DeviceOrdinal ordinalOf(int index) {
  int count = cudaDeviceCount();
  if (index < 0 || index >= count)
    throw Error(Error::Code::noDevice, "CUDA device index", std::to_string(index),
                fmt::format("below {}, the number of devices", count), "use --device emulator");
  cuda::DeviceOrdinal ordinal = 0;
  require(driver().deviceGet(&ordinal, index), "cuDeviceGet");
  return ordinal;
}

[[noreturn]] void refuseImage(const CudaDeviceInfo &info, cuda::Result result, const std::string &log) {
  std::string text = log.c_str(); // the log is as long as its buffer
  throw Error(
      Error::Code::imageRefused,
      fmt::format("the driver (CUDA {}.{}) refused the image for {} (compute capability {}.{}) with {}",
                  info.driverVersion / 1000, info.driverVersion % 1000 / 10, info.name, info.major,
                  info.minor, cuda::describe(result)),
      "", "", text.empty() ? "compile for this device's target" : "its log: " + text);
}

std::unique_ptr<Module> CudaDevice::load(std::string_view image) {
  makeCurrent();
  std::string text(image); // PTX must end in a null character
  std::string log(16384, '\0');
  std::array<int, 2> options{cuda::jitErrorLog, cuda::jitErrorLogBytes};
  std::array<void *, 2> values{log.data(), reinterpret_cast<void *>(log.size() - 1)};
  cuda::ModuleRef handle = nullptr;
  cuda::Result result =
      driver().moduleLoadDataEx(&handle, text.c_str(), options.size(), options.data(), values.data());
  if (result != cuda::success)
    refuseImage(info, result, log);
  return std::make_unique<CudaModule>(context, handle);
}

} // namespace

int cudaDeviceCount() {
  int count = 0;
  require(driver().deviceGetCount(&count), "cuDeviceGetCount");
  return count;
}

CudaDeviceInfo cudaDeviceInfo(int index) {
  cuda::DeviceOrdinal ordinal = ordinalOf(index);
  CudaDeviceInfo info;
  std::array<char, 256> name{};
  require(driver().deviceGetName(name.data(), name.size() - 1, ordinal), "cuDeviceGetName");
  info.name = name.data();
  info.major = attribute(ordinal, cuda::attributeMajor);
  info.minor = attribute(ordinal, cuda::attributeMinor);
  info.multiprocessors = attribute(ordinal, cuda::attributeMultiprocessors);
  info.sharedBytesPerBlock = attribute(ordinal, cuda::attributeSharedOptIn);
  require(driver().driverGetVersion(&info.driverVersion), "cuDriverGetVersion");
  return info;
}

std::unique_ptr<Device> createCudaDevice(int index) {
  return std::make_unique<CudaDevice>(cudaDeviceInfo(index), ordinalOf(index));
}

} // namespace mla

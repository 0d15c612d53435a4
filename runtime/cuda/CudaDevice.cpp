#include "runtime/cuda/CudaDevice.h"

#include "runtime/cuda/Driver.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <mutex>

namespace mla {

using cuda::driver;
using cuda::require;

namespace {

/// Makes a context current and puts the thread's own back.
class Current {
public:
  explicit Current(cuda::Context context) {
    require(driver().ctxGetCurrent(&before), "cuCtxGetCurrent");
    changed = before != context;
    if (changed)
      require(driver().ctxSetCurrent(context), "cuCtxSetCurrent");
  }
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;
  ~Current() {
    if (changed)
      driver().ctxSetCurrent(before);
  }

private:
  cuda::Context before = nullptr;
  bool changed = false;
};

/// The same where an error has nowhere to go: runs `work` if the context can be made current.
template <typename Work>
void quietly(cuda::Context context, Work work) noexcept {
  try {
    Current current(context);
    work();
  } catch (const Error &) {
    // The driver repeats a failed launch's error on every later call, synchronize() included.
  }
}

/// A module of the driver, with its functions as they were looked up. One shared-memory limit is kept per
/// function, the largest that was asked for.
class CudaModule : public Module {
public:
  CudaModule(cuda::Context context, cuda::ModuleRef handle) : context(context), handle(handle) {}

  ~CudaModule() override {
    quietly(context, [&] { driver().moduleUnload(handle); });
  }

  /// The function, allowed `sharedBytes` of dynamic shared memory.
  cuda::Function function(const std::string &entry, uint32_t sharedBytes) {
    std::lock_guard lock(mutex);
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
  std::mutex mutex;
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

class CudaEvent : public Event {
public:
  CudaEvent(cuda::Context context, cuda::Stream own) : context(context), own(own) {
    Current current(context);
    require(driver().eventCreate(&event, cuda::eventNoTiming), "cuEventCreate");
  }
  ~CudaEvent() override {
    quietly(context, [&] { driver().eventDestroy(event); });
  }

  void record(Stream stream) override {
    Current current(context);
    cuda::Stream chosen = stream ? reinterpret_cast<cuda::Stream>(stream) : own;
    require(driver().eventRecord(event, chosen), "cuEventRecord");
  }
  void wait() override {
    Current current(context);
    require(driver().eventSynchronize(event), "cuEventSynchronize");
  }

private:
  cuda::Context context;
  cuda::Stream own;
  cuda::Event event = nullptr;
};

class CudaGraph : public Graph {
public:
  CudaGraph(cuda::Context context, cuda::Stream own, cuda::GraphRef graph)
      : context(context), own(own), graph(graph) {
    require(driver().graphInstantiate(&exec, graph, 0), "cuGraphInstantiate");
  }
  ~CudaGraph() override {
    quietly(context, [&] {
      driver().graphExecDestroy(exec);
      driver().graphDestroy(graph);
    });
  }

  void replay(Stream stream) override {
    Current current(context);
    require(driver().graphLaunch(exec, stream ? reinterpret_cast<cuda::Stream>(stream) : own),
            "cuGraphLaunch");
  }

private:
  cuda::Context context;
  cuda::Stream own;
  cuda::GraphRef graph;
  cuda::GraphExec exec = nullptr;
};

class CudaDevice : public Device {
public:
  CudaDevice(CudaDeviceInfo info, cuda::DeviceOrdinal ordinal, bool ownContext)
      : info(std::move(info)), ordinal(ordinal), ownContext(ownContext) {
    cuda::Context before = nullptr;
    require(driver().ctxGetCurrent(&before), "cuCtxGetCurrent");
    if (ownContext)
      require(driver().ctxCreate(&context, 0, ordinal), "cuCtxCreate");
    else
      require(driver().devicePrimaryCtxRetain(&context, ordinal), "cuDevicePrimaryCtxRetain");
    driver().ctxSetCurrent(before); // a new context is current
    Current current(context);
    require(driver().streamCreate(&stream, cuda::streamNonBlocking), "cuStreamCreate");
  }

  ~CudaDevice() override {
    quietly(context, [&] { driver().streamDestroy(stream); });
    if (ownContext)
      driver().ctxDestroy(context);
    else
      driver().devicePrimaryCtxRelease(ordinal);
  }

  std::string name() const override {
    return fmt::format("{} (compute capability {}.{})", info.name, info.major, info.minor);
  }

  int multiprocessors() const override { return info.multiprocessors; }

  DevicePtr allocate(size_t bytes, const std::string &label) override {
    Current current(context);
    DevicePtr pointer = 0;
    require(driver().memAlloc(&pointer, bytes),
            fmt::format("cuMemAlloc({} bytes) for {}", bytes, label).c_str());
    return pointer;
  }

  void release(DevicePtr pointer) noexcept override {
    quietly(context, [&] { driver().memFree(pointer); });
  }

  void copyIn(DevicePtr to, const void *from, size_t bytes) override {
    Current current(context);
    require(driver().memcpyHtoDAsync(to, from, bytes, stream), "cuMemcpyHtoDAsync");
    synchronize(); // the caller may change `from` at once
  }

  void copyOut(void *to, DevicePtr from, size_t bytes) override {
    Current current(context);
    require(driver().memcpyDtoHAsync(to, from, bytes, stream), "cuMemcpyDtoHAsync");
    synchronize();
  }

  void fill(DevicePtr to, uint8_t value, size_t bytes) override {
    Current current(context);
    require(driver().memsetD8Async(to, value, bytes, stream), "cuMemsetD8Async");
  }

  std::unique_ptr<Module> load(std::string_view image) override;

  void launch(Module &module, const Launch &launch, void **params) override {
    Current current(context);
    cuda::Function function = find(module, launch);
    cuda::Result result = launch.overlap && canOverlap() ? launchOverlapping(function, launch, params)
                                                         : launchInOrder(function, launch, params);
    if (result != cuda::success)
      require(result, fmt::format("cuLaunchKernel({}, {} blocks of {} threads, {} bytes of shared memory)",
                                  launch.entry, launch.grid, launch.block, launch.sharedBytes)
                          .c_str());
  }

  void prepare(Module &module, const Launch &launch) override {
    Current current(context);
    find(module, launch);
  }

  int residentBlocks(Module &module, const Launch &launch) override {
    Current current(context);
    int blocks = 0;
    require(driver().occupancyMaxActiveBlocks(&blocks, find(module, launch), static_cast<int>(launch.block),
                                              launch.sharedBytes),
            "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return blocks * info.multiprocessors;
  }

  void synchronize() override {
    Current current(context);
    require(driver().streamSynchronize(stream), "cuStreamSynchronize");
  }

  std::optional<double> timed(const std::function<void()> &work) override {
    Current current(context);
    Timer timer(stream);
    timer.start();
    work();
    return timer.stopMicroseconds();
  }

  std::optional<uint64_t> bytesRead(DevicePtr) const override { return std::nullopt; }

  Stream createStream() override {
    Current current(context);
    cuda::Stream created = nullptr;
    require(driver().streamCreate(&created, cuda::streamNonBlocking), "cuStreamCreate");
    return reinterpret_cast<Stream>(created);
  }

  void destroyStream(Stream old) noexcept override {
    quietly(context, [&] { driver().streamDestroy(reinterpret_cast<cuda::Stream>(old)); });
  }

  void synchronize(Stream which) override {
    Current current(context);
    require(driver().streamSynchronize(streamOf(which)), "cuStreamSynchronize");
  }

  bool capturing(Stream which) override {
    Current current(context);
    int status = 0;
    require(driver().streamIsCapturing(streamOf(which), &status), "cuStreamIsCapturing");
    return status != 0;
  }

  void *allocateHost(size_t bytes) override {
    Current current(context);
    void *memory = nullptr;
    require(driver().memHostAlloc(&memory, bytes, 0), "cuMemHostAlloc");
    return memory;
  }

  void releaseHost(void *memory) noexcept override {
    quietly(context, [&] { driver().memFreeHost(memory); });
  }

  void copyInAsync(DevicePtr to, const void *from, size_t bytes, Stream which) override {
    Current current(context);
    require(driver().memcpyHtoDAsync(to, from, bytes, streamOf(which)), "cuMemcpyHtoDAsync");
  }

  std::unique_ptr<Event> createEvent() override { return std::make_unique<CudaEvent>(context, stream); }

  std::unique_ptr<Graph> capture(Stream which, const std::function<void()> &record) override {
    Current current(context);
    require(driver().streamBeginCapture(streamOf(which), cuda::captureThreadLocal), "cuStreamBeginCapture");
    cuda::GraphRef graph = nullptr;
    try {
      record();
    } catch (...) {
      driver().streamEndCapture(streamOf(which), &graph);
      if (graph)
        driver().graphDestroy(graph);
      throw;
    }
    require(driver().streamEndCapture(streamOf(which), &graph), "cuStreamEndCapture");
    return std::make_unique<CudaGraph>(context, stream, graph);
  }

  std::optional<uint64_t> freeBytes() const override {
    Current current(context);
    size_t free = 0, total = 0;
    require(driver().memGetInfo(&free, &total), "cuMemGetInfo");
    return free;
  }

  int driverVersion() const override { return info.driverVersion; }
  int capability() const override { return 10 * info.major + info.minor; }

private:
  cuda::Result launchInOrder(cuda::Function function, const Launch &launch, void **params) {
    return driver().launchKernel(function, launch.grid, 1, 1, launch.block, 1, 1, launch.sharedBytes,
                                 streamOf(launch.stream), params, nullptr);
  }

  cuda::Result launchOverlapping(cuda::Function function, const Launch &launch, void **params) {
    cuda::LaunchAttribute attribute{cuda::launchProgrammaticSerialization, 0, {1}};
    cuda::LaunchConfig config{
        launch.grid, 1, 1, launch.block, 1, 1, launch.sharedBytes, streamOf(launch.stream), &attribute, 1};
    return driver().launchKernelEx(&config, function, params, nullptr);
  }

  /// CUDA 12.3 is the first whose graphs take such launches.
  bool canOverlap() const {
    return info.driverVersion >= 12030 && info.major >= 9 && driver().launchKernelEx;
  }

  cuda::Stream streamOf(Stream given) const { return given ? reinterpret_cast<cuda::Stream>(given) : stream; }

  /// Refuses what cannot fit before the driver does, with both numbers.
  cuda::Function find(Module &module, const Launch &launch) {
    if (launch.sharedBytes > static_cast<uint32_t>(info.sharedBytesPerBlock))
      throw Error(Error::Code::sharedMemory, "shared memory of " + launch.entry,
                  fmt::format("{} bytes", launch.sharedBytes),
                  fmt::format("at most {} bytes on {}", info.sharedBytesPerBlock, info.name),
                  "compile for this device's profile");
    return static_cast<CudaModule &>(module).function(launch.entry, launch.sharedBytes);
  }

  CudaDeviceInfo info;
  cuda::DeviceOrdinal ordinal;
  bool ownContext;
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

/// The PTX version that a text says it is of; empty for a cubin.
std::string ptxVersionOf(std::string_view image) {
  constexpr std::string_view word = "\n.version ";
  size_t at = image.find(word);
  if (at == std::string_view::npos)
    return "";
  std::string_view rest = image.substr(at + word.size());
  return std::string(rest.substr(0, rest.find_first_of(" \t\r\n")));
}

[[noreturn]] void refuseImage(const CudaDeviceInfo &info, std::string_view image, cuda::Result result,
                              const std::string &log) {
  std::string version = ptxVersionOf(image);
  std::string wayOut = result == cuda::unsupportedPtxVersion
                           ? "compile for an older PTX version (--ptx), or install a newer driver"
                           : "compile for this device's target";
  std::string text = log.c_str(); // the log is as long as its buffer
  if (!text.empty())
    wayOut += "; its log: " + text;
  throw Error(
      Error::Code::imageRefused,
      fmt::format("the driver (CUDA {}.{}) refused the image{} for {} (compute capability {}.{}) with {}",
                  info.driverVersion / 1000, info.driverVersion % 1000 / 10,
                  version.empty() ? "" : " (PTX " + version + ")", info.name, info.major, info.minor,
                  cuda::describe(result)),
      "", "", wayOut);
}

std::unique_ptr<Module> CudaDevice::load(std::string_view image) {
  Current current(context);
  std::string text(image); // PTX must end in a null character
  std::string log(16384, '\0');
  std::array<int, 2> options{cuda::jitErrorLog, cuda::jitErrorLogBytes};
  std::array<void *, 2> values{log.data(), reinterpret_cast<void *>(log.size() - 1)};
  cuda::ModuleRef handle = nullptr;
  cuda::Result result =
      driver().moduleLoadDataEx(&handle, text.c_str(), options.size(), options.data(), values.data());
  if (result != cuda::success)
    refuseImage(info, image, result, log);
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

std::unique_ptr<Device> createCudaDevice(int index, bool ownContext) {
  return std::make_unique<CudaDevice>(cudaDeviceInfo(index), ordinalOf(index), ownContext);
}

} // namespace mla

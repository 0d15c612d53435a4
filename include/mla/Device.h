// A place that kernels run: a CUDA device or the emulator.
#pragma once

#include "mla/Error.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mla {

/// An address in the device's memory. On the emulator it is a host address.
using DevicePtr = uint64_t;

/// A stream: a CUstream on CUDA, created by the device or by anybody else in its context. 0 is the device's
/// own stream. The emulator has one order for everything and ignores it.
using Stream = uint64_t;

/// A loaded image. Belongs to the device that loaded it and must not outlive it.
class Module {
public:
  Module() = default;
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;
  virtual ~Module() = default;
};

/// One launch. Grid and block are one-dimensional.
struct Launch {
  std::string entry;
  uint32_t grid = 0;
  uint32_t block = 0;
  uint32_t sharedBytes = 0; ///< dynamic shared memory of a block
  uint32_t params = 0; ///< number of parameters; needed while capturing on a device that records launches
  Stream stream = 0;
  /// May begin while the launch before it on the stream still runs, and waits for that by itself
  /// (programmatic dependent launch). A device may take no notice.
  bool overlap = false;
};

/// A point in a stream. Belongs to its device and must not outlive it.
class Event {
public:
  Event() = default;
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;
  virtual ~Event() = default;

  /// Marks the stream's present end.
  virtual void record(Stream stream) = 0;
  /// Waits on the host until the marked point was reached; at once if nothing was marked.
  virtual void wait() = 0;
};

/// Captured launches. Belongs to its device and must not outlive it, nor the modules it launches.
class Graph {
public:
  Graph() = default;
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;
  virtual ~Graph() = default;

  virtual void replay(Stream stream) = 0;
};

/// May be used from several threads at once. Every call leaves the thread's current CUDA context as it was,
/// and throws Error (the codes under "Devices") when the device refuses it, with the driver's own text.
class Device {
public:
  Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  virtual ~Device() = default;

  virtual std::string name() const = 0;
  virtual int multiprocessors() const = 0;

  /// `bytes` > 0. Aligned to at least 256 bytes; the contents are undefined. The label is for messages.
  virtual DevicePtr allocate(size_t bytes, const std::string &label) = 0;
  /// Never throws: what goes wrong here is reported by a later synchronize().
  virtual void release(DevicePtr pointer) noexcept = 0;

  // The copies and fills are ordered with the launches; copyOut() waits for what was queued before it.
  virtual void copyIn(DevicePtr to, const void *from, size_t bytes) = 0;
  virtual void copyOut(void *to, DevicePtr from, size_t bytes) = 0;
  virtual void fill(DevicePtr to, uint8_t value, size_t bytes) = 0;

  /// Loads a PTX artefact.
  virtual std::unique_ptr<Module> load(std::string_view image) = 0;

  /// Does for a launch of that shape what cannot be done while a stream is captured: finds the function and
  /// raises its limits. launch() of a shape that was prepared makes no other driver call.
  virtual void prepare(Module &, const Launch &) {}

  /// Queues a launch. `params` holds one pointer per parameter, as cuLaunchKernel takes them; the values are
  /// copied before the call returns.
  virtual void launch(Module &module, const Launch &launch, void **params) = 0;

  /// Blocks of that launch shape that run at once on the whole device.
  virtual int residentBlocks(Module &module, const Launch &launch) = 0;

  /// Waits for all that was queued on the device's own stream, and reports what failed in it.
  virtual void synchronize() = 0;

  //===-- Streams, staging and graphs --===//

  virtual Stream createStream() { return 0; }
  virtual void destroyStream(Stream) noexcept {}
  virtual void synchronize(Stream) { synchronize(); }
  /// Is what is queued on the stream being captured rather than run?
  virtual bool capturing(Stream) { return false; }

  /// Host memory that asynchronous copies can read and kernels can access at the same address.
  virtual void *allocateHost(size_t bytes) { return ::operator new(bytes); }
  virtual void releaseHost(void *memory) noexcept { ::operator delete(memory); }
  /// Copies from memory of allocateHost(), which must stay as it is until the copy is done.
  virtual void copyInAsync(DevicePtr to, const void *from, size_t bytes, Stream) { copyIn(to, from, bytes); }

  /// The default is for devices whose calls return when they are done.
  virtual std::unique_ptr<Event> createEvent();

  /// Captures what `record` queues on the stream; nothing of it runs. Only launches may be queued.
  virtual std::unique_ptr<Graph> capture(Stream stream, const std::function<void()> &record);

  /// Memory that is still free, where the device tells.
  virtual std::optional<uint64_t> freeBytes() const { return std::nullopt; }

  /// What the driver supports, as cuDriverGetVersion() gives it; 0 where there is no driver.
  virtual int driverVersion() const { return 0; }
  /// 10 * major + minor of the compute capability; 0 where there is none.
  virtual int capability() const { return 0; }

  /// Runs `work`, which queues launches, and measures the device's time for them in microseconds; empty on a
  /// device whose time means nothing.
  virtual std::optional<double> timed(const std::function<void()> &work) = 0;

  /// Bytes that launches have read so far from the allocation that starts there; empty on a device that does
  /// not count them.
  virtual std::optional<uint64_t> bytesRead(DevicePtr allocation) const = 0;
};

/// An allocation that is released with its owner. Zero bytes is legal: the address is then 0.
class Buffer {
public:
  Buffer() = default;
  Buffer(Device &device, size_t bytes, const std::string &label = {});
  Buffer(Buffer &&other) noexcept;
  Buffer &operator=(Buffer &&other) noexcept;
  ~Buffer();

  DevicePtr get() const { return address; }
  size_t size() const { return length; }

  /// Copies `from` over the start of the buffer.
  void copyIn(const void *from, size_t bytes);
  /// Copies the start of the buffer.
  void copyOut(void *to, size_t bytes) const;
  void fill(uint8_t value);

private:
  Device *device = nullptr;
  DevicePtr address = 0;
  size_t length = 0;
};

/// Devices that the CUDA driver sees. Throws Error noDriver when there is no usable driver.
int cudaDeviceCount();

/// A CUDA device, through the driver alone: libcuda.so.1 is opened when this is first called. `ownContext`:
/// not in the device's primary context, which frameworks share, but in a new one. Throws Error noDriver or
/// noDevice.
std::unique_ptr<Device> createCudaDevice(int index = 0, bool ownContext = false);

} // namespace mla

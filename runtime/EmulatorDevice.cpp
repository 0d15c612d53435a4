#include "runtime/EmulatorDevice.h"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace mla {

namespace {

/// The host code of an image, by name.
class EmulatorModule : public Module {
public:
  explicit EmulatorModule(EntryLookup entries) : entries(std::move(entries)) {}

  emulator::Entry find(const std::string &name) const {
    if (emulator::Entry entry = entries(name))
      return entry;
    throw Error(Error::Code::entryMissing, "entry " + name, "not among the compiled kernels",
                "a kernel of the program");
  }

private:
  EntryLookup entries;
};

/// A launch with its parameters' values.
struct Recorded {
  emulator::Entry entry;
  Launch launch;
  std::vector<uint64_t> values;
};

class EmulatorDevice : public Device {
public:
  EmulatorDevice(EntryLookup entries, EmulatorOptions options)
      : entries(std::move(entries)), options(std::move(options)) {}

  std::string name() const override { return "emulator"; }
  int multiprocessors() const override { return options.multiprocessors; }

  DevicePtr allocate(size_t bytes, const std::string &label) override {
    return reinterpret_cast<DevicePtr>(memory.allocate(bytes, label));
  }

  void release(DevicePtr pointer) noexcept override {
    try {
      memory.release(host(pointer));
    } catch (const emulator::Failure &failure) {
      if (!late)
        late = failure;
    }
  }

  void copyIn(DevicePtr to, const void *from, size_t bytes) override {
    memory.check(host(to), bytes, "a copy to the device");
    std::memcpy(host(to), from, bytes);
  }

  void copyOut(void *to, DevicePtr from, size_t bytes) override {
    memory.check(host(from), bytes, "a copy from the device");
    std::memcpy(to, host(from), bytes);
  }

  void fill(DevicePtr to, uint8_t value, size_t bytes) override {
    memory.check(host(to), bytes, "a fill");
    std::memset(host(to), value, bytes);
  }

  void *allocateHost(size_t bytes) override { return memory.allocate(bytes, "host memory"); }
  void releaseHost(void *pointer) noexcept override { release(reinterpret_cast<DevicePtr>(pointer)); }

  std::unique_ptr<Module> load(std::string_view image) override {
    return std::make_unique<EmulatorModule>(options.loader ? options.loader(image) : entries);
  }

  void prepare(Module &module, const Launch &launch) override {
    static_cast<EmulatorModule &>(module).find(launch.entry);
  }

  void launch(Module &module, const Launch &launch, void **params) override {
    emulator::Entry entry = static_cast<EmulatorModule &>(module).find(launch.entry);
    std::unique_lock lock(mutex);
    if (auto recording = recordings.find(launch.stream); recording != recordings.end())
      return record(*recording->second, entry, launch, params);
    start(entry, launch, params);
  }

  /// There is one order for everything; streams differ in what is being captured.
  Stream createStream() override { return ++lastStream; }
  bool capturing(Stream stream) override {
    std::unique_lock lock(mutex);
    return recordings.contains(stream);
  }
  std::unique_ptr<Graph> capture(Stream stream, const std::function<void()> &record) override;

  /// Runs a launch to its end.
  void start(emulator::Entry entry, const Launch &launch, void **params) {
    emulator::LaunchConfig config;
    config.kernel = launch.entry;
    config.grid = launch.grid;
    config.block = launch.block;
    config.sharedBytes = launch.sharedBytes;
    config.seed = options.seed;
    config.progress = options.progress;
    config.overlap = launch.overlap;
    emulator::launch(memory, entry, params, config);
  }

  int residentBlocks(Module &, const Launch &) override { return options.multiprocessors; }

  void synchronize() override {
    if (auto failure = std::exchange(late, std::nullopt))
      throw emulator::Failure(*failure);
  }

  std::optional<double> timed(const std::function<void()> &work) override {
    work();
    return std::nullopt;
  }

  std::optional<uint64_t> bytesRead(DevicePtr allocation) const override {
    return memory.traffic(host(allocation)).read;
  }

private:
  static void *host(DevicePtr pointer) { return reinterpret_cast<void *>(pointer); }

  static void record(std::vector<Recorded> &into, emulator::Entry entry, const Launch &launch,
                     void **params) {
    Recorded recorded{entry, launch, std::vector<uint64_t>(launch.params)};
    for (uint32_t i = 0; i < launch.params; ++i)
      std::memcpy(&recorded.values[i], params[i], sizeof(uint64_t));
    into.push_back(std::move(recorded));
  }

  friend class EmulatorGraph;

  EntryLookup entries;
  EmulatorOptions options;
  emulator::Memory memory;
  std::optional<emulator::Failure> late; ///< found by release()
  std::mutex mutex;                      ///< one launch at a time, as on one stream
  std::map<Stream, std::vector<Recorded> *> recordings; ///< of the streams that are being captured
  std::atomic<Stream> lastStream = 0;
};

class EmulatorGraph : public Graph {
public:
  EmulatorGraph(EmulatorDevice &device, std::vector<Recorded> launches)
      : device(device), launches(std::move(launches)) {}

  void replay(Stream) override {
    for (Recorded &recorded : launches) {
      std::vector<void *> params;
      for (uint64_t &value : recorded.values)
        params.push_back(&value);
      std::unique_lock lock(device.mutex);
      device.start(recorded.entry, recorded.launch, params.data());
    }
  }

private:
  EmulatorDevice &device;
  std::vector<Recorded> launches;
};

std::unique_ptr<Graph> EmulatorDevice::capture(Stream stream, const std::function<void()> &record) {
  std::vector<Recorded> launches;
  auto set = [&](bool on) {
    std::unique_lock lock(mutex);
    on ? void(recordings[stream] = &launches) : void(recordings.erase(stream));
  };
  set(true);
  try {
    record();
  } catch (...) {
    set(false);
    throw;
  }
  set(false);
  return std::make_unique<EmulatorGraph>(*this, std::move(launches));
}

} // namespace

std::unique_ptr<Device> createEmulatorDevice(EntryLookup entries, EmulatorOptions options) {
  return std::make_unique<EmulatorDevice>(std::move(entries), std::move(options));
}

} // namespace mla

#include "runtime/EmulatorDevice.h"

#include <cstring>
#include <utility>

namespace mla {

namespace {

/// The code of every kernel is found by name, so a module has nothing to hold.
class EmulatorModule : public Module {};

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

  std::unique_ptr<Module> load(std::string_view) override { return std::make_unique<EmulatorModule>(); }

  void launch(Module &, const Launch &launch, void **params) override {
    emulator::Entry entry = entries(launch.entry);
    if (!entry)
      throw Error(Error::Code::entryMissing, "entry " + launch.entry, "not among the compiled kernels",
                  "a kernel of the program");
    emulator::LaunchConfig config;
    config.kernel = launch.entry;
    config.grid = launch.grid;
    config.block = launch.block;
    config.sharedBytes = launch.sharedBytes;
    config.seed = options.seed;
    config.progress = options.progress;
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

  EntryLookup entries;
  EmulatorOptions options;
  emulator::Memory memory;
  std::optional<emulator::Failure> late; ///< found by release()
};

} // namespace

std::unique_ptr<Device> createEmulatorDevice(EntryLookup entries, EmulatorOptions options) {
  return std::make_unique<EmulatorDevice>(std::move(entries), std::move(options));
}

} // namespace mla

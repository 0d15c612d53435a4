#include "HostDevice.h"

#include <cstring>

namespace mla::test {

static void *host(DevicePtr pointer) { return reinterpret_cast<void *>(pointer); }

DevicePtr HostDevice::allocate(size_t bytes, const std::string &) {
  constexpr size_t alignment = 256;
  auto memory = std::make_unique<std::byte[]>(bytes + alignment);
  auto address = (reinterpret_cast<DevicePtr>(memory.get()) + alignment - 1) / alignment * alignment;
  std::lock_guard lock(mutex);
  allocations[address] = std::move(memory);
  return address;
}

void HostDevice::release(DevicePtr pointer) noexcept {
  std::lock_guard lock(mutex);
  allocations.erase(pointer);
}

void HostDevice::copyIn(DevicePtr to, const void *from, size_t bytes) { std::memcpy(host(to), from, bytes); }
void HostDevice::copyOut(void *to, DevicePtr from, size_t bytes) { std::memcpy(to, host(from), bytes); }
void HostDevice::fill(DevicePtr to, uint8_t value, size_t bytes) { std::memset(host(to), value, bytes); }

std::unique_ptr<Module> HostDevice::load(std::string_view) { return std::make_unique<Module>(); }

void HostDevice::launch(Module &, const Launch &launch, void **params) {
  std::lock_guard lock(launching);
  if (auto recording = recordings.find(launch.stream); recording != recordings.end()) {
    Recorded recorded{launch, std::vector<uint64_t>(launch.params)};
    for (uint32_t i = 0; i < launch.params; ++i)
      recorded.values[i] = *static_cast<uint64_t *>(params[i]);
    recording->second->push_back(std::move(recorded));
    return;
  }
  if (launches.size() < mostLaunches)
    launches.push_back(launch);
  entries.at(launch.entry)(launch, params);
}

namespace {

class HostGraph : public Graph {
public:
  HostGraph(HostDevice &device, std::vector<HostDevice::Recorded> launches)
      : device(device), launches(std::move(launches)) {}

  void replay(Stream) override {
    Module module;
    for (HostDevice::Recorded &recorded : launches) {
      std::vector<void *> params;
      for (uint64_t &value : recorded.values)
        params.push_back(&value);
      Launch launch = recorded.launch;
      launch.stream = HostDevice::replaying;
      device.launch(module, launch, params.data());
    }
  }

private:
  HostDevice &device;
  std::vector<HostDevice::Recorded> launches;
};

} // namespace

bool HostDevice::capturing(Stream stream) {
  std::lock_guard lock(launching);
  return recordings.contains(stream);
}

void HostDevice::setRecording(Stream stream, std::vector<Recorded> *launches) {
  std::lock_guard lock(launching);
  if (launches)
    recordings[stream] = launches;
  else
    recordings.erase(stream);
}

std::unique_ptr<Graph> HostDevice::capture(Stream stream, const std::function<void()> &record) {
  std::vector<Recorded> launches;
  setRecording(stream, &launches);
  try {
    record();
  } catch (...) {
    setRecording(stream, nullptr);
    throw;
  }
  setRecording(stream, nullptr);
  return std::make_unique<HostGraph>(*this, std::move(launches));
}

std::optional<double> HostDevice::timed(const std::function<void()> &work) {
  work();
  return std::nullopt;
}

} // namespace mla::test

#include "HostDevice.h"

#include <cstring>

namespace mla::test {

static void *host(DevicePtr pointer) { return reinterpret_cast<void *>(pointer); }

DevicePtr HostDevice::allocate(size_t bytes, const std::string &) {
  auto memory = std::make_unique<std::byte[]>(bytes);
  auto address = reinterpret_cast<DevicePtr>(memory.get());
  allocations[address] = std::move(memory);
  return address;
}

void HostDevice::release(DevicePtr pointer) noexcept { allocations.erase(pointer); }

void HostDevice::copyIn(DevicePtr to, const void *from, size_t bytes) { std::memcpy(host(to), from, bytes); }
void HostDevice::copyOut(void *to, DevicePtr from, size_t bytes) { std::memcpy(to, host(from), bytes); }
void HostDevice::fill(DevicePtr to, uint8_t value, size_t bytes) { std::memset(host(to), value, bytes); }

std::unique_ptr<Module> HostDevice::load(std::string_view) { return std::make_unique<Module>(); }

void HostDevice::launch(Module &, const Launch &launch, void **params) {
  launches.push_back(launch);
  entries.at(launch.entry)(launch, params);
}

std::optional<double> HostDevice::timed(const std::function<void()> &work) {
  work();
  return std::nullopt;
}

} // namespace mla::test

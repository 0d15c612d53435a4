#include "runtime/api/Staging.h"

namespace mla {

StagingRing::StagingRing(Device &device, size_t bytes)
    : device(device), slotBytes((bytes + 255) / 256 * 256),
      memory(static_cast<std::byte *>(device.allocateHost(slotBytes * slots))) {
  try {
    for (std::unique_ptr<Event> &event : copied)
      event = device.createEvent();
  } catch (...) {
    device.releaseHost(memory);
    throw;
  }
}

StagingRing::~StagingRing() {
  for (std::unique_ptr<Event> &event : copied) {
    try {
      event->wait();
    } catch (const std::exception &) {
      // A failed launch is reported by whoever synchronises; the memory is given back all the same.
    }
  }
  device.releaseHost(memory);
}

std::byte *StagingRing::acquire() {
  current = (current + 1) % slots;
  copied[current]->wait();
  return memory + current * slotBytes;
}

void StagingRing::send(DevicePtr to, size_t bytes, Stream stream) {
  device.copyInAsync(to, memory + current * slotBytes, bytes, stream);
  copied[current]->record(stream);
}

} // namespace mla

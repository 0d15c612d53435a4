#include "runtime/Device.h"

#include <utility>

namespace mla {

namespace {

/// For devices whose calls return when they are done.
class FinishedEvent : public Event {
public:
  void record(Stream) override {}
  void wait() override {}
};

} // namespace

std::unique_ptr<Event> Device::createEvent() { return std::make_unique<FinishedEvent>(); }

std::unique_ptr<Graph> Device::capture(Stream, const std::function<void()> &) {
  throw Error(Error::Code::driverFailure, "capture on " + name(), "", "", "use a device that has graphs");
}

Buffer::Buffer(Device &device, size_t bytes, const std::string &label)
    : device(&device), address(bytes ? device.allocate(bytes, label) : 0), length(bytes) {}

Buffer::Buffer(Buffer &&other) noexcept
    : device(other.device), address(std::exchange(other.address, 0)), length(std::exchange(other.length, 0)) {
}

Buffer &Buffer::operator=(Buffer &&other) noexcept {
  std::swap(device, other.device);
  std::swap(address, other.address);
  std::swap(length, other.length);
  return *this;
}

Buffer::~Buffer() {
  if (address)
    device->release(address);
}

static void requireWithin(size_t bytes, size_t length) {
  if (bytes > length)
    throw Error(Error::Code::operandMismatch, "the size of a copy", std::to_string(bytes) + " bytes",
                "at most the " + std::to_string(length) + " bytes of the buffer");
}

void Buffer::copyIn(const void *from, size_t bytes) {
  requireWithin(bytes, length);
  if (bytes)
    device->copyIn(address, from, bytes);
}

void Buffer::copyOut(void *to, size_t bytes) const {
  requireWithin(bytes, length);
  if (bytes)
    device->copyOut(to, address, bytes);
}

void Buffer::fill(uint8_t value) {
  if (length)
    device->fill(address, value, length);
}

} // namespace mla

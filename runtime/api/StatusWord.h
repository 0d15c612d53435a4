// A word in host memory that kernels write and the host reads without asking the driver.
#pragma once

#include "mla/Device.h"

#include <atomic>

namespace mla {

class StatusWord {
public:
  explicit StatusWord(Device &device)
      : device(device), word(static_cast<uint64_t *>(device.allocateHost(sizeof(uint64_t)))) {
    *word = 0;
  }
  StatusWord(const StatusWord &) = delete;
  StatusWord &operator=(const StatusWord &) = delete;
  ~StatusWord() { device.releaseHost(word); }

  DevicePtr address() const { return reinterpret_cast<DevicePtr>(word); }

  /// What was written last, 0 if nothing since this was last asked.
  uint64_t take() {
    std::atomic_ref shared(*word);
    uint64_t value = shared.load(std::memory_order_acquire);
    if (value)
      shared.store(0, std::memory_order_relaxed);
    return value;
  }

private:
  Device &device;
  uint64_t *word;
};

} // namespace mla

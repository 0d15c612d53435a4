// Host memory from which plans are copied while the host makes the next ones.
#pragma once

#include "mla/Device.h"

#include <array>

namespace mla {

/// A ring of slots. A slot is used again only when the copy from it is done.
class StagingRing {
public:
  static constexpr size_t slots = 4;

  StagingRing(Device &device, size_t bytes);
  StagingRing(const StagingRing &) = delete;
  StagingRing &operator=(const StagingRing &) = delete;
  ~StagingRing();

  /// The next slot's memory; waits until it is free.
  std::byte *acquire();
  /// Queues the copy of the acquired slot's start.
  void send(DevicePtr to, size_t bytes, Stream stream);

private:
  Device &device;
  size_t slotBytes;
  std::byte *memory;
  std::array<std::unique_ptr<Event>, slots> copied;
  size_t current = 0;
};

} // namespace mla

// The emulator as a Device.
#pragma once

#include "runtime/Device.h"
#include "runtime/emulator/Emulator.h"

namespace mla {

/// Finds a kernel's host code by its entry name; null if there is none. The compiler's host JIT supplies it.
using EntryLookup = std::function<emulator::Entry(const std::string &name)>;

struct EmulatorOptions {
  uint64_t seed = 0;       ///< of the warp schedule
  int multiprocessors = 8; ///< blocks that a plan spreads its work over
  /// Finds the host code of an image when it is loaded; if absent, the device's look-up serves all images.
  std::function<EntryLookup(std::string_view image)> loader;
  /// Called now and then during a launch, with blocks done and blocks in all.
  std::function<void(uint64_t done, uint64_t total)> progress;
};

/// Launches run to their end before launch() returns. A fault found by the emulator leaves launch() as
/// emulator::Failure. Captured launches are kept with their parameters and run by Graph::replay().
std::unique_ptr<Device> createEmulatorDevice(EntryLookup entries, EmulatorOptions options = {});

} // namespace mla

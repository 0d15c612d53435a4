//===- GlobalView.h - Global memory as one launch sees it -------*- C++ -*-===//
//
// A copy of the allocation table: looked up at every global access, so without a lock and with the last hit
// tried first.
//
//===----------------------------------------------------------------------===//
#ifndef MLAC_RUNTIME_EMULATOR_GLOBALVIEW_H
#define MLAC_RUNTIME_EMULATOR_GLOBALVIEW_H

#include "runtime/emulator/Emulator.h"

namespace mla::emulator {

class GlobalView {
public:
  struct Range {
    uintptr_t begin;
    size_t bytes;
    Traffic traffic;
    bool pending = false; ///< May the launch before still write to it?

    bool holds(uintptr_t address, size_t count) const {
      return address - begin <= bytes && count <= bytes - (address - begin);
    }
  };

  GlobalView() = default;
  explicit GlobalView(std::vector<Extent> extents);

  /// The allocation that holds the whole range, or null.
  Range *find(uintptr_t address, size_t bytes) {
    if (last < ranges.size() && ranges[last].holds(address, bytes)) [[likely]]
      return &ranges[last];
    return search(address, bytes);
  }

  /// Says where a range that find() refused lies, relative to the nearest allocation.
  std::string describe(uintptr_t address, size_t bytes) const;

  void markPending(std::span<const uintptr_t> begins);
  const std::string &nameOf(const Range &range) const { return extents[&range - ranges.data()].name; }

  /// Adds what was counted to the memory's own counters.
  void settle(Memory &memory);

private:
  Range *search(uintptr_t address, size_t bytes);
  size_t nearest(uintptr_t address) const;

  std::vector<Extent> extents;
  std::vector<Range> ranges;
  size_t last = 0;
};

} // namespace mla::emulator

#endif // MLAC_RUNTIME_EMULATOR_GLOBALVIEW_H

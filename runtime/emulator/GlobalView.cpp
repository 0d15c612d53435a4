//===- GlobalView.cpp - Global memory as one launch sees it ---------------===//

#include "runtime/emulator/GlobalView.h"

#include <algorithm>
#include <fmt/format.h>

using namespace mla::emulator;

GlobalView::GlobalView(std::vector<Extent> from) : extents(std::move(from)) {
  ranges.reserve(extents.size());
  for (const Extent &extent : extents)
    ranges.push_back({extent.begin, extent.bytes, {}});
}

GlobalView::Range *GlobalView::search(uintptr_t address, size_t bytes) {
  auto above = std::upper_bound(ranges.begin(), ranges.end(), address,
                                [](uintptr_t a, const Range &range) { return a < range.begin; });
  if (above == ranges.begin() || !std::prev(above)->holds(address, bytes))
    return nullptr;
  last = std::prev(above) - ranges.begin();
  return &ranges[last];
}

static uint64_t distance(const Extent &extent, uintptr_t address) {
  if (address < extent.begin)
    return extent.begin - address;
  uintptr_t end = extent.begin + extent.bytes;
  return address < end ? 0 : address - end;
}

size_t GlobalView::nearest(uintptr_t address) const {
  auto closer = [&](const Extent &a, const Extent &b) { return distance(a, address) < distance(b, address); };
  return std::min_element(extents.begin(), extents.end(), closer) - extents.begin();
}

std::string GlobalView::describe(uintptr_t address, size_t bytes) const {
  if (extents.empty())
    return fmt::format("{} bytes at {:#x} are outside of every allocation (there is none)", bytes, address);
  const Extent &extent = extents[nearest(address)];
  return fmt::format("{} bytes at {:#x} are out of bounds: offset {} of '{}', which has {} bytes", bytes,
                     address, static_cast<int64_t>(address - extent.begin), extent.name, extent.bytes);
}

void GlobalView::markPending(std::span<const uintptr_t> begins) {
  for (Range &range : ranges)
    range.pending = std::find(begins.begin(), begins.end(), range.begin) != begins.end();
}

void GlobalView::settle(Memory &memory) {
  std::vector<uintptr_t> written;
  for (Range &range : ranges) {
    if (range.traffic.read || range.traffic.written)
      memory.addTraffic(range.begin, range.traffic);
    if (range.traffic.written)
      written.push_back(range.begin);
    range.traffic = {};
  }
  memory.setLastWritten(std::move(written));
}

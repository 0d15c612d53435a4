//===- Memory.cpp - Global memory with bounds -----------------------------===//

#include "runtime/emulator/Emulator.h"
#include "runtime/emulator/GlobalView.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <new>

using namespace mla::emulator;

namespace {
constexpr size_t redZone = 256; // Keeps the alignment, and catches writes that no hook announced.
constexpr std::align_val_t alignment{256};
constexpr unsigned char poison = 0xFF;
constexpr unsigned char redZoneByte = 0xA5;
} // namespace

struct Memory::Allocation {
  Allocation(size_t bytes, std::string name) : bytes(bytes), name(std::move(name)) {
    raw = static_cast<unsigned char *>(::operator new(bytes + 2 * redZone, alignment));
    std::memset(raw, redZoneByte, redZone);
    std::memset(raw + redZone, poison, bytes);
    std::memset(raw + redZone + bytes, redZoneByte, redZone);
  }
  ~Allocation() { ::operator delete(raw, alignment); }

  unsigned char *data() const { return raw + redZone; }

  bool intact() const {
    auto isRedZone = [](unsigned char c) { return c == redZoneByte; };
    return std::all_of(raw, data(), isRedZone) &&
           std::all_of(data() + bytes, data() + bytes + redZone, isRedZone);
  }

  size_t bytes;
  std::string name;
  unsigned char *raw;
  Traffic traffic;
};

Memory::Memory() = default;
Memory::~Memory() = default;

void *Memory::allocate(size_t bytes, std::string name) {
  std::lock_guard lock(mutex);
  ++serial;
  if (name.empty())
    name = fmt::format("allocation {}", serial);
  auto fresh = std::make_unique<Allocation>(bytes, std::move(name));
  void *data = fresh->data();
  allocations.emplace(reinterpret_cast<uintptr_t>(data), std::move(fresh));
  return data;
}

void Memory::release(void *p) {
  if (!p)
    return;
  std::lock_guard lock(mutex);
  auto found = allocations.find(reinterpret_cast<uintptr_t>(p));
  if (found == allocations.end())
    throw Failure(fmt::format("release of {}, which is not an allocation", p));
  auto dead = std::move(found->second);
  allocations.erase(found);
  if (!dead->intact())
    throw Failure(
        fmt::format("something wrote outside of '{}' ({} bytes) without a hook", dead->name, dead->bytes));
}

void Memory::check(const void *p, size_t bytes, std::string_view what) const {
  GlobalView view(extents());
  auto address = reinterpret_cast<uintptr_t>(p);
  if (!view.find(address, bytes))
    throw Failure(fmt::format("{}: {}", what, view.describe(address, bytes)));
}

uint64_t Memory::bytesRead() const {
  std::lock_guard lock(mutex);
  return total.read;
}

uint64_t Memory::bytesWritten() const {
  std::lock_guard lock(mutex);
  return total.written;
}

Traffic Memory::traffic(const void *p) const {
  std::lock_guard lock(mutex);
  auto found = allocations.find(reinterpret_cast<uintptr_t>(p));
  return found == allocations.end() ? Traffic() : found->second->traffic;
}

void Memory::resetTraffic() {
  std::lock_guard lock(mutex);
  total = {};
  for (auto &[begin, allocation] : allocations)
    allocation->traffic = {};
}

std::vector<Extent> Memory::extents() const {
  std::lock_guard lock(mutex);
  std::vector<Extent> all;
  all.reserve(allocations.size());
  for (const auto &[begin, allocation] : allocations)
    all.push_back({begin, allocation->bytes, allocation->name});
  return all;
}

void Memory::addTraffic(uintptr_t begin, Traffic traffic) {
  std::lock_guard lock(mutex);
  total.read += traffic.read;
  total.written += traffic.written;
  auto found = allocations.find(begin);
  if (found == allocations.end())
    return;
  found->second->traffic.read += traffic.read;
  found->second->traffic.written += traffic.written;
}

std::vector<uintptr_t> Memory::lastWritten() const {
  std::lock_guard lock(mutex);
  return written;
}

void Memory::setLastWritten(std::vector<uintptr_t> begins) {
  std::lock_guard lock(mutex);
  written = std::move(begins);
}

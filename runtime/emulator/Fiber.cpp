//===- Fiber.cpp - Pooled stacks ------------------------------------------===//

#include "runtime/emulator/Fiber.h"

#include <new>
#include <sys/mman.h>

using namespace mla::emulator;

namespace {
constexpr size_t guardBytes = 4096;
constexpr size_t strideBytes = StackPool::stackBytes + guardBytes;
constexpr uint32_t stacksPerSlab = 32;
constexpr size_t slabBytes = strideBytes * stacksPerSlab;
} // namespace

StackPool::~StackPool() {
  for (std::byte *slab : slabs)
    munmap(slab, slabBytes);
}

void StackPool::grow() {
  void *slab =
      mmap(nullptr, slabBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (slab == MAP_FAILED)
    throw std::bad_alloc();
  slabs.push_back(static_cast<std::byte *>(slab));
  for (uint32_t i = 0; i < stacksPerSlab; ++i)
    mprotect(slabs.back() + i * strideBytes, guardBytes, PROT_NONE);
}

Stack StackPool::get(uint32_t index) {
  while (index >= slabs.size() * stacksPerSlab)
    grow();
  std::byte *top = slabs[index / stacksPerSlab] + (index % stacksPerSlab + 1) * strideBytes;
  // Equal frames of all threads would fall into the same cache sets: start each stack at another offset.
  size_t skew = index * 448 % 4096 & ~size_t(63);
  return {top - skew, stackBytes - skew};
}

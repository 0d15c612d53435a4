//===- Harness.h - Kernels as lambdas ---------------------------*- C++ -*-===//
#ifndef MLAC_TEST_UNIT_EMULATOR_HARNESS_H
#define MLAC_TEST_UNIT_EMULATOR_HARNESS_H

#include "runtime/emulator/Emulator.h"
#include "runtime/emulator/Hooks.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace mla::emulator::test {

using Kernel = std::function<void()>;

constexpr uint32_t all = 0xFFFFFFFF;
inline const std::vector<uint64_t> seeds = {0, 1, 2, 3, 7, 42, 1234567};

inline uint32_t tid() { return mlac_emu_sreg(0); }
inline uint32_t lane() { return mlac_emu_sreg(4); }

template <typename T = char>
T *shared(size_t offset = 0) {
  return reinterpret_cast<T *>(static_cast<char *>(mlac_emu_shared_base()) + offset);
}

template <typename T>
void put(T *p, T value, const char *site = "put at k.mla:1:1") {
  mlac_emu_store(p, sizeof(T), site);
  *p = value;
}

template <typename T>
T get(const T *p, const char *site = "get at k.mla:2:2") {
  mlac_emu_load(p, sizeof(T), site);
  return *p;
}

inline void bar(const char *site = "bar at k.mla:9:9") { mlac_emu_barrier(0, 0, site); }

struct Shape {
  uint32_t threads = 32;
  uint32_t sharedBytes = 4096;
  uint32_t grid = 1;
  uint64_t seed = 0;
  bool overlap = false;
};

inline void run(Memory &memory, const Kernel &kernel, Shape shape = {}) {
  const Kernel *argument = &kernel;
  void *params[] = {&argument};
  LaunchConfig config{"kern", shape.grid, shape.threads, shape.sharedBytes, shape.seed};
  config.overlap = shape.overlap;
  launch(
      memory, [](void **params) { (**static_cast<const Kernel **>(params[0]))(); }, params, config);
}

inline void run(const Kernel &kernel, Shape shape = {}) {
  Memory memory;
  run(memory, kernel, shape);
}

/// The message of the failure that the kernel must end with.
inline std::string failureOf(Memory &memory, const Kernel &kernel, Shape shape = {}) {
  try {
    run(memory, kernel, shape);
  } catch (const Failure &failure) {
    return failure.what();
  }
  return "no failure";
}

inline std::string failureOf(const Kernel &kernel, Shape shape = {}) {
  Memory memory;
  return failureOf(memory, kernel, shape);
}

} // namespace mla::emulator::test

#endif // MLAC_TEST_UNIT_EMULATOR_HARNESS_H

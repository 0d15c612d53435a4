//===- Emulator.h - Runs host-compiled GPU kernels, strictly ----*- C++ -*-===//
//
// A kernel compiled for the host calls the hooks of Hooks.h where the GPU would execute an NVVM instruction,
// a load or a store. Every CUDA thread is a fiber; the instructions of a warp or of a block make them meet.
//
// The executor is stricter than a GPU. It reports accesses out of bounds, unaligned accesses, reads of shared
// bytes nobody wrote, accesses to bytes of an asynchronous copy before its wait, data races in shared memory,
// warp instructions that lanes miss and barriers that never complete. It never hangs on any of them.
//
//===----------------------------------------------------------------------===//
#ifndef MLAC_RUNTIME_EMULATOR_EMULATOR_H
#define MLAC_RUNTIME_EMULATOR_EMULATOR_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mla::emulator {

/// What the kernel did wrong: "<kernel>: <site>: what happened (numbers)".
struct Failure : std::runtime_error {
  static constexpr uint32_t none = ~0u;

  explicit Failure(const std::string &message, uint32_t block = none, uint32_t thread = none)
      : std::runtime_error(message), block(block), thread(thread) {}

  uint32_t block;  ///< The block that failed, or none.
  uint32_t thread; ///< The thread within the block, or none when the failure is of several threads.
};

/// Bytes that kernels moved between global memory and the threads.
struct Traffic {
  uint64_t read = 0;
  uint64_t written = 0;
};

/// One allocation, as an address range.
struct Extent {
  uintptr_t begin;
  size_t bytes;
  std::string name;
};

/// Global memory: allocations with bounds. All members may be called from several host threads; an allocation
/// must not be released while a kernel that may touch it runs.
class Memory {
public:
  Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory();

  /// Returns `bytes` bytes aligned to 256, filled with 0xFF: a NaN in every float format a kernel uses. The
  /// name is for messages.
  void *allocate(size_t bytes, std::string name = {});

  /// Frees an allocation. Throws Failure when `p` is not one, or when something wrote outside of it
  /// unnoticed.
  void release(void *p);

  /// Throws Failure, which names the nearest allocation, unless [p, p+bytes) lies inside one.
  void check(const void *p, size_t bytes, std::string_view what) const;

  /// What all launches moved since the last resetTraffic(): every load and store counts, cached or not.
  uint64_t bytesRead() const;
  uint64_t bytesWritten() const;

  /// What launches moved from and to the allocation that starts at `p`.
  Traffic traffic(const void *p) const;
  void resetTraffic();

  /// The executor's view: the allocations by rising address, and the way to account for a launch.
  std::vector<Extent> extents() const;
  void addTraffic(uintptr_t begin, Traffic traffic);

  /// Starts of the allocations that the last launch wrote to.
  std::vector<uintptr_t> lastWritten() const;
  void setLastWritten(std::vector<uintptr_t> begins);

private:
  struct Allocation;
  mutable std::mutex mutex;
  std::map<uintptr_t, std::unique_ptr<Allocation>> allocations;
  uint64_t serial = 0;
  Traffic total;
  std::vector<uintptr_t> written;
};

struct LaunchConfig {
  std::string kernel; ///< The name in messages.
  uint32_t grid = 1;
  uint32_t block = 32;
  uint32_t sharedBytes = 0;
  uint64_t seed =
      0; ///< Decides the order of blocks and warps; a correct kernel gives the same numbers for all.
  std::function<void(uint64_t done, uint64_t total)> progress = {}; ///< Called after each block.
  /// Launched so that it may begin before the launch before it is done: what that wrote is out of bounds
  /// until griddepcontrol.wait, which every thread must execute.
  bool overlap = false;
};

/// A kernel. As for cuLaunchKernel, each element of `params` points to an argument's value.
using Entry = void (*)(void **params);

/// Runs all blocks, one after another, on the calling host thread. Throws Failure on the first thing that
/// goes wrong; memory keeps what was written until then and the executor can be used again. An empty grid
/// does nothing.
void launch(Memory &memory, Entry entry, void **params, const LaunchConfig &config);

/// A symbol that host-compiled kernels refer to.
struct Hook {
  const char *symbol;
  void *address;
};

/// Everything a JIT must resolve.
std::span<const Hook> hooks();

} // namespace mla::emulator

#endif // MLAC_RUNTIME_EMULATOR_EMULATOR_H

// Programs from source: link mla::jit, which holds the compiler. Needs no nvcc, ptxas or Python.
#pragma once

#include "mla/Writer.h"

#include <map>

namespace mla::jit {

/// How a program is compiled.
struct Options {
  std::map<std::string, int64_t> defines; ///< other values for constants of the program
  std::string target;  ///< e.g. "sm_120"; empty: the device's own, and sm_120 without a CUDA device
  std::string profile; ///< the card whose limits hold; empty: the target's own
  std::string
      ptx; ///< e.g. "8.7"; empty: the newest that the driver takes, or the target's lowest without one
  std::string kernel; ///< for load(): the kernel to take; may be empty if there is one
  /// Where artefacts are kept; not set: MLAC_CACHE_DIR, XDG_CACHE_HOME/mlac or ~/.cache/mlac. Empty: nowhere.
  std::optional<std::string> cacheDirectory;
  /// Device, by the driver's name, whose schedules of `mlac tune --save` are taken from the cache's directory; "here": the device
  /// that load() is given. Empty: none, so that the same source gives the same code everywhere.
  std::string tuned;
};

struct Compiled {
  std::string artefact;
  std::string key; ///< of the cache entry
  bool fromCache = false;
  std::string message; ///< a damaged entry that was rebuilt, a directory that cannot be written; else empty
};

/// Compiles a program, or takes it from the cache. Throws Error sourceRefused with the compiler's
/// diagnostics, or targetUnknown.
Compiled compile(std::string_view source, const Options &options = {});

/// Compiles for the device and loads. Throws as compile() and Kernel::load(), and driverTooOld, with both
/// versions, when the driver takes no PTX that the target needs. `compiled` gets what compile() gives.
Kernel load(std::shared_ptr<Device> device, std::string_view source, const Options &options = {},
            Compiled *compiled = nullptr);

/// The same for a writer.
Writer loadWriter(std::shared_ptr<Device> device, std::string_view source, const Options &options = {},
                  Compiled *compiled = nullptr);

struct Emulator {
  uint64_t seed = 0;       ///< of the order of blocks and warps
  int multiprocessors = 8; ///< what a plan spreads its work over
};

/// A device that runs programs of load() in this process, strictly: accesses out of bounds, races and
/// barriers that never complete are reported. Its memory is host memory. Artefacts alone cannot be loaded
/// into it.
std::shared_ptr<Device> createEmulator(const Emulator &options = {});

/// What tells this build of the compiler from any other.
std::string compilerId();

/// The PTX version for a target on a driver (as cuDriverGetVersion() gives it; 0: none known), as "8.7".
/// Throws Error targetUnknown or driverTooOld.
std::string choosePtx(std::string_view target, int driver);

/// The target for a compute capability (10 * major + minor). Throws Error targetUnknown.
std::string chooseTarget(int capability);

} // namespace mla::jit

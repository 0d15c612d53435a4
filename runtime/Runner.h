// One batch through a kernel on a device, from random operands to a verdict: what `mlac run` and the numeric
// tests are made of.
#pragma once

#include "runtime/Device.h"
#include "runtime/Measure.h"
#include "runtime/Plan.h"
#include "runtime/reference/Check.h"

namespace mla {

struct RunConfig {
  std::vector<int32_t> qLens;
  std::vector<int32_t> kvLens; ///< as many
  int32_t pageSize = 64;       ///< of a paged cache
  uint64_t seed = 0;
  bool packed = false; ///< no gaps between rows and pages: for measuring
  int checkEvery = 1; ///< of each request's query tokens every n-th is compared, the last one always
  int repeat =
      1; ///< readings of the time (launches, on a device without time); the outputs are the last launch's
  /// Repeated launches walk through copies of the cache until they have read as many bytes, so that no cache
  /// of the device's keeps what a later one reads. If not given: `rotation` where time is measured, else 0.
  std::optional<int64_t> rotate = {};
  int blocks = 0;                       ///< blocks the plan spreads over; 0: what the device runs at once
  bool split = true;                    ///< may a row tile be cut over several blocks?
  bool overlap = true;                  ///< may the combine begin before the main kernel's end?
  std::optional<double> tolerance = {}; ///< of a row's output; if not given, what the compute type allows

  reference::BatchShape batchShape() const { return {qLens, kvLens, pageSize, seed, packed, checkEvery}; }
};

/// Bytes between two reads of the same byte: several times the L2 of any card.
inline constexpr int64_t rotation = 300'000'000;

/// What a run did.
struct RunStats {
  std::string device;
  std::string kernel;
  int64_t grid = 0;
  int64_t items = 0;
  int64_t tiles = 0;           ///< (row tile, KV tile) pairs
  int64_t skippedTiles = 0;    ///< pairs outside of the window
  int64_t splits = 0;          ///< row tiles cut over several blocks
  int64_t slots = 0;           ///< partial results
  int64_t workspaceBytes = 0;  ///< for the partial results
  int64_t cacheBytesRead = 0;  ///< bytes of cached rows that the items cover; re-reads count again
  int64_t cacheBytesOwned = 0; ///< bytes of the requests' cached rows: the least that must be read
  /// What the launches loaded from the cache, counted by the device, per repeat; empty where it does not
  /// count.
  std::optional<int64_t> cacheBytesLoaded;
  Measured time;         ///< of a run, main and combine
  int64_t copies = 1;    ///< of the cache, which repeated launches take in turn
  int64_t copyBytes = 0; ///< bytes of each

  /// The time that counts: from a graph if it was measured, as serving engines launch decode.
  const std::optional<Timing> &microseconds() const { return time.graph ? time.graph : time.queued; }

  std::string toJson() const;
  std::string toText() const;

private:
  std::string timeText(const Timing &spent) const;
};

struct RunReport {
  RunStats stats;
  reference::Report check;

  bool passed() const { return check.passed(); }
  /// {"run": {...}, "check": {...}}
  std::string toJson() const;
  std::string toText() const;
};

/// Runs the kernel on `operands`, whose outputs it replaces, canaries included. Throws Error from makePlan(),
/// bindParams() and the device.
RunStats run(Device &device, Module &module, const KernelInfo &kernel, const RunConfig &config,
             reference::HostOperands &operands);

/// Makes the operands, runs, evaluates the oracle and compares.
RunReport runAndCheck(Device &device, Module &module, const KernelInfo &kernel, const RunConfig &config);
/// The same with operands and answer from elsewhere, for kernels that differ in their schedule alone.
RunReport runAndCheck(Device &device, Module &module, const KernelInfo &kernel, const RunConfig &config,
                      reference::HostOperands &operands, const reference::Expected &expected);

/// The outputs of a run as packed rows, for comparing two runs bitwise.
struct RawOutputs {
  std::vector<uint8_t> out; ///< [query tokens][heads][vDim] elements of the output's type
  std::vector<uint8_t> lse; ///< [query tokens][heads] f32; empty if the kernel has none

  bool operator==(const RawOutputs &) const = default;
};

RawOutputs runRaw(Device &device, Module &module, const KernelInfo &kernel, const RunConfig &config);

} // namespace mla

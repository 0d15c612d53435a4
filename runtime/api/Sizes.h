// From a configuration to the sizes of everything that a plan may need.
#pragma once

#include "mla/Kernel.h"
#include "runtime/Manifest.h"

namespace mla {

/// Capacities of a plan's lists and of its workspace.
struct Sizes {
  int64_t requests = 0;
  int64_t queryRows = 0;
  int64_t blocks = 0;
  bool split = false;
  int64_t rowTiles = 0;
  int64_t items = 0;
  int64_t merges = 0;
  int64_t slots = 0;

  int64_t partialOutBytes = 0;
  int64_t partialLseOffset = 0; ///< within the workspace
  int64_t workspaceBytes = 0;

  // Offsets within the device's copy of the lists, each aligned to 256 bytes. The work list, whose length
  // varies most, comes last: a copy ends where it does.
  int64_t kvLen = 0, workIndptr = 0, merge = 0, work = 0;
  int64_t listBytes = 0;
  int64_t scratchBytes = 0; ///< of the planner and of the check of page tables on the device
};

/// Throws Error as KernelDescription::check().
Sizes sizesOf(const KernelInfo &kernel, const Config &config);

} // namespace mla

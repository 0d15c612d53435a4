// A kernel's code on a device and what is known of it.
#pragma once

#include "runtime/Params.h"
#include "runtime/api/Binding.h"

namespace mla {

struct Kernel::Loaded {
  /// Loads the code and prepares every launch it can make.
  Loaded(std::shared_ptr<Device> device, std::shared_ptr<const KernelInfo> info, std::string_view artefact);

  /// Merges as many states as one launch takes; they have been checked.
  void launchMerge(std::span<const State> states, const State &into, Stream stream) const;

  std::shared_ptr<Device> device; ///< outlives the module
  std::shared_ptr<const KernelInfo> info;
  std::unique_ptr<Module> module;
  Vocabulary vocabulary;
  Binding main, combine, merge, planner, check;
  int residentBlocks = 0;
};

} // namespace mla

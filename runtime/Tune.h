// Measuring kernels that differ in their schedule alone.
#pragma once

#include "runtime/Runner.h"

namespace mla {

/// One kernel's measurement.
struct Measurement {
  std::optional<Timing> time; ///< empty where it could not be loaded, planned or launched
  bool passed = false;        ///< its values were within tolerance
  std::string problem;        ///< why it does not count
};

/// Runs kernel `name` of each artefact on the same operands and compares each with the same answer. Throws
/// what makeOperands() and readArtefact() throw, and Error badArgument for a device without time; what one
/// candidate throws is its problem.
std::vector<Measurement> measureCandidates(Device &device, const std::vector<std::string> &artefacts,
                                           const std::string &name, const RunConfig &config,
                                           const std::function<void(size_t, const Measurement &)> &done = {});

/// Index of the fastest that counts; empty if none does.
std::optional<size_t> fastest(const std::vector<Measurement> &all);

} // namespace mla

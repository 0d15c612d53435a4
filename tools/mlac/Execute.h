// Running a compiled kernel on a device and comparing with the reference. Free of MLIR: the runtime throws.
#pragma once

#include "runtime/Tune.h"
#include "tools/mlac/Options.h"

#include <functional>

namespace mlac {

using HostEntry = void (*)(void **params);

/// Runs kernel `name` of the artefact and prints the report. `entries` finds host code for the emulator. The
/// exit status: 0 when the values are within tolerance, else 1; errors are printed.
int execute(const std::string &artefact, const std::string &name, const RunOptions &options,
            const std::function<HostEntry(const std::string &)> &entries);

/// The name of this machine's CUDA device; empty, with a problem, if there is none.
std::optional<std::string> presentDevice(std::string &problem);

/// Measures kernel `name` of each artefact on the CUDA device. Empty after an error, which was printed.
std::optional<std::vector<mla::Measurement>> measureOnDevice(const std::vector<std::string> &artefacts,
                                                             const std::string &name, const TuneOptions &options);

} // namespace mlac

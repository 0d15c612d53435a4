// Resolution of target options.
#include "passes/TargetOptions.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace mlac {

template <typename T>
static InFlightDiagnostic &&listNames(InFlightDiagnostic &&diag, const std::vector<T> &all) {
  for (const T &entry : all)
    diag << " " << StringRef(entry.name);
  return std::move(diag);
}

static FailureOr<int> resolvePtx(Location loc, const Target &target, StringRef text) {
  if (text.empty())
    return target.minPtx;
  std::optional<int> version = parsePtxVersion(text);
  if (!version)
    return emitError(loc) << "PTX version '" << text << "' is not of the form 8.7 [target-ptx]", failure();
  if (*version < target.minPtx || *version > kMaxPtx)
    return emitError(loc) << StringRef(target.name) << " needs PTX " << formatPtxVersion(target.minPtx) << " to "
                          << formatPtxVersion(kMaxPtx) << ", not " << text << " [target-ptx]",
           failure();
  return *version;
}

FailureOr<TargetChoice> resolveTarget(Location loc, StringRef target, StringRef profile, StringRef ptx) {
  std::optional<Target> found = Target::find({target.data(), target.size()});
  if (!found)
    return listNames(emitError(loc) << "unknown target '" << target << "' [target-name]; known are", Target::all()),
           failure();
  StringRef profileName = profile.empty() ? target : profile;
  std::optional<Profile> limits = Profile::find({profileName.data(), profileName.size()});
  if (!limits)
    return listNames(emitError(loc) << "unknown profile '" << profileName << "' [target-profile]; known are",
                     Profile::all()),
           failure();
  FailureOr<int> version = resolvePtx(loc, *found, ptx);
  if (failed(version))
    return failure();
  return TargetChoice{*found, *limits, *version};
}

} // namespace mlac

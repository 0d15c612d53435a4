#include "runtime/Tune.h"

namespace mla {

static Measurement measureOne(Device &device, const std::string &artefact, const std::string &name,
                              const RunConfig &config, reference::HostOperands &operands,
                              const reference::Expected &expected) {
  Measurement result;
  try {
    Manifest manifest = readArtefact(artefact);
    std::unique_ptr<Module> module = device.load(artefact);
    RunReport report = runAndCheck(device, *module, *manifest.find(name), config, operands, expected);
    result.time = report.stats.microseconds();
    result.passed = report.passed();
    if (!result.passed)
      result.problem = "values out of tolerance";
  } catch (const Error &error) {
    result.problem = error.what();
  }
  return result;
}

std::vector<Measurement> measureCandidates(Device &device, const std::vector<std::string> &artefacts,
                                           const std::string &name, const RunConfig &config,
                                           const std::function<void(size_t, const Measurement &)> &done) {
  if (!device.timed([] {}))
    throw Error(Error::Code::badArgument, "the device", device.name(), "one that tells time");
  std::vector<Measurement> all;
  if (artefacts.empty())
    return all;
  Manifest manifest = readArtefact(artefacts.front());
  const KernelInfo &kernel = *manifest.find(name);
  const reference::HostOperands fresh = reference::makeOperands(kernel, config.batchShape());
  const reference::Expected expected = reference::evaluate(kernel, fresh);
  for (const std::string &artefact : artefacts) {
    reference::HostOperands operands = fresh; // no candidate passes with another's outputs
    all.push_back(measureOne(device, artefact, name, config, operands, expected));
    if (done)
      done(all.size() - 1, all.back());
  }
  return all;
}

std::optional<size_t> fastest(const std::vector<Measurement> &all) {
  std::optional<size_t> best;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].passed && all[i].time && (!best || all[i].time->median < all[*best].time->median))
      best = i;
  return best;
}

} // namespace mla

#include "Rig.h"

#include <algorithm>

namespace mla::test {

Planned::Planned(const Kernel &kernel, const Config &config)
    : bytes(kernel.workspaceSize(config)), memory(kernel.device(), bytes + canaryBytes, "the workspace"),
      plan((memory.fill(0xFF), kernel.prepare(config, {memory.get(), bytes}))) {}

bool Planned::canariesIntact() const {
  std::vector<uint8_t> all(memory.size());
  memory.copyOut(all.data(), all.size());
  return std::all_of(all.begin() + static_cast<int64_t>(bytes), all.end(),
                     [](uint8_t byte) { return byte == 0xFF; });
}

static Config fitting(const Live &live, Config config) {
  if (config.capacity.requests == 0)
    config.capacity = live.capacity();
  return config;
}

testing::AssertionResult runAndCheck(const Kernel &kernel, Live &live, Config config) {
  Planned plan(kernel, fitting(live, config));
  plan->plan(live.lengths());
  plan->run(live.operands());
  reference::Report report = live.check();
  if (!report.passed())
    return testing::AssertionFailure() << report.toText();
  if (!plan.canariesIntact())
    return testing::AssertionFailure() << "the workspace was overrun";
  return testing::AssertionSuccess();
}

Bits runBits(const Kernel &kernel, Live &live, Config config) {
  Planned plan(kernel, fitting(live, config));
  plan->plan(live.lengths());
  plan->run(live.operands());
  return live.bits();
}

} // namespace mla::test

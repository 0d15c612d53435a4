// Which of several kernels is the fastest that counts.
#include "Clocked.h"
#include "HostKernel.h"
#include "TestKernel.h"

#include "runtime/Tune.h"

using namespace mla;

namespace {

/// A kernel whose main entry takes `microseconds`, under a name of its own; with `wrong` it leaves the
/// outputs as they are.
class Rig {
public:
  Rig() : device(test::hostEntries(kernel)) {}

  std::string add(const std::string &name, double microseconds, bool wrong = false) {
    KernelInfo info = kernel;
    info.main.name = name;
    Manifest manifest;
    manifest.target = "sm_90";
    manifest.kernels = {info};
    auto run = test::hostEntries(kernel).at(kernel.main.name);
    entries()[name] = [this, run, microseconds, wrong](const Launch &launch, void **params) {
      device.now += microseconds;
      if (!wrong)
        run(launch, params);
    };
    return writeArtefact(manifest, ".version 8.7\n");
  }

  std::vector<Measurement> measure(const std::vector<std::string> &artefacts) {
    return measureCandidates(device, artefacts, kernel.name, config);
  }

  KernelInfo kernel =
      test::makeKernel({.heads = 5, .qkDim = 24, .vDim = 16, .tileRows = 8, .tileTokens = 16});
  RunConfig config{.qLens = {1, 2}, .kvLens = {40, 7}, .pageSize = 8, .repeat = 3, .rotate = 0};

private:
  struct Open : test::Clocked {
    using Clocked::Clocked;
    std::map<std::string, test::HostEntry> more;
    void launch(Module &module, const Launch &launch, void **params) override {
      auto found = more.find(launch.entry);
      found == more.end() || capturing(0) ? Clocked::launch(module, launch, params)
                                          : found->second(launch, params);
    }
  };
  std::map<std::string, test::HostEntry> &entries() { return device.more; }

public:
  Open device;
};

} // namespace

TEST(Tune, TheFastestWithRightValuesCounts) {
  Rig rig;
  std::vector<std::string> artefacts{rig.add("slow", 9), rig.add("wrong", 1, true), rig.add("fast", 4),
                                     "damaged", rig.add("slower", 12)};
  std::vector<Measurement> all = rig.measure(artefacts);
  ASSERT_EQ(all.size(), 5u);
  EXPECT_TRUE(all[0].passed && all[2].passed && all[4].passed);
  EXPECT_FALSE(all[1].passed) << "the outputs of the one before it must not pass for its own";
  EXPECT_EQ(all[1].problem, "values out of tolerance");
  EXPECT_FALSE(all[3].time);
  EXPECT_FALSE(all[3].problem.empty());
  EXPECT_DOUBLE_EQ(all[0].time->median, 9);
  EXPECT_DOUBLE_EQ(all[2].time->median, 4);
  EXPECT_EQ(fastest(all), 2u);
}

TEST(Tune, NoneCounts) {
  Rig rig;
  EXPECT_FALSE(fastest(rig.measure({rig.add("wrong", 1, true)})));
  EXPECT_FALSE(fastest({}));
}

TEST(Tune, ADeviceWithoutTimeIsRefused) {
  Rig rig;
  test::HostDevice timeless(test::hostEntries(rig.kernel));
  test::expectError(Error::Code::badArgument,
                    [&] { measureCandidates(timeless, {rig.add("a", 1)}, rig.kernel.name, rig.config); });
}

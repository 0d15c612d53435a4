// What plan() and run() cost on a CUDA device: host time of the calls, and device time of a run by events
// around a thousand of them. MLAC_TEST_ARTEFACTS names the folder of test/gpu/prepare-runtime.sh.
#include "test/runtime/Rig.h"

#include <chrono>
#include <cstdio>

using namespace mla;
using namespace mla::test;
using Clock = std::chrono::steady_clock;

static double microseconds(Clock::duration time, int count) {
  return std::chrono::duration<double, std::micro>(time).count() / count;
}

static void measure(const Kernel &kernel, int32_t batch, int32_t length, int32_t page, bool overlap) {
  std::vector<int32_t> ones(static_cast<size_t>(batch), 1), lengths(static_cast<size_t>(batch), length);
  Device &device = kernel.device();
  Live live(device, kernel.info(), {ones, lengths, page});
  Config config;
  config.capacity = live.capacity();
  config.overlap = overlap;
  Planned plan(kernel, config);
  constexpr int count = 1000;
  plan->plan(live.lengths());
  plan->run(live.operands());
  device.synchronize();
  auto start = Clock::now();
  for (int i = 0; i < count; ++i)
    plan->plan(live.lengths());
  double planning = microseconds(Clock::now() - start, count);
  device.synchronize();
  start = Clock::now();
  for (int i = 0; i < count / 10; ++i) // fewer than the driver queues
    plan->run(live.operands());
  double launching = microseconds(Clock::now() - start, count / 10);
  device.synchronize();
  std::optional<double> eager = device.timed([&] {
    for (int i = 0; i < count; ++i)
      plan->run(live.operands());
  });
  auto graph = device.capture(0, [&] {
    for (int i = 0; i < 100; ++i)
      plan->run(live.operands());
  });
  graph->replay(0);
  std::optional<double> replayed = device.timed([&] { graph->replay(0); });
  std::printf(
      "batch %4d x %6d: plan() %6.1f us, run() %5.2f us on the host; a run %7.2f us, in a graph %7.2f us "
      "(%lld blocks, %lld splits%s)\n",
      batch, length, planning, launching, eager.value_or(0) / count, replayed.value_or(0) / 100,
      static_cast<long long>(plan->stats().grid), static_cast<long long>(plan->stats().splits),
      overlap ? "" : ", no overlap");
}

int main() {
  std::string why;
  const Rig *rig = Rig::get(&why);
  if (!rig) {
    std::fprintf(stderr, "error: %s\n", why.c_str());
    return 1;
  }
  Kernel kernel = rig->load(Program::decode);
  struct Case {
    int32_t batch, length;
  };
  for (Case one : {Case{1, 4096}, {1, 131072}, {64, 4096}, {256, 1024}, {4096, 64}})
    for (bool overlap : {true, false})
      measure(kernel, one.batch, one.length, 64, overlap);
}

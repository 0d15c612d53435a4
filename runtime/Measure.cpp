#include "runtime/Measure.h"

#include <algorithm>

namespace mla {

Timing summarise(std::vector<double> microseconds, int launches) {
  std::sort(microseconds.begin(), microseconds.end());
  return {microseconds[microseconds.size() / 2], microseconds.front(), microseconds.back(),
          static_cast<int>(microseconds.size()), launches};
}

namespace {

/// Device time, in microseconds, that a clock needs to settle, and the most rounds spent on it.
constexpr double warmUp = 20'000;
constexpr int mostWarmUpRounds = 50;

/// Readings of `work`, which queues `launches`.
Timing readings(Device &device, const std::function<void()> &work, int count, int launches, int64_t &queued) {
  double spent = 0;
  for (int i = 0; i < mostWarmUpRounds && spent < warmUp; ++i, queued += launches)
    spent += device.timed(work).value_or(warmUp);
  std::vector<double> microseconds;
  for (int i = 0; i < count; ++i, queued += launches)
    microseconds.push_back(device.timed(work).value_or(0) / launches);
  return summarise(std::move(microseconds), launches);
}

} // namespace

Measured measure(Device &device, const std::function<void(int)> &launch, int count, int round) {
  Measured result;
  std::optional<double> first = device.timed([&] { launch(0); });
  result.launches = 1;
  if (!first || count <= 1) {
    if (first)
      result.queued = summarise({*first}, 1);
    for (; result.launches < count; ++result.launches)
      launch(static_cast<int>(result.launches % round));
    return result;
  }
  auto wholeRound = [&] {
    for (int i = 0; i < round; ++i)
      launch(i);
  };
  result.queued = readings(device, wholeRound, count, round, result.launches);
  std::unique_ptr<Graph> graph = device.capture(0, wholeRound);
  result.graph = readings(device, [&] { graph->replay(0); }, count, round, result.launches);
  return result;
}

} // namespace mla

// Device time of launches that are repeated: eager and from a graph, medians and spread.
#pragma once

#include "runtime/Device.h"

#include <vector>

namespace mla {

/// Microseconds of one launch over several readings; each reading spans `launches` of them and is divided by
/// that.
struct Timing {
  double median = 0, min = 0, max = 0;
  int readings = 0;
  int launches = 0;
};

/// `microseconds`, one a reading, is not empty.
Timing summarise(std::vector<double> microseconds, int launches);

/// What repeated launches took. Both are empty on a device whose time means nothing.
struct Measured {
  std::optional<Timing>
      queued; ///< launched one by one: the host's part shows where kernels are shorter than it
  std::optional<Timing> graph; ///< the same launches as one graph; empty for a single reading
  int64_t launches = 0;        ///< all of them, warm-up included
};

/// Takes `readings` of a round of `round` launches; `launch(i)` queues the i-th of a round. With one reading
/// it is a single launch, cold; more are preceded by a warm-up. A device without time runs `readings`
/// launches, walking the round.
Measured measure(Device &device, const std::function<void(int)> &launch, int readings, int round);

} // namespace mla

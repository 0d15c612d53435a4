// A host device with a clock that its kernels advance.
#pragma once

#include "HostDevice.h"

namespace mla::test {

class Clocked : public HostDevice {
public:
  /// Each reading takes `overhead` microseconds more than its kernels.
  explicit Clocked(std::map<std::string, HostEntry> entries, double overhead = 0)
      : HostDevice(std::move(entries)), overhead(overhead) {}

  std::optional<double> timed(const std::function<void()> &work) override {
    double before = now;
    work();
    return now - before + overhead;
  }

  double overhead, now = 0;
};

} // namespace mla::test

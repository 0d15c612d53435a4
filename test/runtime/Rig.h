// What a binary of device cases runs on: reference functions on the host, compiled programs on the emulator,
// or compiled programs on CUDA. The cases are the same; sizes follow Rig::full.
#pragma once

#include "Live.h"

#include <gtest/gtest.h>

namespace mla::test {

/// The programs that cases ask for.
enum class Program { decode, plain, ln, edited, wide };

struct Rig {
  std::shared_ptr<Device> device;
  bool full = false;  ///< full size, on hardware
  bool exact = false; ///< compiled programs, not a reference
  Kernel load(Program program) const;
  /// The artefact of a program, for the device's load().
  std::string artefact(Program program) const;
  /// Another device, or another context of the same one.
  Rig another() const;

  /// The rig of this binary, made once; null with `why` where there is none.
  static const Rig *get(std::string *why);
};

class DeviceCase : public testing::Test {
protected:
  void SetUp() override {
    std::string why;
    rig = Rig::get(&why);
    if (!rig)
      GTEST_SKIP() << why;
  }

  Device &device() const { return *rig->device; }
  const Rig *rig = nullptr;
};

/// A workspace of exactly the size needed, full of 0xFF, and the plan over it.
class Planned {
public:
  Planned(const Kernel &kernel, const Config &config);

  BatchPlan *operator->() { return &plan; }
  BatchPlan &operator*() { return plan; }
  Buffer &workspace() { return memory; }
  /// Is what lies behind the workspace as it was?
  bool canariesIntact() const;

private:
  static constexpr size_t canaryBytes = 4096;
  size_t bytes;
  Buffer memory;
  BatchPlan plan;
};

/// Plans and runs the batch in use, and compares.
testing::AssertionResult runAndCheck(const Kernel &kernel, Live &live, Config config = {});
Bits runBits(const Kernel &kernel, Live &live, Config config = {});

} // namespace mla::test

// A compiled program on the device under test.
//
// MLAC_TEST_DEVICE=cuda runs the same tests on a GPU; MLAC_TEST_TARGET and MLAC_TEST_PROFILE then choose what
// is compiled, such as sm_90 within the limits of sm_120.
#pragma once

#include "runtime/Runner.h"
#include "test/unit/pipeline/Program.h"
#include "test/unit/pipeline/Source.h"

#include <memory>
#include <string>

namespace mlac::test {

using mla::DType;
using mla::KernelInfo;
using mla::Role;
using mla::RunConfig;
using mla::reference::HostOperands;

/// What the environment says; sm_120 if it says nothing.
TargetNames targetUnderTest();
bool onEmulator();

/// What the compiler says of a program that it refuses; empty if it accepts.
std::string refusal(const std::string &text, const TargetNames &target = targetUnderTest());
inline std::string refusal(const Source &source, const TargetNames &target = targetUnderTest()) {
  return refusal(source.text(), target);
}

class Bench {
public:
  /// Throws std::runtime_error with the compiler's messages. Programs are compiled once a process.
  explicit Bench(const std::string &text, uint64_t deviceSeed = 0);
  explicit Bench(const Source &source, uint64_t deviceSeed = 0) : Bench(source.text(), deviceSeed) {}
  explicit Bench(const PrefillSource &source, uint64_t deviceSeed = 0) : Bench(source.text(), deviceSeed) {}

  const KernelInfo &kernel() const { return info; }
  Program &program() const { return *compiled; }

  HostOperands operands(const RunConfig &config) const;
  /// Runs on operands that the test made or changed; the outputs are left in them. The plan is for eight
  /// blocks on every device, so that it depends on the lengths alone.
  mla::RunStats run(HostOperands &operands, bool split = true);
  /// The same, then compared with the reference.
  mla::reference::Report check(HostOperands &operands);
  /// Random operands, compared with the reference.
  mla::reference::Report check(const RunConfig &config);

private:
  std::shared_ptr<Program> compiled;
  KernelInfo info;
  std::unique_ptr<mla::Device> device;
  std::unique_ptr<mla::Module> module;
};

} // namespace mlac::test

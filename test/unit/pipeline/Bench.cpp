#include "test/unit/pipeline/Bench.h"

#include "runtime/EmulatorDevice.h"
#include "runtime/cuda/CudaDevice.h"

#include <cstdlib>
#include <map>
#include <stdexcept>

namespace mlac::test {

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

TargetNames targetUnderTest() {
  TargetNames names;
  if (std::string target = environment("MLAC_TEST_TARGET"); !target.empty())
    names.target = target;
  names.profile = environment("MLAC_TEST_PROFILE");
  return names;
}

bool onEmulator() { return environment("MLAC_TEST_DEVICE") != "cuda"; }

std::string refusal(const std::string &text, const TargetNames &target) {
  std::string messages;
  return Program::compile(text, target, messages) ? "" : messages;
}

static std::shared_ptr<Program> compileOnce(const std::string &text) {
  static std::map<std::string, std::shared_ptr<Program>> programs;
  std::shared_ptr<Program> &program = programs[text];
  std::string messages;
  if (!program)
    program = Program::compile(text, targetUnderTest(), messages);
  if (!program)
    throw std::runtime_error(text + messages);
  return program;
}

Bench::Bench(const std::string &text, uint64_t deviceSeed)
    : compiled(compileOnce(text)), info(mla::manifestFromJson(compiled->manifest()).kernels.at(0)) {
  if (!onEmulator()) {
    device = mla::createCudaDevice();
    module = device->load(compiled->artefact());
    return;
  }
  mla::EmulatorOptions options;
  options.seed = deviceSeed;
  device = mla::createEmulatorDevice(
      [program = compiled](const std::string &name) { return program->find(name); }, options);
  module = device->load("");
}

HostOperands Bench::operands(const RunConfig &config) const {
  return mla::reference::makeOperands(info, config.batchShape());
}

mla::RunStats Bench::run(HostOperands &operands, bool split) {
  RunConfig config;
  config.blocks = 8;
  config.split = split;
  return mla::run(*device, *module, info, config, operands);
}

mla::reference::Report Bench::check(HostOperands &operands) {
  run(operands);
  return mla::reference::check(info, operands, mla::reference::evaluate(info, operands, 1));
}

mla::reference::Report Bench::check(const RunConfig &config) {
  HostOperands made = operands(config);
  return check(made);
}

} // namespace mlac::test

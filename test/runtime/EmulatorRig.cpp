// The cases on the emulator, strictly checked, at small size.
#include "Programs.h"

#include "mla/Jit.h"

#include <map>

namespace mla::test {

namespace {

struct Loaded {
  Kernel kernel;
  std::string artefact;
};

} // namespace

/// Compiling takes longer than most cases.
static const Loaded &loadOnce(const std::shared_ptr<Device> &device, Program program) {
  static std::map<std::pair<Device *, Program>, Loaded> all;
  auto found = all.find({device.get(), program});
  if (found == all.end()) {
    jit::Compiled compiled;
    Kernel kernel = jit::load(device, sourceOf(program), {}, &compiled);
    found = all.emplace(std::pair(device.get(), program), Loaded{kernel, compiled.artefact}).first;
  }
  return found->second;
}

Kernel Rig::load(Program program) const { return loadOnce(device, program).kernel; }
std::string Rig::artefact(Program program) const { return loadOnce(device, program).artefact; }

Rig Rig::another() const { return Rig{jit::createEmulator({.seed = 2, .multiprocessors = 3}), false, true}; }

const Rig *Rig::get(std::string *) {
  static const Rig rig{jit::createEmulator({.seed = 1, .multiprocessors = 4}), false, true};
  return &rig;
}

} // namespace mla::test

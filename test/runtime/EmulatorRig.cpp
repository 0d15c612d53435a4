// The cases on the emulator, strictly checked, at small size.
#include "Programs.h"

#include "mla/Jit.h"

#include <map>

namespace mla::test {

Kernel Rig::load(Program program) const {
  // Compiling takes longer than most cases.
  static std::map<std::pair<Device *, Program>, Kernel> loaded;
  auto found = loaded.find({device.get(), program});
  if (found == loaded.end())
    found = loaded.emplace(std::pair(device.get(), program), jit::load(device, sourceOf(program))).first;
  return found->second;
}

Rig Rig::another() const { return Rig{jit::createEmulator({.seed = 2, .multiprocessors = 3}), false, true}; }

const Rig *Rig::get(std::string *) {
  static const Rig rig{jit::createEmulator({.seed = 1, .multiprocessors = 4}), false, true};
  return &rig;
}

} // namespace mla::test

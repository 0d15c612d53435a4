// The cases on a CUDA device, at full size. The programs' artefacts come from the folder that
// MLAC_TEST_ARTEFACTS names: decode.ptx, plain.ptx, ln.ptx and edited.ptx, for the device's target.
// MLAC_TEST_SMALL asks for the emulator's sizes.
#include "Rig.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace mla::test {

static std::string folder() {
  const char *value = std::getenv("MLAC_TEST_ARTEFACTS");
  return value ? value : "";
}

Kernel Rig::load(Program program) const {
  constexpr const char *names[] = {"decode", "plain", "ln", "edited"};
  std::ifstream file(folder() + "/" + names[size_t(program)] + ".ptx", std::ios::binary);
  return Kernel::load(device, std::string(std::istreambuf_iterator<char>(file), {}));
}

Rig Rig::another() const { return Rig{createCudaDevice(0, /*ownContext=*/true), full, exact}; }

const Rig *Rig::get(std::string *why) {
  static std::string problem;
  static const Rig rig = [] {
    Rig made{nullptr, std::getenv("MLAC_TEST_SMALL") == nullptr, true};
    try {
      made.device = createCudaDevice();
    } catch (const Error &error) {
      problem = error.what();
    }
    if (made.device && folder().empty())
      problem = "MLAC_TEST_ARTEFACTS names no folder";
    return made;
  }();
  *why = problem;
  return problem.empty() ? &rig : nullptr;
}

} // namespace mla::test

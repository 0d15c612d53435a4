// The cases on a CUDA device, at full size. The programs' artefacts come from the folder that
// MLAC_TEST_ARTEFACTS names: decode.ptx, plain.ptx, ln.ptx, edited.ptx and wide.ptx, for the device's target.
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

std::string Rig::artefact(Program program) const {
  constexpr const char *names[] = {"decode", "plain", "ln", "edited", "wide"};
  std::ifstream file(folder() + "/" + names[static_cast<size_t>(program)] + ".ptx", std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Kernel Rig::load(Program program) const { return Kernel::load(device, artefact(program)); }

// A second device where there is one, else a second context of the first.
Rig Rig::another() const {
  return Rig{createCudaDevice(cudaDeviceCount() > 1 ? 1 : 0, /*ownContext=*/true), full, exact};
}

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

// The cases on reference functions: what they show is of the runtime alone.
#include "../unit/runtime/HostKernel.h"
#include "../unit/runtime/TestKernel.h"
#include "Rig.h"

namespace mla::test {

static KernelInfo infoOf(Program program) {
  KernelShape shape{.heads = program == Program::wide ? 9 : 5,
                    .qkDim = 24,
                    .vDim = 16,
                    .vOffset = 8,
                    .tileRows = 8,
                    .tileTokens = 16};
  shape.causal = program == Program::decode || program == Program::wide;
  shape.lse = program == Program::ln ? LseBase::ln : LseBase::log2;
  KernelInfo kernel = makeKernel(shape);
  constexpr const char *names[] = {"_decode", "_plain", "_ln", "_edited", "_wide"};
  kernel.name += names[static_cast<size_t>(program)];
  for (Entry *entry : {&kernel.main, &kernel.combine, &kernel.merge, &kernel.planner, &kernel.check})
    entry->name = kernel.name + entry->name;
  return kernel;
}

std::string Rig::artefact(Program program) const {
  Manifest manifest;
  manifest.target = "sm_120";
  manifest.kernels = {infoOf(program)};
  return writeArtefact(manifest, ".version 8.7\n");
}

Kernel Rig::load(Program program) const { return Kernel::load(device, artefact(program)); }

Rig Rig::another() const {
  std::map<std::string, HostEntry> entries;
  for (Program program : {Program::decode, Program::plain, Program::ln, Program::wide})
    entries.merge(hostEntries(infoOf(program)));
  return Rig{std::make_shared<HostDevice>(std::move(entries)), false, false};
}

const Rig *Rig::get(std::string *) {
  static const Rig rig = Rig().another();
  return &rig;
}

} // namespace mla::test

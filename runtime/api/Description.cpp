// What can be said of a kernel without a device.
#include "mla/Kernel.h"
#include "runtime/api/Sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mla {

static const KernelInfo &choose(const Manifest &manifest, std::string_view name) {
  std::vector<std::string> names;
  for (const KernelInfo &kernel : manifest.kernels)
    names.push_back(kernel.name);
  if (name.empty() && manifest.kernels.size() == 1)
    return manifest.kernels.front();
  if (const KernelInfo *kernel = name.empty() ? nullptr : manifest.find(name))
    return *kernel;
  throw Error(Error::Code::kernelUnknown, "the kernel's name", name.empty() ? "empty" : std::string(name),
              fmt::format("one of {}", fmt::join(names, ", ")));
}

static std::shared_ptr<const std::vector<std::string>> namesOf(const KernelInfo &kernel, Role role) {
  std::vector<std::string> names;
  for (const Operand &operand : kernel.operands)
    if (operand.role == role)
      names.push_back(operand.name);
  return std::make_shared<const std::vector<std::string>>(std::move(names));
}

KernelDescription KernelDescription::read(std::string_view artefact, std::string_view name) {
  Manifest manifest = readArtefact(artefact);
  KernelDescription description;
  description.kernel = std::make_shared<const KernelInfo>(choose(manifest, name));
  description.scalarNames = namesOf(*description.kernel, Role::scalar);
  description.headValueNames = namesOf(*description.kernel, Role::headValues);
  return description;
}

const std::string &KernelDescription::name() const { return kernel->name; }
int64_t KernelDescription::heads() const { return kernel->heads; }
int64_t KernelDescription::kvHeads() const { return kernel->kvHeads; }
int64_t KernelDescription::qkDim() const { return kernel->qkDim; }
int64_t KernelDescription::vDim() const { return kernel->vDim; }
DType KernelDescription::queryDType() const { return kernel->find(Role::query)->dtype; }
DType KernelDescription::cacheDType() const { return kernel->cached().dtype; }
int64_t KernelDescription::cacheDim() const { return kernel->cached().shape.back(); }
DType KernelDescription::outDType() const { return kernel->find(Role::output)->dtype; }
Layout KernelDescription::layout() const { return kernel->cached().layout; }
bool KernelDescription::causal() const { return kernel->causal; }
int64_t KernelDescription::window() const { return kernel->window; }
LseBase KernelDescription::lse() const { return kernel->lse; }
std::span<const std::string> KernelDescription::scalars() const { return *scalarNames; }
std::span<const std::string> KernelDescription::headValues() const { return *headValueNames; }

void KernelDescription::check(const Config &config) const { sizesOf(*kernel, config); }

bool KernelDescription::supports(const Config &config, std::string *why) const {
  try {
    check(config);
    return true;
  } catch (const Error &error) {
    if (why)
      *why = error.what();
    return false;
  }
}

size_t KernelDescription::workspaceSize(const Config &config) const {
  return static_cast<size_t>(sizesOf(*kernel, config).workspaceBytes);
}

} // namespace mla

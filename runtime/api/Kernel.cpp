// A kernel on a device.
#include "runtime/api/BatchPlanImpl.h"
#include "runtime/api/Loaded.h"

#include <fmt/format.h>

namespace mla {

Kernel::Loaded::Loaded(std::shared_ptr<Device> device, std::shared_ptr<const KernelInfo> info,
                       std::string_view artefact)
    : device(std::move(device)), info(std::move(info)), module(this->device->load(artefact)),
      vocabulary(*this->info) {
  auto prepare = [&](const Entry &entry, Binding &binding) {
    binding = Binding(vocabulary, entry);
    if (!entry.name.empty())
      this->device->prepare(*module, launchOf(entry));
  };
  prepare(this->info->main, main);
  prepare(this->info->combine, combine);
  prepare(this->info->merge, merge);
  prepare(this->info->planner, planner);
  prepare(this->info->check, check);
  residentBlocks = this->device->residentBlocks(*module, launchOf(this->info->main));
}

Kernel Kernel::load(std::shared_ptr<Device> device, std::string_view artefact, std::string_view name) {
  Kernel kernel;
  static_cast<KernelDescription &>(kernel) = KernelDescription::read(artefact, name);
  kernel.loaded = std::make_shared<Loaded>(std::move(device), kernel.kernel, artefact);
  return kernel;
}

Device &Kernel::device() const { return *loaded->device; }

static Config completed(const Config &config, int blocks) {
  Config result = config;
  if (result.blocks == 0)
    result.blocks = blocks;
  return result;
}

void Kernel::check(const Config &config) const {
  KernelDescription::check(completed(config, loaded->residentBlocks));
}

bool Kernel::supports(const Config &config, std::string *why) const {
  return KernelDescription::supports(completed(config, loaded->residentBlocks), why);
}

size_t Kernel::workspaceSize(const Config &config) const {
  return KernelDescription::workspaceSize(completed(config, loaded->residentBlocks));
}

static void checkWorkspace(const Sizes &sizes, Workspace workspace) {
  auto needed = static_cast<size_t>(sizes.workspaceBytes);
  if (workspace.bytes < needed)
    throw Error(Error::Code::workspaceSize, "the workspace", fmt::format("{} bytes", workspace.bytes),
                fmt::format("at least {} bytes for this configuration", needed), "ask workspaceSize()");
  if (needed && (workspace.data == 0 || workspace.data % 256))
    throw Error(Error::Code::workspaceAlignment, "the workspace's address",
                fmt::format("{:#x}", workspace.data), "a multiple of 256 in device memory");
}

BatchPlan Kernel::prepare(const Config &config, Workspace workspace) const {
  Config complete = completed(config, loaded->residentBlocks);
  Sizes sizes = sizesOf(info(), complete);
  checkWorkspace(sizes, workspace);
  return BatchPlan(std::make_unique<BatchPlan::Impl>(loaded, complete, sizes, workspace));
}

} // namespace mla

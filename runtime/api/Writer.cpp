// A writer on a device.
#include "mla/Writer.h"

#include "runtime/AppendLaunch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mla {

struct Writer::Loaded {
  Loaded(std::shared_ptr<Device> device, WriterInfo info, std::string_view artefact)
      : device(std::move(device)), info(std::move(info)), launch(this->info), module(this->device->load(artefact)) {
    this->device->prepare(*module, launch.shape());
  }

  std::shared_ptr<Device> device; ///< outlives the module
  WriterInfo info;
  AppendLaunch launch;
  std::unique_ptr<Module> module;
};

static const WriterInfo &choose(const Manifest &manifest, std::string_view name) {
  if (name.empty() && manifest.writers.size() == 1)
    return manifest.writers.front();
  if (const WriterInfo *writer = name.empty() ? nullptr : manifest.findWriter(name))
    return *writer;
  std::vector<std::string> names;
  for (const WriterInfo &writer : manifest.writers)
    names.push_back(writer.name);
  throw Error(Error::Code::kernelUnknown, "the writer's name", name.empty() ? "empty" : std::string(name),
              names.empty() ? "in an artefact with writers: this one has none" : fmt::format("one of {}", fmt::join(names, ", ")));
}

Writer Writer::load(std::shared_ptr<Device> device, std::string_view artefact, std::string_view name) {
  Manifest manifest = readArtefact(artefact);
  Writer writer;
  writer.loaded = std::make_shared<const Loaded>(std::move(device), choose(manifest, name), artefact);
  return writer;
}

const std::string &Writer::name() const { return loaded->info.name; }
DType Writer::cacheDType() const { return loaded->info.cache.dtype; }
int64_t Writer::width() const { return loaded->info.width(); }
Device &Writer::device() const { return *loaded->device; }
const WriterInfo &Writer::info() const { return loaded->info; }

void Writer::append(const Append &append, Stream stream) const {
  loaded->launch.launch(*loaded->device, *loaded->module, append, stream);
}

} // namespace mla

// Source and the emulator through the C API.
#include "mla/Jit.h"
#include "runtime/api/CHandles.h"

using namespace mla::c;

mla_status mla_emulator_create(uint64_t seed, int multiprocessors, mla_device **device) {
  return guarded([&] {
    required(device, "device") = nullptr;
    if (multiprocessors < 1)
      throw mla::Error(mla::Error::Code::badArgument, "multiprocessors", std::to_string(multiprocessors),
                       "at least 1");
    *device = new mla_device{mla::jit::createEmulator({seed, multiprocessors})};
  });
}

static mla::jit::Options convert(const mla_jit_options &c) {
  auto text = [](const char *given) { return std::string(given ? given : ""); };
  mla::jit::Options options;
  options.kernel = text(c.kernel);
  options.target = text(c.target);
  options.profile = text(c.profile);
  options.ptx = text(c.ptx);
  options.tuned = text(c.tuned);
  if (c.cache_directory)
    options.cacheDirectory = c.cache_directory;
  for (size_t i = 0; i < c.defines; ++i)
    options.defines[&required((&required(c.define_names, "options.define_names"))[i], "a define's name")] =
        (&required(c.define_values, "options.define_values"))[i];
  return options;
}

template <typename Handle, typename Load>
static mla_status loadInto(mla_device *device, const char *source, const mla_jit_options *options, Handle **handle,
                           const char *name, Load load) {
  return guarded([&] {
    required(handle, name) = nullptr;
    std::shared_ptr<mla::Device> on = required(device, "device").device;
    mla::jit::Options converted = options ? convert(readStruct(options, "options")) : mla::jit::Options();
    *handle = new Handle{on, load(on, &required(source, "source"), converted)};
  });
}

mla_status mla_jit_load(mla_device *device, const char *source, const mla_jit_options *options, mla_kernel **kernel) {
  return loadInto(device, source, options, kernel, "kernel", [](auto &&...given) { return mla::jit::load(given...); });
}

mla_status mla_jit_load_writer(mla_device *device, const char *source, const mla_jit_options *options, mla_writer **writer) {
  return loadInto(device, source, options, writer, "writer", [](auto &&...given) { return mla::jit::loadWriter(given...); });
}

#include "mla/Jit.h"

#include "codegen/Target.h"
#include "runtime/EmulatorDevice.h"
#include "runtime/cache/ArtefactCache.h"
#include "runtime/cache/Sha256.h"
#include "runtime/cache/TunedStore.h"
#include "runtime/jit/BuildId.h"
#include "runtime/jit/Compile.h"

#include <fmt/format.h>

#include <mutex>

namespace mla::jit {

using Code = Error::Code;

//===-- Targets --===//

static std::string targetNames() {
  std::string names;
  for (const mlac::Target &target : mlac::Target::all())
    names += (names.empty() ? "" : ", ") + std::string(target.name);
  return names;
}

static mlac::Target findTarget(std::string_view name) {
  if (std::optional<mlac::Target> target = mlac::Target::find(name))
    return *target;
  throw Error(Code::targetUnknown, "the target", std::string(name), "one of " + targetNames());
}

std::string chooseTarget(int capability) {
  std::string name = fmt::format("sm_{}", capability);
  if (!mlac::Target::find(name))
    throw Error(Code::targetUnknown,
                fmt::format("compute capability {}.{}", capability / 10, capability % 10), "not supported",
                "that of one of " + targetNames(), "name a target");
  return name;
}

std::string choosePtx(std::string_view name, int driver) {
  mlac::Target target = findTarget(name);
  if (driver == 0)
    return mlac::formatPtxVersion(target.minPtx);
  int newest = mlac::ptxForDriver(driver), needed = mlac::driverForPtx(target.minPtx);
  if (newest < target.minPtx)
    throw Error(Code::driverTooOld, "the driver's CUDA version",
                fmt::format("{}.{}", driver / 1000, driver % 1000 / 10),
                fmt::format("at least {}.{} for {}, which needs PTX {}", needed / 1000, needed % 1000 / 10,
                            name, mlac::formatPtxVersion(target.minPtx)),
                "install a newer driver");
  return mlac::formatPtxVersion(newest);
}

//===-- Compiling --===//

std::string compilerId() {
  static const std::string id = fmt::format("mlac {} {}", MLAC_VERSION, ownBuildId());
  return id;
}

/// The options with nothing left open.
static Options completed(const Options &options, const Device *device) {
  Options result = options;
  int capability = device ? device->capability() : 0;
  if (result.target.empty())
    result.target = capability ? chooseTarget(capability) : "sm_120";
  findTarget(result.target);
  if (result.ptx.empty())
    result.ptx = choosePtx(result.target, device ? device->driverVersion() : 0);
  if (result.tuned == "here" && !device)
    throw Error(Code::badArgument, "options.tuned", "here", "a device's name: there is none to compile for");
  if (result.tuned == "here")
    result.tuned = device->name();
  return result;
}

static std::filesystem::path cacheOf(const Options &options) {
  return options.cacheDirectory ? std::filesystem::path(*options.cacheDirectory) : ArtefactCache::defaultDirectory();
}

/// Whatever may be taken from the tuned schedules of the device: which of them is not known before the source is compiled.
static std::string tunedText(const Options &options) {
  std::string text;
  for (const TunedRecord &record : TunedStore(cacheOf(options)).list())
    if (record.key.device == options.tuned)
      text += fmt::format("tuned {} {}\n", record.key.digest(), record.schedule);
  return text;
}

static std::string keyOf(std::string_view source, const Options &options) {
  std::string defines;
  for (const auto &[name, value] : options.defines)
    defines += fmt::format("{}={}\n", name, value);
  if (!options.tuned.empty())
    defines += tunedText(options);
  return cacheKey({std::string(source), defines, compilerId(), options.target, options.profile, options.ptx});
}

static CompileResult compileOrThrow(std::string_view source, const Options &options, const std::string &key,
                                    bool host) {
  std::string directory = cacheOf(options).string();
  CompileResult result = compileSource({std::string(source), options.defines, options.target, options.profile, options.ptx,
                                        key, directory.empty() ? "" : options.tuned, directory, host});
  if (!result.ok)
    throw Error(Code::sourceRefused, "the program does not compile:\n" + result.diagnostics, "", "");
  return result;
}

static Compiled compileCached(std::string_view source, const Options &options) {
  Compiled compiled;
  compiled.key = keyOf(source, options);
  ArtefactCache cache(cacheOf(options));
  ArtefactCache::Outcome outcome;
  auto build = [&] { return compileOrThrow(source, options, compiled.key, false).artefact; };
  compiled.artefact = cache.get(compiled.key, build, &outcome, &compiled.message);
  compiled.fromCache = outcome == ArtefactCache::Outcome::hit;
  return compiled;
}

Compiled compile(std::string_view source, const Options &options) {
  return compileCached(source, completed(options, nullptr));
}

//===-- The emulator --===//

namespace {

/// Host code of programs that are being loaded or in use, by their artefact.
class HostPrograms {
public:
  using Program = std::function<HostFunction(const std::string &)>;

  static HostPrograms &all() {
    static HostPrograms programs;
    return programs;
  }

  std::shared_ptr<const Program> add(const std::string &artefact, Program program) {
    auto shared = std::make_shared<const Program>(std::move(program));
    std::lock_guard lock(mutex);
    known[sha256(artefact)] = shared;
    return shared;
  }

  std::shared_ptr<const Program> find(std::string_view artefact) {
    std::lock_guard lock(mutex);
    auto found = known.find(sha256(artefact));
    return found == known.end() ? nullptr : found->second.lock();
  }

private:
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<const Program>> known;
};

} // namespace

static EntryLookup loadHostProgram(std::string_view image) {
  std::shared_ptr<const HostPrograms::Program> program = HostPrograms::all().find(image);
  if (!program)
    throw Error(Code::imageRefused, "the emulator cannot run an artefact", "", "",
                "load the program from its source");
  return [program](const std::string &name) { return (*program)(name); };
}

std::shared_ptr<Device> createEmulator(const Emulator &emulator) {
  EmulatorOptions options;
  options.seed = emulator.seed;
  options.multiprocessors = emulator.multiprocessors;
  options.loader = loadHostProgram;
  return createEmulatorDevice(nullptr, std::move(options));
}

/// The emulator needs host code, which is not kept on disk.
template <typename T>
static T loadEmulated(std::shared_ptr<Device> device, std::string_view source, const Options &options, Compiled &compiled) {
  compiled.key = keyOf(source, options);
  CompileResult result = compileOrThrow(source, options, compiled.key, true);
  compiled.artefact = std::move(result.artefact);
  auto program = HostPrograms::all().add(compiled.artefact, std::move(result.host));
  return T::load(std::move(device), compiled.artefact, options.kernel);
}

template <typename T>
static T loadAs(std::shared_ptr<Device> device, std::string_view source, const Options &options, Compiled *compiled) {
  Options complete = completed(options, device.get());
  Compiled own;
  Compiled &result = compiled ? *compiled : own;
  if (device->driverVersion() == 0)
    return loadEmulated<T>(std::move(device), source, complete, result);
  result = compileCached(source, complete);
  return T::load(std::move(device), result.artefact, complete.kernel);
}

Kernel load(std::shared_ptr<Device> device, std::string_view source, const Options &options, Compiled *compiled) {
  return loadAs<Kernel>(std::move(device), source, options, compiled);
}

Writer loadWriter(std::shared_ptr<Device> device, std::string_view source, const Options &options, Compiled *compiled) {
  return loadAs<Writer>(std::move(device), source, options, compiled);
}

} // namespace mla::jit

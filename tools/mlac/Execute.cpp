// Devices, operands and the verdict of `mlac run`.
#include "tools/mlac/Execute.h"

#include "runtime/EmulatorDevice.h"
#include "runtime/WriterRunner.h"
#include "runtime/cuda/CudaDevice.h"

#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace mlac {

namespace {

/// A line on standard error while a run takes long, if somebody is looking.
class Progress {
public:
  void operator()(uint64_t done, uint64_t total) {
    auto now = std::chrono::steady_clock::now();
    if (!interactive || now - last < std::chrono::milliseconds(500))
      return;
    last = now;
    std::fprintf(stderr, "\remulating block %llu of %llu", static_cast<unsigned long long>(done),
                 static_cast<unsigned long long>(total));
    shown = true;
  }
  void finish() const {
    if (shown)
      std::fprintf(stderr, "\r%60s\r", "");
  }

private:
  bool interactive = isatty(STDERR_FILENO);
  bool shown = false;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

} // namespace

static std::unique_ptr<mla::Device> createDevice(const RunOptions &options, Progress &progress,
                                                 const std::function<HostEntry(const std::string &)> &entries) {
  if (options.device == "cuda")
    return mla::createCudaDevice();
  mla::EmulatorOptions emulator;
  emulator.seed = options.seed;
  emulator.progress = [&progress](uint64_t done, uint64_t total) { progress(done, total); };
  return mla::createEmulatorDevice(entries, emulator);
}

static mla::RunConfig configOf(const RunOptions &options) {
  mla::RunConfig config;
  config.qLens = options.batch.qLens;
  config.kvLens = options.batch.kvLens;
  config.pageSize = options.batch.pageSize;
  config.seed = options.seed;
  config.packed = options.packed;
  config.checkEvery = options.checkEvery;
  config.repeat = options.repeat;
  config.rotate = options.rotate;
  config.overlap = options.overlap;
  config.tolerance = options.tolerance;
  return config;
}

template <typename ReportT>
static int print(const ReportT &report, const Progress &progress, const RunOptions &options) {
  progress.finish();
  std::string text = options.json ? report.toJson() : report.toText();
  std::printf("%s\n", text.c_str());
  return report.passed() ? 0 : 1;
}

static int runKernel(const std::string &artefact, const std::string &name, const RunOptions &options,
                     const std::function<HostEntry(const std::string &)> &entries) {
  mla::Manifest manifest = mla::readArtefact(artefact);
  Progress progress;
  std::unique_ptr<mla::Device> device = createDevice(options, progress, entries);
  std::unique_ptr<mla::Module> module = device->load(artefact);
  if (const mla::WriterInfo *writer = manifest.findWriter(name))
    return print(mla::runAndCheck(*device, *module, *writer, configOf(options)), progress, options);
  return print(mla::runAndCheck(*device, *module, *manifest.find(name), configOf(options)), progress, options);
}

int execute(const std::string &artefact, const std::string &name, const RunOptions &options,
            const std::function<HostEntry(const std::string &)> &entries) {
  try {
    return runKernel(artefact, name, options, entries);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

static mla::RunConfig configOf(const TuneOptions &options) {
  mla::RunConfig config;
  config.qLens = options.batch.qLens;
  config.kvLens = options.batch.kvLens;
  config.pageSize = options.batch.pageSize;
  config.seed = options.seed;
  config.packed = true;
  config.repeat = options.repeat;
  return config;
}

std::optional<std::string> presentDevice(std::string &problem) {
  try {
    return mla::cudaDeviceInfo(0).name;
  } catch (const mla::Error &error) {
    problem = error.what();
    return std::nullopt;
  }
}

std::optional<std::vector<mla::Measurement>> measureOnDevice(const std::vector<std::string> &artefacts,
                                                             const std::string &name, const TuneOptions &options) {
  size_t count = artefacts.size();
  auto progress = [&, interactive = isatty(STDERR_FILENO) != 0](size_t index, const mla::Measurement &) {
    if (interactive)
      std::fprintf(stderr, "\rmeasured %zu of %zu%s", index + 1, count, index + 1 < count ? "" : "\n");
  };
  try {
    return mla::measureCandidates(*mla::createCudaDevice(), artefacts, name, configOf(options), progress);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return std::nullopt;
  }
}

} // namespace mlac

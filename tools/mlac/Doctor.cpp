// `mlac doctor`: what is there, and what follows from it. Never fails for what is not.
#include "codegen/Target.h"
#include "runtime/cache/ArtefactCache.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/jit/BuildId.h"
#include "tools/mlac/Commands.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>

#include <unistd.h>

namespace mlac {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

static std::string cudaVersion(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

//===-- Finding out --===//

static Json describeDevice(const mla::CudaDeviceInfo &info) {
  std::string target = "sm_" + std::to_string(10 * info.major + info.minor);
  bool known = Target::find(target).has_value();
  return {{"name", info.name},
          {"compute_capability", std::to_string(info.major) + "." + std::to_string(info.minor)},
          {"multiprocessors", info.multiprocessors},
          {"shared_bytes_per_block", info.sharedBytesPerBlock},
          {"target", known ? Json(target) : Json()}};
}

static Json describeDriver() {
  Json driver = {{"found", false}, {"devices", Json::array()}};
  try {
    int count = mla::cudaDeviceCount();
    driver["found"] = true;
    for (int index = 0; index < count; ++index) {
      mla::CudaDeviceInfo info = mla::cudaDeviceInfo(index);
      driver["cuda"] = cudaVersion(info.driverVersion);
      driver["newest_ptx"] = formatPtxVersion(ptxForDriver(info.driverVersion));
      driver["version"] = info.driverVersion;
      driver["devices"].push_back(describeDevice(info));
    }
  } catch (const mla::Error &error) {
    driver["problem"] = error.what();
  }
  return driver;
}

/// The first executable of that name on PATH; empty parts of PATH are skipped.
static std::string findProgram(const std::string &name) {
  const char *variable = std::getenv("PATH");
  std::string path = variable ? variable : "";
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    std::string candidate = path.substr(begin, end - begin) + "/" + name;
    if (end > begin && access(candidate.c_str(), X_OK) == 0)
      return candidate;
    begin = end + 1;
  }
  return "";
}

static std::string findPtxas() {
  const char *own = std::getenv("MLAC_PTXAS");
  return own && *own ? own : findProgram("ptxas");
}

/// Can a file be made there? A directory that is not there yet counts by its nearest parent.
static bool isWritable(fs::path folder) {
  std::error_code error;
  while (!folder.empty() && !fs::exists(folder, error) && folder.has_relative_path())
    folder = folder.parent_path();
  return fs::is_directory(folder, error) && access(folder.c_str(), W_OK) == 0;
}

static Json describeCache() {
  mla::ArtefactCache cache(mla::ArtefactCache::defaultDirectory());
  size_t damaged = 0, all = 0;
  for (const mla::ArtefactCache::Entry &entry : cache.list()) {
    ++all;
    damaged += !entry.intact;
  }
  return {{"directory", cache.directory().string()},
          {"writable", isWritable(cache.directory())},
          {"entries", all},
          {"damaged", damaged}};
}

static Json describeTargets(int driver) {
  Json targets = Json::array();
  for (const Target &target : Target::all())
    targets.push_back({{"name", target.name},
                       {"least_ptx", formatPtxVersion(target.minPtx)},
                       {"least_cuda", cudaVersion(driverForPtx(target.minPtx))},
                       {"driver_takes_it", driver ? Json(ptxForDriver(driver) >= target.minPtx) : Json()}});
  return targets;
}

static void conclude(Json &report) {
  Json &conclusions = report["conclusions"] = Json::array();
  const Json &driver = report["driver"];
  conclusions.push_back("mlac run --device emulator works: it needs nothing else");
  if (driver["devices"].empty())
    conclusions.push_back("mlac run --device cuda does not work: there is no device");
  for (const Json &device : driver["devices"])
    conclusions.push_back(device["target"].is_null()
                              ? device["name"].get<std::string>() + " is no target of this compiler"
                              : "for " + device["name"].get<std::string>() + " compile with --target " +
                                    device["target"].get<std::string>());
  if (report["ptxas"].is_null())
    conclusions.push_back("--emit=cubin does not work: there is no ptxas; programs run all the same");
  if (!report["cache"]["writable"].get<bool>())
    conclusions.push_back("programs are compiled anew in every process: the cache cannot be written");
  if (report["cache"]["damaged"].get<size_t>())
    conclusions.push_back("damaged cache entries are rebuilt when they are next needed");
}

static Json examine() {
  Json report;
  report["mlac"] = MLAC_VERSION;
  report["build"] = mla::jit::ownBuildId();
  report["driver"] = describeDriver();
  std::string ptxas = findPtxas();
  report["ptxas"] = ptxas.empty() ? Json() : Json(ptxas);
  report["cache"] = describeCache();
  report["targets"] = describeTargets(report["driver"].value("version", 0));
  conclude(report);
  return report;
}

//===-- Printing --===//

static void printLine(const char *what, const std::string &text) {
  std::printf("%-10s %s\n", what, text.c_str());
}

static std::string text(const Json &json) { return json.is_string() ? json.get<std::string>() : json.dump(); }

static void printDriver(const Json &driver) {
  if (driver.contains("problem"))
    printLine("driver", text(driver["problem"]));
  else if (driver.contains("cuda"))
    printLine("driver", "CUDA " + text(driver["cuda"]) + ", takes PTX up to " + text(driver["newest_ptx"]));
  else
    printLine("driver", "found, without a device");
  for (const Json &device : driver["devices"])
    printLine("device", text(device["name"]) + ", compute capability " + text(device["compute_capability"]) +
                            ", " + text(device["multiprocessors"]) + " multiprocessors, " +
                            text(device["shared_bytes_per_block"]) + " bytes of shared memory a block");
}

static void print(const Json &report) {
  printLine("mlac", text(report["mlac"]) + " build " + text(report["build"]));
  printDriver(report["driver"]);
  printLine("ptxas", report["ptxas"].is_null() ? "none on PATH" : text(report["ptxas"]));
  const Json &cache = report["cache"];
  printLine("cache", text(cache["directory"]) +
                         (cache["writable"].get<bool>() ? "" : " (cannot be written)") + ", " +
                         text(cache["entries"]) + " entries, " + text(cache["damaged"]) + " damaged");
  for (const Json &target : report["targets"])
    printLine("target", text(target["name"]) + ": PTX " + text(target["least_ptx"]) + ", CUDA " +
                            text(target["least_cuda"]) +
                            (target["driver_takes_it"] == false ? " (newer than this driver)" : ""));
  std::printf("\n");
  for (const Json &line : report["conclusions"])
    std::printf("- %s\n", text(line).c_str());
}

int runDoctor(const DoctorOptions &options) {
  Json report = examine();
  if (options.json)
    std::printf("%s\n", report.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  else
    print(report);
  return 0;
}

} // namespace mlac

// Writing the trace.
#include "runtime/Trace.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

namespace mla {
namespace {

struct CloseFile {
  void operator()(std::FILE *file) const {
    if (file != stderr)
      std::fclose(file);
  }
};

/// The one trace of the process.
class TraceFile {
public:
  TraceFile() noexcept { readEnvironment(); }

  bool open(TraceLevel wanted, const std::string &path) noexcept {
    std::lock_guard lock(mutex);
    file.reset(path.empty() ? stderr : std::fopen(path.c_str(), "a"));
    level.store(file ? wanted : TraceLevel::off, std::memory_order_relaxed);
    return file != nullptr;
  }

  bool traces(TraceLevel wanted) const noexcept {
    return wanted != TraceLevel::off && level.load(std::memory_order_relaxed) >= wanted;
  }

  /// Flushed line by line: what was called before a crash is in the file.
  void write(const std::string &line) noexcept {
    std::lock_guard lock(mutex);
    if (!file)
      return;
    std::fwrite(line.data(), 1, line.size(), file.get());
    std::fflush(file.get());
  }

  uint64_t nextCall() noexcept { return ++calls; }

private:
  void readEnvironment() noexcept {
    const char *path = std::getenv("MLAC_TRACE"), *name = std::getenv("MLAC_LOG");
    if (!path && !name)
      return;
    std::string_view text = name ? name : "run";
    TraceLevel wanted = text == "run" ? TraceLevel::run : text == "plan" ? TraceLevel::plan : TraceLevel::off;
    if (wanted != TraceLevel::off && !open(wanted, path ? path : ""))
      std::fprintf(stderr, "mlac: cannot append to the trace file '%s'; calls are not traced\n", path);
  }

  std::mutex mutex;
  std::unique_ptr<std::FILE, CloseFile> file;
  std::atomic<TraceLevel> level{TraceLevel::off};
  std::atomic<uint64_t> calls{0};
};

TraceFile &traceFile() noexcept {
  static TraceFile *trace = new TraceFile; // never destroyed: calls may come while the process exits
  return *trace;
}

using Json = nlohmann::ordered_json;

Json toJson(const TraceTypes &types) {
  return {{"query", name(types.query)}, {"storage", name(types.storage)}, {"compute", name(types.compute)}};
}

void addSize(Json &line, const char *key, int64_t size) {
  if (size >= 0)
    line[key] = size;
}

Json toJson(TraceLevel level, const TraceCall &call) {
  std::chrono::duration<double> time = std::chrono::system_clock::now().time_since_epoch();
  Json line = {{"mlac", level == TraceLevel::run ? "run" : "plan"},
               {"call", traceFile().nextCall()},
               {"time", time.count()},
               {"pid", int64_t(getpid())},
               {"kernel", call.kernel}};
  line.update(toJson(call.given));
  line["declared"] = toJson(call.declared);
  addSize(line, "requests", call.requests);
  addSize(line, "queryTokens", call.queryTokens);
  addSize(line, "cachedTokens", call.cachedTokens);
  return line;
}

} // namespace

TraceTypes declaredTypes(const KernelInfo &kernel) {
  TraceTypes types;
  if (const Operand *query = kernel.find(Role::query))
    types.query = query->dtype;
  if (const Operand *stored = kernel.find(kernel.isPrefill() ? Role::key : Role::cache))
    types.storage = stored->dtype;
  types.compute = kernel.compute;
  return types;
}

bool isTraced(TraceLevel level) noexcept { return traceFile().traces(level); }

void traceCall(TraceLevel level, const TraceCall &call) noexcept {
  if (!isTraced(level))
    return;
  try {
    traceFile().write(toJson(level, call).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  } catch (...) {
    // Out of memory: the call matters more than its trace.
  }
}

bool setTrace(TraceLevel level, const std::string &path) noexcept { return traceFile().open(level, path); }

} // namespace mla

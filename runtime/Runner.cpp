#include "runtime/Runner.h"

#include "runtime/Params.h"
#include "runtime/Trace.h"

#include <algorithm>
#include <cstring>

namespace mla {

using reference::HostOperands;
using reference::HostTensor;

namespace {

template <typename T>
Buffer upload(Device &device, const std::vector<T> &list, const std::string &label) {
  Buffer buffer(device, list.size() * sizeof(T), label);
  buffer.copyIn(list.data(), list.size() * sizeof(T));
  return buffer;
}

/// The operands on the device.
class DeviceOperands {
public:
  DeviceOperands(Device &device, const KernelInfo &kernel, const HostOperands &host) {
    table = upload(device, host.table, "page table");
    cacheIndptr = upload(device, host.cacheIndptr, "cache indptr");
    for (const HostTensor &tensor : host.tensors) {
      Buffer &buffer = buffers.emplace_back(upload(device, tensor.bytes, tensor.operand.name));
      bound[tensor.operand.name] = bind(tensor, host, buffer);
    }
    for (const auto &[name, value] : host.scalars)
      bound[name].scalar = value;
  }

  const BoundOperands &operands() const { return bound; }

  /// Brings the outputs back.
  void download(HostOperands &host) const {
    for (size_t i = 0; i < host.tensors.size(); ++i) {
      HostTensor &tensor = host.tensors[i];
      if (tensor.operand.role == Role::output || tensor.operand.role == Role::lse)
        buffers[i].copyOut(tensor.bytes.data(), tensor.bytes.size());
    }
  }

  /// Start of the allocation of that tensor.
  DevicePtr allocation(const HostOperands &host, const HostTensor &tensor) const {
    return buffers[static_cast<size_t>(&tensor - host.tensors.data())].get();
  }

private:
  BoundOperand bind(const HostTensor &tensor, const HostOperands &host, const Buffer &buffer) const {
    BoundOperand operand;
    operand.data = buffer.get() + static_cast<uint64_t>(tensor.offset);
    operand.strideToken = tensor.strideToken;
    operand.strideHead = tensor.strideHead;
    operand.stridePage = tensor.stridePage;
    operand.table = table.get();
    operand.tableStride = host.tableStride;
    operand.pageSize = host.shape.pageSize;
    operand.indptr = cacheIndptr.get();
    operand.scales = operand.data + static_cast<uint64_t>(tensor.scalesAt);
    operand.strideScalePage = tensor.strideScalePage;
    operand.strideScaleToken = tensor.strideScaleToken;
    return operand;
  }

  Buffer table;
  Buffer cacheIndptr;
  std::vector<Buffer> buffers; ///< one for each of the host's tensors
  BoundOperands bound;
};

/// The plan's lists and workspace on the device.
class DevicePlan {
public:
  DevicePlan(Device &device, const Plan &plan)
      : qIndptr(upload(device, plan.qIndptr, "plan.q_indptr")),
        kvLen(upload(device, plan.kvLen, "plan.kv_len")),
        workIndptr(upload(device, plan.workIndptr, "plan.work_indptr")),
        work(upload(device, plan.work, "plan.work")), merges(upload(device, plan.merges, "plan.merges")),
        partialOut(device, static_cast<size_t>(plan.partialOutBytes), "plan.partial_out"),
        partialLse(device, static_cast<size_t>(plan.partialLseBytes), "plan.partial_lse") {
    // No kernel may rely on a clean workspace.
    partialOut.fill(0xFF);
    partialLse.fill(0xFF);
  }

  BoundPlan bound() const {
    return {qIndptr.get(), kvLen.get(),      workIndptr.get(), work.get(),
            merges.get(),  partialOut.get(), partialLse.get()};
  }

private:
  Buffer qIndptr, kvLen, workIndptr, work, merges, partialOut, partialLse;
};

PlanRequest requestOf(const HostOperands &operands, const RunConfig &config, int blocks) {
  PlanRequest request;
  request.qIndptr = operands.qIndptr;
  request.kvLen = operands.shape.kvLens;
  request.queryTokens = operands.queryTokens();
  request.pageSize = operands.shape.pageSize;
  request.tableColumns = operands.tableColumns;
  request.pages = operands.pages;
  request.cacheIndptr = operands.cacheIndptr;
  request.blocks = blocks;
  request.split = config.split;
  return request;
}

/// The calls that a host program would have made. Operands are made of the types that are declared.
TraceCall traceOf(const KernelInfo &kernel, const Plan &plan) {
  int64_t cached = 0;
  for (int32_t length : plan.kvLen)
    cached += length;
  TraceTypes types = declaredTypes(kernel);
  return {kernel.name, types, types, static_cast<int64_t>(plan.kvLen.size()), plan.qIndptr.back(), cached};
}

/// The tensors that hold cached rows: the cache, or keys and values.
std::vector<const HostTensor *> cachedTensors(const HostOperands &host) {
  std::vector<const HostTensor *> tensors;
  for (Role role : {Role::cache, Role::key, Role::value})
    if (const HostTensor *tensor = host.find(role))
      tensors.push_back(tensor);
  return tensors;
}

/// A planned batch, ready to be launched any number of times.
class PlannedRun {
public:
  PlannedRun(Device &device, Module &module, const KernelInfo &kernel, const Plan &plan,
             const HostOperands &operands, bool overlap)
      : device(device), module(module), kernel(kernel), plan(plan),
        overlap(overlap && kernel.combine.overlaps), onDevice(device, kernel, operands),
        planOnDevice(device, plan) {
    addParams(onDevice.operands());
  }

  /// Adds copies of the cache, with the same contents at other addresses, that the launches take in turn.
  void addCopies(const HostOperands &host, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      BoundOperands bound = onDevice.operands();
      for (const HostTensor *cached : cachedTensors(host)) {
        Buffer &buffer = copies.emplace_back(upload(device, cached->bytes, cached->operand.name));
        bound[cached->operand.name].data = buffer.get() + static_cast<uint64_t>(cached->offset);
      }
      addParams(bound);
    }
  }

  /// Launches on the cache's copy number `turn`, modulo their number.
  void launch(int turn) {
    if (isTraced(TraceLevel::run))
      traceCall(TraceLevel::run, traceOf(kernel, plan));
    auto &[main, combine] = params[static_cast<size_t>(turn) % params.size()];
    if (plan.grid > 0)
      start(kernel.main, plan.grid, kernel.main.threads, main, /*mayOverlap=*/false);
    if (plan.combineGrid > 0)
      start(kernel.combine, plan.combineGrid, plan.combineThreads, combine, overlap);
  }

  const DeviceOperands &operands() const { return onDevice; }

  /// Bytes of cached rows that all launches loaded; empty on a device that does not count them.
  std::optional<uint64_t> bytesLoaded(const HostOperands &host) const {
    uint64_t sum = 0;
    for (const HostTensor *cached : cachedTensors(host))
      if (std::optional<uint64_t> loaded = device.bytesRead(onDevice.allocation(host, *cached)))
        sum += *loaded;
      else
        return std::nullopt;
    for (const Buffer &copy : copies)
      sum += device.bytesRead(copy.get()).value_or(0);
    return sum;
  }

private:
  void addParams(const BoundOperands &bound) {
    params.emplace_back(bindParams(kernel, kernel.main, bound, planOnDevice.bound()),
                        bindParams(kernel, kernel.combine, bound, planOnDevice.bound()));
  }

  void start(const Entry &entry, int64_t grid, int64_t threads, ParamList &list, bool mayOverlap) {
    Launch launch = launchOf(entry);
    launch.grid = static_cast<uint32_t>(grid);
    launch.block = static_cast<uint32_t>(threads);
    launch.overlap = mayOverlap;
    device.launch(module, launch, list.data());
  }

  Device &device;
  Module &module;
  const KernelInfo &kernel;
  const Plan &plan;
  bool overlap;
  DeviceOperands onDevice;
  DevicePlan planOnDevice;
  std::vector<Buffer> copies;
  std::vector<std::pair<ParamList, ParamList>> params; ///< main's and combine's, for each copy of the cache
};

/// Does the device tell time?
bool tellsTime(Device &device) {
  return device.timed([] {}).has_value();
}

/// Copies of a cache of `bytes` that repeated launches walk through.
int64_t copiesFor(const RunConfig &config, bool timed, int64_t bytes) {
  constexpr int64_t mostCopies = 1024;
  int64_t wanted = config.rotate.value_or(timed ? rotation : 0);
  if (config.repeat <= 1 || bytes == 0)
    return 1;
  return std::clamp<int64_t>((wanted + bytes - 1) / bytes, 1, mostCopies);
}

/// Launches, measures, and brings the outputs back.
void execute(Device &device, PlannedRun &planned, const RunConfig &config, HostOperands &operands,
             RunStats &stats) {
  constexpr int64_t leastLaunches = 20; // of a reading: its start and end are then a small part
  stats.copies = copiesFor(config, tellsTime(device), stats.cacheBytesOwned);
  for (const HostTensor *cached : cachedTensors(operands))
    stats.copyBytes += static_cast<int64_t>(cached->bytes.size());
  planned.addCopies(operands, stats.copies - 1);
  auto round = static_cast<int>((leastLaunches + stats.copies - 1) / stats.copies * stats.copies);
  stats.time = measure(device, [&](int turn) { planned.launch(turn); }, config.repeat, round);
  planned.operands().download(operands);
}

/// Bytes of a token's rows that one head reads.
int64_t rowBytesOf(const KernelInfo &kernel) {
  if (!kernel.isPrefill())
    return kernel.cached().shape.back() * bytes(kernel.cached().dtype) + kernel.cached().scaleRowBytes();
  return kernel.qkDim * bytes(kernel.cached().dtype) + kernel.vDim * bytes(kernel.find(Role::value)->dtype);
}

int64_t bytesCovered(const KernelInfo &kernel, const Plan &plan, int64_t rowBytes) {
  int64_t tokens = 0;
  for (const WorkItem &item : plan.work) {
    int64_t qLen = plan.qIndptr[item.request + 1] - plan.qIndptr[item.request];
    int64_t rowEnd = std::min(int64_t{item.row_begin} + kernel.tile.rows, qLen * kernel.headsPerKv());
    int64_t visible = visibleTokens(kernel, qLen, plan.kvLen[item.request], rowEnd);
    int64_t begin = int64_t{item.tile_begin} * kernel.tile.tokens;
    // What is hidden from all rows of the row tile still lies in the first tile, and is read.
    tokens += std::max<int64_t>(0, std::min(int64_t{item.tile_end} * kernel.tile.tokens, visible) - begin);
  }
  return tokens * rowBytes;
}

RunStats describe(const Device &device, const KernelInfo &kernel, const Plan &plan) {
  RunStats stats;
  int64_t rowBytes = rowBytesOf(kernel);
  stats.device = device.name();
  stats.kernel = kernel.name;
  stats.grid = plan.grid;
  stats.items = static_cast<int64_t>(plan.work.size());
  stats.tiles = plan.tiles;
  stats.skippedTiles = plan.skippedTiles;
  stats.splits = static_cast<int64_t>(plan.merges.size());
  stats.slots = plan.slots;
  stats.workspaceBytes = plan.partialOutBytes + plan.partialLseBytes;
  stats.cacheBytesRead = bytesCovered(kernel, plan, rowBytes);
  for (int32_t length : plan.kvLen)
    stats.cacheBytesOwned += length * rowBytes * std::max(kernel.kvHeads, 1);
  return stats;
}

/// A tensor's elements without its gaps.
std::vector<uint8_t> packed(const HostTensor &tensor) {
  int64_t size = bytes(tensor.operand.dtype);
  int64_t heads = tensor.operand.shape[0];
  int64_t rowBytes = size * (tensor.operand.shape.size() > 1 ? tensor.operand.shape[1] : 1);
  std::vector<uint8_t> rows(tensor.tokens * heads * rowBytes);
  uint8_t *to = rows.data();
  for (int64_t token = 0; token < tensor.tokens; ++token)
    for (int64_t head = 0; head < heads; ++head, to += rowBytes)
      std::memcpy(to, tensor.data() + tensor.element(token, head) * size, rowBytes);
  return rows;
}

} // namespace

RunStats run(Device &device, Module &module, const KernelInfo &kernel, const RunConfig &config,
             HostOperands &operands) {
  int blocks = config.blocks ? config.blocks : device.residentBlocks(module, launchOf(kernel.main));
  Plan plan = makePlan(kernel, requestOf(operands, config, blocks));
  if (isTraced(TraceLevel::plan))
    traceCall(TraceLevel::plan, traceOf(kernel, plan));
  RunStats stats = describe(device, kernel, plan);
  {
    PlannedRun planned(device, module, kernel, plan, operands, config.overlap);
    execute(device, planned, config, operands, stats);
    if (std::optional<uint64_t> loaded = planned.bytesLoaded(operands))
      stats.cacheBytesLoaded = static_cast<int64_t>(*loaded) / stats.time.launches;
  }
  device.synchronize(); // after the buffers' release, which can find faults too
  return stats;
}

RunReport runAndCheck(Device &device, Module &module, const KernelInfo &kernel, const RunConfig &config,
                      HostOperands &operands, const reference::Expected &expected) {
  RunReport report;
  report.stats = run(device, module, kernel, config, operands);
  reference::Tolerance tolerance = reference::toleranceFor(kernel.compute);
  tolerance.out = config.tolerance.value_or(tolerance.out);
  report.check = reference::check(kernel, operands, expected, tolerance);
  return report;
}

RunReport runAndCheck(Device &device, Module &module, const KernelInfo &kernel, const RunConfig &config) {
  HostOperands operands = reference::makeOperands(kernel, config.batchShape());
  reference::Expected expected = reference::evaluate(kernel, operands);
  return runAndCheck(device, module, kernel, config, operands, expected);
}

RawOutputs runRaw(Device &device, Module &module, const KernelInfo &kernel, const RunConfig &config) {
  HostOperands operands = reference::makeOperands(kernel, config.batchShape());
  run(device, module, kernel, config, operands);
  RawOutputs outputs;
  outputs.out = packed(*operands.find(Role::output));
  if (const HostTensor *lse = operands.find(Role::lse))
    outputs.lse = packed(*lse);
  return outputs;
}

} // namespace mla

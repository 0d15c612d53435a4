// plan() and run().
#include "runtime/Trace.h"
#include "runtime/api/BatchPlanImpl.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>

namespace mla {

BatchPlan::BatchPlan(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
BatchPlan::BatchPlan(BatchPlan &&) noexcept = default;
BatchPlan &BatchPlan::operator=(BatchPlan &&) noexcept = default;
BatchPlan::~BatchPlan() = default;

void BatchPlan::plan(const Lengths &lengths, Stream stream) { impl->plan(lengths, stream); }
void BatchPlan::planOnDevice(const DeviceLengths &lengths, Stream stream) {
  impl->planOnDevice(lengths, stream);
}
void BatchPlan::checkDevice() { impl->checkDevice(); }
void BatchPlan::run(const Operands &operands, Stream stream) { impl->run(operands, stream); }
void BatchPlan::checkOperands(const Operands &operands) const { impl->checkOperands(operands); }
PlanStats BatchPlan::stats() const { return impl->stats; }
Device &BatchPlan::device() const { return *impl->kernel->device; }

BatchPlan::Impl::Impl(std::shared_ptr<Kernel::Loaded> loaded, Config config, Sizes sizes, Workspace workspace)
    : kernel(std::move(loaded)), config(config), sizes(sizes), status(*kernel->device),
      lists(*kernel->device, static_cast<size_t>(sizes.listBytes), "the plan's lists"),
      staging(*kernel->device, static_cast<size_t>(sizes.listBytes)),
      scratch(*kernel->device, static_cast<size_t>(sizes.scratchBytes), "the planner's scratch memory"),
      main(launchOf(kernel->info->main)), combine(launchOf(kernel->info->combine)),
      planner(launchOf(kernel->info->planner)), check(launchOf(kernel->info->check)) {
  combine.overlap = config.overlap && kernel->info->combine.overlaps;
  uint16_t place = kernel->vocabulary.plan;
  auto at = [&](int64_t offset) { return lists.get() + static_cast<uint64_t>(offset); };
  for (int64_t offset : {int64_t{0}, sizes.kvLen, sizes.workIndptr, sizes.work, sizes.merge})
    words[place++] = at(offset);
  words[place++] = workspace.data;
  words[place++] = workspace.data + static_cast<uint64_t>(sizes.partialLseOffset);
}

//===-- Tracing --===//

static TraceCall traceOf(const KernelInfo &kernel, const TraceTypes &given, int64_t requests, int64_t rows,
                         int64_t cached) {
  return {kernel.name, given, declaredTypes(kernel), requests, rows, cached};
}

static int64_t sumOf(std::span<const int32_t> lengths) {
  int64_t sum = 0;
  for (int32_t length : lengths)
    sum += length;
  return sum;
}

/// What the configuration says the caller has; where it is silent, what is declared.
static void tracePlan(const KernelInfo &kernel, const Config &config, const Lengths &lengths) {
  if (!isTraced(TraceLevel::plan))
    return;
  TraceTypes given = declaredTypes(kernel);
  given.query = config.queryDType.value_or(given.query);
  given.storage = config.cacheDType.value_or(given.storage);
  int64_t rows = lengths.qIndptr.empty() ? -1 : lengths.qIndptr.back();
  traceCall(TraceLevel::plan,
            traceOf(kernel, given, static_cast<int64_t>(lengths.kvLen.size()), rows, sumOf(lengths.kvLen)));
}

static void traceRun(const KernelInfo &kernel, const Operands &operands, const Expected &expected,
                     int64_t requests) {
  if (!isTraced(TraceLevel::run))
    return;
  DType storage = kernel.isPrefill() ? operands.key.dtype : operands.cache.dtype;
  TraceTypes given{operands.query.dtype, storage, declaredTypes(kernel).compute};
  traceCall(TraceLevel::run, traceOf(kernel, given, static_cast<int64_t>(requests), operands.query.rows,
                                     expected.cachedTokens));
}

//===-- Planning --===//

static void requireRoom(const char *what, const char *capacity, int64_t count, int64_t most) {
  if (count > most)
    throw Error(Error::Code::capacityExceeded, what, std::to_string(count),
                fmt::format("at most {} {}", most, capacity), "prepare a plan of a larger capacity");
}

PlanRequest splitOf(const Config &config) {
  PlanRequest request;
  request.blocks = config.blocks;
  request.split = config.split;
  request.fixedPieces = config.deterministic == Deterministic::batch;
  return request;
}

static PlanRequest requestOf(const Config &config, const Lengths &lengths) {
  PlanRequest request = splitOf(config);
  request.qIndptr = lengths.qIndptr;
  request.kvLen = lengths.kvLen;
  request.pageSize = lengths.pageSize;
  request.tableColumns = lengths.tableColumns;
  request.pages = lengths.pages;
  request.cacheIndptr = lengths.cacheIndptr;
  return request;
}

void BatchPlan::Impl::plan(const Lengths &lengths, Stream stream) {
  tracePlan(info(), config, lengths);
  checkDevice();
  if (device().capturing(stream))
    throw Error(Error::Code::streamCapturing, "plan()", "on a stream that is being captured",
                "outside of the capture", "capture run() alone; its replays see the plan made last");
  requireRoom("the batch", "requests of the capacity", static_cast<int64_t>(lengths.kvLen.size()),
              sizes.requests);
  std::byte *slot = staging.acquire();
  makePlan(info(), requestOf(config, lengths), made,
           {reinterpret_cast<WorkItem *>(slot + sizes.work), static_cast<size_t>(sizes.items)});
  checkCapacity();
  staging.send(lists.get(), write(slot), stream);
  remember(lengths);
}

void BatchPlan::Impl::checkCapacity() const {
  requireRoom("the query rows", "query rows of the capacity", made.qIndptr.back(), sizes.queryRows);
  requireRoom("the work items", "work items of the capacity", made.items, sizes.items);
  requireRoom("the partial results", "slots of the capacity", made.slots, sizes.slots);
  requireRoom("the row tiles to merge", "merges of the capacity", static_cast<int64_t>(made.merges.size()),
              sizes.merges);
}

template <typename T>
static void put(std::byte *to, const std::vector<T> &list) {
  if (!list.empty())
    std::memcpy(to, list.data(), list.size() * sizeof(T));
}

size_t BatchPlan::Impl::write(std::byte *to) const {
  put(to, made.qIndptr);
  put(to + sizes.kvLen, made.kvLen);
  put(to + sizes.workIndptr, made.workIndptr);
  put(to + sizes.merge, made.merges);
  // Blocks past the plan's find an empty range, merges past it a row that no request has. Request 0's lengths
  // are read for those, also of an empty batch.
  auto *indptr = reinterpret_cast<int32_t *>(to + sizes.workIndptr);
  std::fill(indptr + made.workIndptr.size(), indptr + sizes.blocks + 1, made.workIndptr.back());
  if (made.kvLen.empty())
    reinterpret_cast<int32_t *>(to)[1] = 0;
  auto *merges = reinterpret_cast<MergeItem *>(to + sizes.merge);
  if (config.graph)
    std::fill(merges + made.merges.size(), merges + sizes.merges,
              MergeItem{0, std::numeric_limits<int32_t>::max() - info().tile.rows, 0, 0});
  return static_cast<size_t>(sizes.work) + static_cast<size_t>(made.items) * sizeof(WorkItem);
}

void BatchPlan::Impl::remember(const Lengths &lengths) {
  if (config.graph)
    setLaunches(sizes.blocks, capacityCombine());
  else
    setLaunches(made.grid, {made.combineGrid, made.combineThreads});
  stats.items = made.items;
  stats.tiles = made.tiles;
  stats.skippedTiles = made.skippedTiles;
  stats.splits = static_cast<int64_t>(made.merges.size());
  stats.slots = made.slots;
  expected.rows = made.qIndptr.back();
  expected.work = made.items > 0;
  expected.cachedTokens = 0;
  for (int32_t length : made.kvLen)
    expected.cachedTokens += length;
  setGeometry(lengths.pageSize, lengths.tableColumns, lengths.pages);
  requests = static_cast<int64_t>(made.kvLen.size());
  planned = true;
}

CombineLaunch BatchPlan::Impl::capacityCombine() const {
  return combineLaunch(info(), sizes.merges, sizes.slots, config.deterministic == Deterministic::batch);
}

void BatchPlan::Impl::setLaunches(int64_t grid, CombineLaunch merging) {
  stats.grid = grid;
  stats.combineGrid = merging.grid;
  main.grid = static_cast<uint32_t>(grid);
  combine.grid = static_cast<uint32_t>(merging.grid);
  combine.block = static_cast<uint32_t>(merging.threads);
}

void BatchPlan::Impl::setGeometry(int32_t pageSize, int64_t tableColumns, int64_t pages) {
  expected.pageSize = pageSize;
  expected.tableColumns = tableColumns;
  expected.pages = pages;
  if (pageSize > 0)
    division = pageDivision(pageSize);
}

//===-- Running --===//

void BatchPlan::Impl::checkOperands(const Operands &operands) const {
  if (!planned)
    throw Error(Error::Code::notPlanned, "run()", "before plan()", "after it");
  const KernelInfo &kernel = info();
  checkTensor(*kernel.find(Role::query), operands.query, expected.rows);
  checkTensor(*kernel.find(Role::output), operands.out, expected.rows);
  if (kernel.lse != LseBase::none)
    checkTensor(*kernel.find(Role::lse), operands.lse, expected.rows);
  if (kernel.isPrefill()) {
    checkTensor(*kernel.find(Role::key), operands.key, expected.cachedTokens);
    checkTensor(*kernel.find(Role::value), operands.value, expected.cachedTokens);
  } else {
    checkCache(*kernel.find(Role::cache), operands.cache, expected);
  }
  for (const Operand &operand : kernel.operands)
    if (operand.role == Role::scalar)
      scalarValue(kernel, operand.name, operands.scalars);
    else if (operand.role == Role::headValues)
      headValuesOf(operand, operands.headValues);
}

void BatchPlan::Impl::writeOperands(const Operands &operands, Words &into) const {
  const Vocabulary &vocabulary = kernel->vocabulary;
  writeTensor(into, vocabulary.query, operands.query);
  writeTensor(into, vocabulary.out, operands.out);
  if (info().lse != LseBase::none)
    writeTensor(into, vocabulary.lse, operands.lse);
  if (info().isPrefill()) {
    writeTensor(into, vocabulary.key, operands.key);
    writeTensor(into, vocabulary.value, operands.value);
  } else {
    writeCache(into, vocabulary.cache, operands.cache, info().cached(), division);
  }
  size_t next = 0, nextList = 0;
  for (const Operand &operand : info().operands)
    if (operand.role == Role::scalar)
      into[vocabulary.scalars[next++]] =
          std::bit_cast<uint32_t>(scalarValue(info(), operand.name, operands.scalars));
    else if (operand.role == Role::headValues)
      into[vocabulary.headValues[nextList++]] = headValuesOf(operand, operands.headValues).data;
}

void BatchPlan::Impl::launch(const Binding &binding, Launch &launch, Words &values, Stream stream) {
  if (launch.grid == 0)
    return;
  std::array<void *, Words::most> params;
  binding.point(values, params);
  launch.stream = stream;
  device().launch(*kernel->module, launch, params.data());
}

void BatchPlan::Impl::run(const Operands &operands, Stream stream) {
  traceRun(info(), operands, expected, requests);
  checkDevice();
  checkOperands(operands);
  Words values = words;
  writeOperands(operands, values);
  if (config.checkTables)
    checkTable(values, stream);
  launch(kernel->main, main, values, stream);
  launch(kernel->combine, combine, values, stream);
}

} // namespace mla

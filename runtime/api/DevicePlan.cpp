// What of a plan is made and checked on the device.
#include "runtime/PlanCheck.h"
#include "runtime/api/BatchPlanImpl.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace mla {

using Code = Error::Code;

static constexpr int64_t int32Max = std::numeric_limits<int32_t>::max();

//===-- What the planner reports --===//

namespace {

/// The parts of a status word; see PlannerStatus.
struct Report {
  explicit Report(uint64_t word)
      : status(static_cast<PlannerStatus>(word >> 60)), index(word >> 32 & 0xFFFFFFF),
        value(static_cast<int32_t>(word)) {}

  PlannerStatus status;
  uint64_t index;
  int32_t value;
};

} // namespace

[[noreturn]] static void overCapacity(const char *what, int32_t value, int64_t most) {
  throw Error(Code::capacityExceeded, fmt::format("{}, counted on the device,", what), std::to_string(value),
              fmt::format("at most {} of the capacity", most), "prepare a plan of a larger capacity");
}

[[noreturn]] static void refuse(const Report &report, const Sizes &sizes) {
  auto bad = [&](Code code, const char *array, const char *allowed, const char *wayOut) {
    throw Error(code, fmt::format("{}[{}] in device memory", array, report.index),
                std::to_string(report.value), allowed, wayOut);
  };
  switch (report.status) {
  case PlannerStatus::indptrStart:
    bad(Code::indptrStart, "q_indptr", "0", "rebase the offsets on the tensor that is passed");
  case PlannerStatus::indptrOrder:
    bad(Code::indptrOrder, "q_indptr", "at least the one before", "pass the running sum of the lengths");
  case PlannerStatus::queryRows:
    bad(Code::capacityExceeded, "q_indptr", "at most DeviceLengths::queryRows",
        "pass the rows of the query tensor");
  case PlannerStatus::kvLenNegative:
    bad(Code::kvLenNegative, "kv_len", "at least 0", "pass 0 for a padded request");
  case PlannerStatus::kvLenBeyondTable:
    bad(Code::kvLenBeyondTable, "kv_len", "at most the table columns x tokens of a page",
        "pass a wider page table");
  case PlannerStatus::kvLenMismatch:
    bad(Code::kvLenMismatch, "kv_len", "the rows that the cache indptr gives it", "");
  case PlannerStatus::items:
    overCapacity("the work items", report.value, sizes.items);
  case PlannerStatus::slots:
    overCapacity("the partial results", report.value, sizes.slots);
  case PlannerStatus::merges:
    overCapacity("the row tiles to merge", report.value, sizes.merges);
  case PlannerStatus::fine:
    break;
  }
  throw Error(Code::internal, "the planner's status", std::to_string(static_cast<uint32_t>(report.status)),
              "a known one");
}

void BatchPlan::Impl::checkDevice() {
  if (uint64_t word = status.take())
    refuse(Report(word), sizes);
}

//===-- Planning --===//

PlanRequest BatchPlan::Impl::deviceRequest(const DeviceLengths &lengths) const {
  PlanRequest request = splitOf(config);
  request.pageSize = lengths.pageSize;
  request.tableColumns = lengths.tableColumns;
  request.pages = lengths.pages;
  return request;
}

static void requireWithin(const char *field, int64_t value, int64_t most) {
  if (value < 0 || value > most)
    throw Error(Code::capacityExceeded, field, std::to_string(value),
                fmt::format("between 0 and the capacity, {}", most), "prepare a plan of a larger capacity");
}

static void requireArray(const char *name, DevicePtr address) {
  if (!address)
    throw Error(Code::operandNull, fmt::format("the address of {}", name), "null", "in device memory");
  if (address % sizeof(int32_t))
    throw Error(Code::operandAlignment, fmt::format("the address of {}", name), fmt::format("{:#x}", address),
                "a multiple of 4");
}

void BatchPlan::Impl::checkDeviceLengths(const DeviceLengths &lengths) const {
  if (info().planner.name.empty())
    throw Error(Code::entryMissing, "the planner of " + info().name, "not in the artefact", "there",
                info().isPrefill() ? "prefill is planned on the host, by plan()"
                                   : "recompile the kernel with this version");
  if (!config.graph)
    throw Error(Code::configMismatch, "Config::graph", "false", "true for plans that are made on the device",
                "their launches have the capacity's size");
  requireWithin("requests", lengths.requests, sizes.requests);
  requireWithin("query rows", lengths.queryRows, sizes.queryRows);
  bool paged = info().cached().layout == Layout::paged;
  if (paged)
    checkGeometry(deviceRequest(lengths));
  if (lengths.requests == 0)
    return;
  requireArray("q_indptr", lengths.qIndptr);
  requireArray("kv_len", lengths.kvLen);
  if (!paged)
    requireArray("the cache indptr", lengths.cacheIndptr);
}

void BatchPlan::Impl::writeBatch(const DeviceLengths &lengths, Words &into) const {
  PlanRequest request = deviceRequest(lengths);
  bool paged = info().cached().layout == Layout::paged;
  bool splits = request.split && !info().combine.name.empty();
  int64_t mostTokens = int32Max - info().tile.tokens;
  if (paged)
    mostTokens = lengths.pages == 0 ? 0 : tableTokens(request, mostTokens);
  const uint64_t values[] = {lengths.qIndptr,
                             lengths.kvLen,
                             lengths.cacheIndptr,
                             static_cast<uint64_t>(lengths.requests),
                             static_cast<uint64_t>(lengths.queryRows),
                             static_cast<uint64_t>(mostTokens),
                             static_cast<uint64_t>(sizes.blocks),
                             static_cast<uint64_t>(splits ? std::max(request.minTilesPerPiece, 1) : 0),
                             request.fixedPieces && splits,
                             static_cast<uint64_t>(sizes.items),
                             static_cast<uint64_t>(sizes.slots),
                             static_cast<uint64_t>(sizes.merges),
                             static_cast<uint64_t>(lengths.pages),
                             scratch.get(),
                             status.address()};
  std::copy(std::begin(values), std::end(values), &into[kernel->vocabulary.batch]);
}

void BatchPlan::Impl::planOnDevice(const DeviceLengths &lengths, Stream stream) {
  checkDevice();
  checkDeviceLengths(lengths);
  Words values = words;
  writeBatch(lengths, values);
  planner.grid = 1;
  launch(kernel->planner, planner, values, stream);
  stats = {};
  stats.items = stats.tiles = stats.skippedTiles = stats.splits = stats.slots = -1;
  setLaunches(sizes.blocks, capacityCombine());
  setGeometry(lengths.pageSize, lengths.tableColumns, lengths.pages);
  expected.rows = lengths.queryRows;
  expected.work = lengths.requests > 0;
  expected.cachedTokens = lengths.requests > 0 ? -1 : 0;
  requests = lengths.requests;
  planned = true;
}

//===-- Page tables --===//

void BatchPlan::Impl::checkTable(Words &values, Stream stream) {
  if (info().cached().layout != Layout::paged || requests == 0 || expected.cachedTokens == 0)
    return;
  if (device().capturing(stream))
    throw Error(Code::streamCapturing, "run() with checkTables", "on a stream that is being captured",
                "outside of the capture", "leave checkTables off for captured runs");
  DeviceLengths lengths;
  lengths.requests = requests;
  lengths.pageSize = expected.pageSize;
  lengths.tableColumns = expected.tableColumns;
  lengths.pages = expected.pages;
  writeBatch(lengths, values);
  check.grid = static_cast<uint32_t>(requests);
  launch(kernel->check, check, values, stream);
  device().synchronize(stream);
  std::vector<int32_t> found(static_cast<size_t>(2 * requests));
  device().copyOut(found.data(), scratch.get(), found.size() * sizeof(int32_t));
  for (size_t request = 0; request < static_cast<size_t>(requests); ++request)
    if (found[2 * request] >= 0)
      throw Error(Code::pageEntry,
                  fmt::format("page table entry (request {}, slot {})", request, found[2 * request]),
                  std::to_string(found[2 * request + 1]), fmt::format("in [0, {})", expected.pages),
                  "write the table before the run, in the order of its stream");
}

} // namespace mla

#include "runtime/AppendLaunch.h"

#include "runtime/Params.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace mla {

using Code = Error::Code;

AppendLaunch::AppendLaunch(const WriterInfo &writer) : writer(writer), prepared(launchOf(writer.main)) {
  std::vector<Param> params = writerParams(writer);
  if (params.size() > most)
    throw Error(Code::tooLarge, "the parameters of the writer", std::to_string(params.size()), fmt::format("at most {}", most),
                "declare fewer parts and scalars");
  for (const std::string &word : writer.main.params) {
    auto found = std::find_if(params.begin(), params.end(), [&](const Param &param) { return param.name == word; });
    if (found == params.end())
      throw Error(Code::unknownParameter, "parameter " + word, "unknown", "a word of the parameter vocabulary",
                  "recompile the kernel with this version");
    places.push_back(static_cast<uint16_t>(found - params.begin()));
  }
}

//===-- What can be known without the device --===//

static const NewRows &partOf(const Operand &part, std::span<const NewRows> given) {
  for (const NewRows &rows : given)
    if (rows.name == part.name)
      return rows;
  throw Error(Code::missingOperand, "the new rows " + part.name, "not given", "given");
}

static float scalarOf(const std::string &name, std::span<const Scalar> given) {
  for (const Scalar &scalar : given) {
    if (scalar.name != name)
      continue;
    if (!std::isfinite(scalar.value) || scalar.value <= 0)
      throw Error(Code::scaleValue, "scalar " + name, fmt::format("{}", scalar.value), "finite and above 0");
    return scalar.value;
  }
  throw Error(Code::missingOperand, "scalar " + name, "not given", "given");
}

static void requireAddress(const std::string &what, DevicePtr address, int64_t alignment) {
  if (!address)
    throw Error(Code::operandNull, "the address of " + what, "null", "in device memory");
  if (address % static_cast<uint64_t>(alignment))
    throw Error(Code::operandAlignment, "the address of " + what, fmt::format("{:#x}", address),
                fmt::format("a multiple of {} bytes", alignment));
}

static void requireStride(const Operand &operand, const char *what, int64_t stride) {
  if (int64_t distance = stride * bytes(operand.dtype); distance % operand.alignment)
    throw Error(Code::operandAlignment, fmt::format("{} of {}", what, operand.name), fmt::format("{} bytes", distance),
                fmt::format("a multiple of {} bytes", operand.alignment));
}

static void checkRow(const Operand &operand, DType dtype, int64_t dim, int64_t strideToken) {
  if (dtype != operand.dtype)
    throw Error(Code::operandMismatch, "the dtype of " + operand.name, std::string(name(dtype)), std::string(name(operand.dtype)),
                "compile the writer for this storage");
  if (dim != operand.shape[0])
    throw Error(Code::operandMismatch, "the dim of " + operand.name, std::to_string(dim), std::to_string(operand.shape[0]));
  requireStride(operand, "the token stride", strideToken);
}

static void checkPool(const Operand &operand, const Cache &cache) {
  checkRow(operand, cache.dtype, cache.dim, cache.strideToken);
  requireStride(operand, "the page stride", cache.stridePage);
  if (cache.pageSize < 1)
    throw Error(Code::pageSize, "the page size of " + operand.name, std::to_string(cache.pageSize), "at least 1");
  constexpr int64_t mostSlots = std::numeric_limits<int32_t>::max();
  if (cache.pages < 1 || cache.pages > mostSlots / cache.pageSize)
    throw Error(Code::poolSize, "the pages of " + operand.name, std::to_string(cache.pages),
                fmt::format("between 1 and {}, so that the pool has less than 2^31 slots", mostSlots / cache.pageSize));
  requireAddress(operand.name, cache.data, operand.alignment);
}

static void checkLists(const Append &append) {
  constexpr int64_t mostRequests = std::numeric_limits<int32_t>::max() - 1;
  if (!append.slots && !append.indptr)
    throw Error(Code::operandNull, "the address of the slots", "null", "in device memory", "or give the requests' lists");
  if (append.indptr && (append.requests < 1 || append.requests > mostRequests))
    throw Error(Code::operandMismatch, "the requests of the lists", std::to_string(append.requests), "between 1 and 2^31 - 2");
  if (append.indptr)
    requireAddress("the indptr", append.indptr, 4);
  if (append.slots) {
    if (append.slotBytes != 4 && append.slotBytes != 8)
      throw Error(Code::operandMismatch, "the bytes of a slot", std::to_string(append.slotBytes), "4 or 8");
    return requireAddress("the slots", append.slots, append.slotBytes);
  }
  requireAddress("kv_len", append.kvLen, 4);
  requireAddress("the page table", append.cache.table, 4);
  if (append.tableColumns < 1 || append.tableColumns > append.cache.tableStride ||
      append.tableColumns > std::numeric_limits<int32_t>::max())
    throw Error(Code::tableGeometry, "the columns of the page table", std::to_string(append.tableColumns),
                fmt::format("between 1 and its stride, {}", append.cache.tableStride));
}

void AppendLaunch::check(const Append &append) const {
  int64_t mostRows = std::numeric_limits<int32_t>::max() / (writer.width() / writer.elements);
  if (append.rows < 0 || append.rows > mostRows)
    throw Error(Code::tooLarge, "the new rows", std::to_string(append.rows), fmt::format("between 0 and {}", mostRows),
                "append them in several calls");
  for (const std::string &scalar : writer.divisor.scalars)
    scalarOf(scalar, append.scalars);
  if (append.rows == 0)
    return;
  for (const Operand &part : writer.parts) {
    const NewRows &rows = partOf(part, append.parts);
    checkRow(part, rows.dtype, rows.dim, append.rows > 1 ? rows.strideToken : 0);
    requireAddress(part.name, rows.data, part.alignment);
  }
  checkPool(writer.cache, append.cache);
  checkLists(append);
}

//===-- What the lists say --===//

template <typename T>
static std::vector<T> download(Device &device, DevicePtr from, int64_t count) {
  std::vector<T> list(static_cast<size_t>(count));
  if (count > 0)
    device.copyOut(list.data(), from, list.size() * sizeof(T));
  return list;
}

using Places = std::vector<std::pair<int64_t, int64_t>>;

static Places placesOfSlots(Device &device, const Append &append) {
  int64_t rows = append.rows;
  if (append.indptr)
    rows = std::clamp<int64_t>(download<int32_t>(device, append.indptr, append.requests + 1).back(), 0, rows);
  std::vector<int64_t> slots;
  if (append.slotBytes == 8)
    slots = download<int64_t>(device, append.slots, rows);
  else
    for (int32_t slot : download<int32_t>(device, append.slots, rows))
      slots.push_back(slot);
  int64_t size = append.cache.pageSize, end = append.cache.pages * size;
  Places places;
  for (size_t row = 0; row < slots.size(); ++row) {
    if (slots[row] < -1 || slots[row] >= end)
      throw Error(Code::slot, fmt::format("slots[{}]", row), std::to_string(slots[row]),
                  fmt::format("-1, or between 0 and {}: {} pages of {} rows", end - 1, append.cache.pages, size));
    places.emplace_back(slots[row] < 0 ? -1 : slots[row] / size, slots[row] < 0 ? 0 : slots[row] % size);
  }
  return places;
}

static void checkRequest(const Append &append, const std::vector<int32_t> &indptr, const std::vector<int32_t> &kvLen, size_t r) {
  if (r == 0 && indptr[0] != 0)
    throw Error(Code::indptrStart, "indptr[0]", std::to_string(indptr[0]), "0");
  if (indptr[r + 1] < indptr[r] || indptr[r + 1] > append.rows)
    throw Error(Code::indptrOrder, fmt::format("indptr[{}]", r + 1), std::to_string(indptr[r + 1]),
                fmt::format("between {}, the one before, and the {} new rows", indptr[r], append.rows));
  int64_t most = append.tableColumns * append.cache.pageSize;
  if (kvLen[r] > most)
    throw Error(Code::kvLenBeyondTable, fmt::format("kv_len[{}]", r), std::to_string(kvLen[r]),
                fmt::format("at most {}, which the page table holds", most));
  if (kvLen[r] < indptr[r + 1] - indptr[r])
    throw Error(kvLen[r] < 0 ? Code::kvLenNegative : Code::kvLenMismatch, fmt::format("kv_len[{}]", r),
                std::to_string(kvLen[r]), fmt::format("at least the request's {} new rows", indptr[r + 1] - indptr[r]));
}

static Places placesOfRequests(Device &device, const Append &append) {
  auto indptr = download<int32_t>(device, append.indptr, append.requests + 1);
  auto kvLen = download<int32_t>(device, append.kvLen, append.requests);
  auto table = download<int32_t>(device, append.cache.table,
                                 (append.requests - 1) * append.cache.tableStride + append.tableColumns);
  Places places;
  for (size_t r = 0; r < kvLen.size(); ++r) {
    checkRequest(append, indptr, kvLen, r);
    for (int64_t token = kvLen[r] - (indptr[r + 1] - indptr[r]); token < kvLen[r]; ++token) {
      int64_t column = token / append.cache.pageSize;
      int64_t page = table[r * static_cast<size_t>(append.cache.tableStride) + static_cast<size_t>(column)];
      if (page < 0 || page >= append.cache.pages)
        throw Error(Code::pageEntry, fmt::format("the page of request {}, slot {}", r, column), std::to_string(page),
                    fmt::format("between 0 and {}", append.cache.pages - 1));
      places.emplace_back(page, token % append.cache.pageSize);
    }
  }
  return places;
}

Places placesOf(Device &device, const Append &append) {
  return append.slots ? placesOfSlots(device, append) : placesOfRequests(device, append);
}

/// Two rows in one place would be one or the other.
static void checkDistinct(const Places &places) {
  std::vector<std::pair<std::pair<int64_t, int64_t>, size_t>> sorted;
  for (size_t row = 0; row < places.size(); ++row)
    if (places[row].first >= 0)
      sorted.emplace_back(places[row], row);
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1].first == sorted[i].first)
      throw Error(Code::slot, fmt::format("the place of new row {}", sorted[i].second),
                  fmt::format("page {}, row {}", sorted[i].first.first, sorted[i].first.second),
                  fmt::format("another one than that of new row {}", sorted[i - 1].second));
}

void AppendLaunch::checkPlaces(Device &device, const Append &append, Stream stream) const {
  if (device.capturing(stream))
    throw Error(Code::streamCapturing, "a checked append()", "on a stream that is being captured", "outside of the capture");
  device.synchronize(stream);
  checkDistinct(placesOf(device, append));
}

//===-- Launching --===//

void AppendLaunch::fill(const Append &append, Words &words) const {
  size_t at = 0;
  auto add = [&](uint64_t value) { words[at++] = value; };
  auto addSigned = [&](int64_t value) { add(static_cast<uint64_t>(value)); };
  for (const Operand &part : writer.parts) {
    const NewRows &rows = partOf(part, append.parts);
    add(rows.data);
    addSigned(rows.strideToken);
    add(append.indptr);
  }
  const Cache &cache = append.cache;
  PageDivision division = pageDivision(cache.pageSize);
  add(cache.data);
  addSigned(cache.stridePage);
  addSigned(cache.strideToken);
  add(cache.table);
  addSigned(cache.tableStride);
  addSigned(cache.pageSize);
  add(division.magic);
  add(division.shift);
  for (const std::string &scalar : writer.divisor.scalars)
    add(std::bit_cast<uint32_t>(scalarOf(scalar, append.scalars)));
  for (int64_t number : {append.rows, append.requests, cache.pages, append.tableColumns, int64_t{append.slotBytes}})
    addSigned(number);
  add(append.slots);
  add(append.kvLen);
}

void AppendLaunch::launch(Device &device, Module &module, const Append &append, Stream stream) const {
  check(append);
  if (append.rows == 0)
    return;
  if (append.check)
    checkPlaces(device, append, stream);
  Words words;
  fill(append, words);
  std::array<void *, most> params;
  for (size_t i = 0; i < places.size(); ++i)
    params[i] = &words[places[i]];
  Launch launch = prepared;
  int64_t threads = append.rows * (writer.width() / writer.elements);
  launch.grid = static_cast<uint32_t>((threads + launch.block - 1) / launch.block);
  launch.stream = stream;
  device.launch(module, launch, params.data());
}

} // namespace mla

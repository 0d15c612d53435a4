#include "runtime/WriterRunner.h"

#include "runtime/AppendLaunch.h"
#include "runtime/reference/Formats.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mla {

using reference::HostTensor;
using reference::WriterOperands;

namespace {

template <typename T>
Buffer upload(Device &device, const std::vector<T> &list, const std::string &label) {
  Buffer buffer(device, std::max<size_t>(list.size(), 1) * sizeof(T), label);
  buffer.copyIn(list.data(), list.size() * sizeof(T));
  return buffer;
}

/// Rows, cache and lists on the device, and the append that names them.
class DeviceAppend {
public:
  DeviceAppend(Device &device, const WriterOperands &host)
      : device(device), host(host), cache(upload(device, host.cache.bytes, host.cache.operand.name)),
        table(upload(device, host.table, "page table")), indptr(upload(device, host.indptr, "indptr")),
        kvLen(upload(device, host.shape.kvLens, "kv_len")) {
    for (const HostTensor &part : host.parts) {
      Buffer &buffer = buffers.emplace_back(upload(device, part.bytes, part.operand.name));
      parts.push_back({part.operand.name, buffer.get() + static_cast<uint64_t>(part.offset), part.operand.dtype,
                       part.operand.shape[0], part.strideToken});
    }
    for (const auto &[name, value] : host.scalars)
      scalars.push_back({name, value});
  }

  Append byLists() const {
    Append append = common();
    append.requests = static_cast<int64_t>(host.shape.kvLens.size());
    append.indptr = indptr.get();
    append.kvLen = kvLen.get();
    append.tableColumns = host.tableColumns;
    append.cache.table = table.get();
    append.cache.tableStride = host.tableStride;
    return append;
  }

  template <typename T>
  Append bySlots(const std::vector<T> &list) {
    slots = upload(device, list, "slots");
    Append append = common();
    append.slots = slots.get();
    append.slotBytes = sizeof(T);
    return append;
  }

  void poisonCache() { cache.copyIn(host.cache.bytes.data(), host.cache.bytes.size()); }

  std::vector<uint8_t> downloadCache() const {
    std::vector<uint8_t> bytes(host.cache.bytes.size());
    cache.copyOut(bytes.data(), bytes.size());
    return bytes;
  }

private:
  Append common() const {
    Append append;
    append.parts = parts;
    append.rows = host.rows();
    append.cache.data = cache.get() + static_cast<uint64_t>(host.cache.offset);
    append.cache.dtype = host.cache.operand.dtype;
    append.cache.dim = host.cache.operand.shape[0];
    append.cache.strideToken = host.cache.strideToken;
    append.cache.pages = host.pages;
    append.cache.pageSize = host.shape.pageSize;
    append.cache.stridePage = host.cache.stridePage;
    append.scalars = scalars;
    return append;
  }

  Device &device;
  const WriterOperands &host;
  Buffer cache, table, indptr, kvLen, slots;
  std::vector<Buffer> buffers;
  std::vector<NewRows> parts;
  std::vector<Scalar> scalars;
};

/// Compares what one append left with what it must leave.
class Comparison {
public:
  Comparison(const WriterInfo &writer, const WriterOperands &host, WriterReport &report)
      : writer(writer), host(host), report(report) {}

  void compare(const std::vector<uint8_t> &found, const std::vector<int64_t> &slots) {
    std::vector<uint8_t> expected = reference::appended(writer, host, slots);
    std::vector<uint8_t> rest = found;
    for (size_t row = 0; row < slots.size(); ++row)
      if (slots[row] >= 0)
        compareRow(row, elementOf(slots[row]), expected, rest);
    report.canariesIntact &= rest == host.cache.bytes;
    ++report.appends;
  }

private:
  int64_t elementOf(int64_t slot) const {
    return slot / host.shape.pageSize * host.cache.stridePage + slot % host.shape.pageSize * host.cache.strideToken;
  }

  /// Puts what was there before back into `rest`.
  void compareRow(size_t row, int64_t element, const std::vector<uint8_t> &expected, std::vector<uint8_t> &rest) {
    DType type = writer.cache.dtype;
    for (int64_t d = 0; d < writer.width(); ++d) {
      uint32_t wanted = reference::loadCode(type, expected.data() + host.cache.offset, element + d);
      uint32_t found = reference::loadCode(type, rest.data() + host.cache.offset, element + d);
      if (!reference::sameCode(type, wanted, found) && report.badElements++ == 0)
        report.firstBad = fmt::format("row {}, element {}: {:#x} instead of {:#x}", row, d, found, wanted);
      reference::storeCode(type, rest.data() + host.cache.offset, element + d,
                           reference::loadCode(type, host.cache.data(), element + d));
      ++report.elements;
    }
  }

  const WriterInfo &writer;
  const WriterOperands &host;
  WriterReport &report;
};

WriterReport describe(const Device &device, const WriterInfo &writer, const WriterOperands &host) {
  WriterReport report;
  report.device = device.name();
  report.writer = writer.name;
  report.rows = host.rows();
  for (const Operand &part : writer.parts)
    report.bytesRead += report.rows * part.shape[0] * bytes(part.dtype);
  report.bytesWritten = report.rows * writer.width() * bytes(writer.cache.dtype);
  return report;
}

} // namespace

WriterReport runAndCheck(Device &device, Module &module, const WriterInfo &writer, const RunConfig &config) {
  WriterOperands host = reference::makeWriterOperands(writer, config.batchShape());
  WriterReport report = describe(device, writer, host);
  AppendLaunch launch(writer);
  {
    DeviceAppend onDevice(device, host);
    Comparison comparison(writer, host, report);
    std::vector<int64_t> slots = host.slots();
    auto check = [&](const Append &append, const std::vector<int64_t> &expected) {
      onDevice.poisonCache();
      launch.launch(device, module, append, 0);
      comparison.compare(onDevice.downloadCache(), expected);
    };
    check(onDevice.byLists(), slots);
    check(onDevice.bySlots(std::vector<int32_t>(slots.begin(), slots.end())), slots);
    std::vector<int64_t> some = slots;
    for (size_t row = 0; row < some.size(); row += 7)
      some[row] = -1;
    check(onDevice.bySlots(some), some);
    if (config.repeat > 1) {
      Append append = onDevice.bySlots(slots);
      report.time = measure(device, [&](int) { launch.launch(device, module, append, 0); }, config.repeat, 20);
    }
  }
  device.synchronize(); // after the buffers' release, which can find faults too
  return report;
}

//===-- Text --===//

static double terabytesPerSecond(const WriterReport &report, const Timing &timing) {
  return static_cast<double>(report.bytesRead + report.bytesWritten) / timing.median * 1e-6;
}

std::string WriterReport::toJson() const {
  nlohmann::ordered_json run = {{"device", device},
                                {"writer", writer},
                                {"rows", rows},
                                {"bytes_read", bytesRead},
                                {"bytes_written", bytesWritten}};
  const std::optional<Timing> &timing = time.graph ? time.graph : time.queued;
  run["microseconds"] = timing ? nlohmann::ordered_json(timing->median) : nullptr;
  run["terabytes_per_second"] = timing ? nlohmann::ordered_json(terabytesPerSecond(*this, *timing)) : nullptr;
  nlohmann::ordered_json check = {{"passed", passed()},
                                  {"appends", appends},
                                  {"elements", elements},
                                  {"bad_elements", badElements},
                                  {"first_bad", firstBad},
                                  {"canaries_intact", canariesIntact}};
  return nlohmann::ordered_json{{"run", run}, {"check", check}}.dump(2);
}

std::string WriterReport::toText() const {
  std::string text = fmt::format("{} on {}\n{} rows, {} bytes read and {} written\n", writer, device, rows, bytesRead,
                                 bytesWritten);
  if (const std::optional<Timing> &timing = time.graph ? time.graph : time.queued)
    text += fmt::format("time: {:.1f} us ({:.2f} TB/s read and written)\n", timing->median,
                        terabytesPerSecond(*this, *timing));
  text += fmt::format("{}: {} elements of {} appends (request lists, slots of 4 and of 8 bytes), {} wrong\n",
                      passed() ? "passed" : "FAILED", elements, appends, badElements);
  if (!firstBad.empty())
    text += firstBad + '\n';
  if (!canariesIntact)
    text += "cache memory of other rows was overwritten\n";
  return text;
}

} // namespace mla

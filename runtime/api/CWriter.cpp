// Writers through the C API.
#include "runtime/api/CHandles.h"

#include <array>

using namespace mla::c;

/// An append with the parts and scalars that it points to; no allocation.
class ConvertedAppend {
public:
  explicit ConvertedAppend(const mla_append *given) {
    mla_append c = readStruct(given, "append");
    for (auto [count, name] : {std::pair(c.part_count, "append.part_count"), {c.scalar_count, "append.scalar_count"}})
      if (count > most)
        throw mla::Error(mla::Error::Code::badArgument, name, std::to_string(count), "at most " + std::to_string(most));
    for (size_t i = 0; i < c.part_count; ++i) {
      const mla_new_rows &rows = (&required(c.parts, "append.parts"))[i];
      parts[i] = {&required(rows.name, "the name of new rows"), rows.data, static_cast<mla::DType>(rows.dtype), rows.dim,
                  rows.stride_token};
    }
    for (size_t i = 0; i < c.scalar_count; ++i) {
      const mla_scalar &scalar = (&required(c.scalars, "append.scalars"))[i];
      scalars[i] = {&required(scalar.name, "a scalar's name"), scalar.value};
    }
    fill(c);
  }
  ConvertedAppend(const ConvertedAppend &) = delete;
  ConvertedAppend &operator=(const ConvertedAppend &) = delete;

  mla::Append append;

private:
  static constexpr size_t most = 16;

  void fill(const mla_append &c) {
    append.parts = {parts.data(), c.part_count};
    append.rows = c.rows;
    append.slots = c.slots;
    append.slotBytes = c.slot_bytes ? c.slot_bytes : 8;
    append.requests = c.requests;
    append.indptr = c.indptr;
    append.kvLen = c.kv_len;
    append.tableColumns = c.table_columns;
    append.cache = convert(c.cache);
    append.scalars = {scalars.data(), c.scalar_count};
    append.check = c.check;
  }

  std::array<mla::NewRows, most> parts;
  std::array<mla::Scalar, most> scalars;
};

mla_status mla_writer_load(mla_device *device, const void *artefact, size_t bytes, const char *name, mla_writer **writer) {
  return guarded([&] {
    required(writer, "writer") = nullptr;
    std::shared_ptr<mla::Device> on = required(device, "device").device;
    std::string_view text(&required(static_cast<const char *>(artefact), "artefact"), bytes);
    *writer = new mla_writer{on, mla::Writer::load(on, text, name ? name : "")};
  });
}

void mla_writer_free(mla_writer *writer) { delete writer; }

mla_status mla_writer_append(mla_writer *writer, const mla_append *append, uint64_t stream) {
  return guarded([&] {
    const mla::Writer &on = required(writer, "writer").writer;
    ConvertedAppend converted(append);
    on.append(converted.append, stream);
  });
}

mla_status mla_graph_capture_append(mla_writer *writer, const mla_append *append, uint64_t stream, mla_graph **graph) {
  return guarded([&] {
    required(graph, "graph") = nullptr;
    const mla_writer &on = required(writer, "writer");
    ConvertedAppend converted(append);
    auto captured = on.device->capture(stream, [&] { on.writer.append(converted.append, stream); });
    *graph = new mla_graph{on.device, std::move(captured)};
  });
}

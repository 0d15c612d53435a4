// Kernels, plans and runs through the C API.
#include "runtime/api/CHandles.h"

#include <array>
#include <span>
#include <vector>

using namespace mla::c;

static_assert(int(mla::DType::f32) == MLA_F32 && int(mla::DType::s8) == MLA_S8 &&
              int(mla::DType::u8) == MLA_U8);
static_assert(int(mla::Layout::ragged) == MLA_RAGGED && int(mla::Layout::paged) == MLA_PAGED);
static_assert(int(mla::LseBase::none) == MLA_LSE_NONE && int(mla::LseBase::ln) == MLA_LSE_LN);

//===-- Structures --===//

static mla::Config convert(const mla_config &c) {
  mla::Config config;
  config.capacity = {c.max_requests, c.max_query_rows, c.max_work_items};
  config.blocks = c.blocks;
  config.split = !c.no_split;
  config.deterministic = static_cast<mla::Deterministic>(c.deterministic);
  config.graph = c.graph;
  config.checkTables = c.check_tables;
  config.overlap = !c.no_overlap;
  return config;
}

static mla::Tensor convert(const mla_tensor &t) {
  return {t.data, static_cast<mla::DType>(t.dtype), t.rows, t.heads, t.dim, t.stride_token, t.stride_head};
}

static mla::State convert(const mla_state &s) { return {convert(s.out), convert(s.lse)}; }

/// Operands with the scalars they point to; no allocation.
class ConvertedOperands {
public:
  explicit ConvertedOperands(const mla_operands *given) {
    mla_operands c = readStruct(given, "operands");
    if (c.scalar_count > scalars.size())
      throw mla::Error(mla::Error::Code::badArgument, "operands.scalar_count", std::to_string(c.scalar_count),
                       "at most " + std::to_string(scalars.size()));
    for (size_t i = 0; i < c.scalar_count; ++i) {
      const mla_scalar &scalar = (&required(c.scalars, "operands.scalars"))[i];
      scalars[i] = {&required(scalar.name, "a scalar's name"), scalar.value};
    }
    if (c.head_value_count > headValues.size())
      throw mla::Error(mla::Error::Code::badArgument, "operands.head_value_count",
                       std::to_string(c.head_value_count), "at most " + std::to_string(headValues.size()));
    for (size_t i = 0; i < c.head_value_count; ++i) {
      const mla_head_values &list = (&required(c.head_values, "operands.head_values"))[i];
      headValues[i] = {&required(list.name, "the name of head values"), list.data, list.heads};
    }
    operands = {convert(c.query),
                convert(c.cache),
                convert(c.out),
                convert(c.lse),
                {scalars.data(), c.scalar_count},
                {headValues.data(), c.head_value_count},
                convert(c.key),
                convert(c.value)};
  }
  ConvertedOperands(const ConvertedOperands &) = delete;
  ConvertedOperands &operator=(const ConvertedOperands &) = delete;

  mla::Operands operands;

private:
  std::array<mla::Scalar, 64> scalars;
  std::array<mla::HeadValues, 16> headValues;
};

//===-- Kernels --===//

mla_status mla_kernel_load(mla_device *device, const void *artefact, size_t bytes, const char *name,
                           mla_kernel **kernel) {
  return guarded([&] {
    required(kernel, "kernel") = nullptr;
    std::shared_ptr<mla::Device> on = required(device, "device").device;
    std::string_view text(&required(static_cast<const char *>(artefact), "artefact"), bytes);
    *kernel = new mla_kernel{on, mla::Kernel::load(on, text, name ? name : "")};
  });
}

void mla_kernel_free(mla_kernel *kernel) { delete kernel; }

mla_status mla_kernel_describe(const mla_kernel *kernel, mla_kernel_info *info) {
  return guarded([&] {
    readStruct(info, "info");
    const mla::Kernel &k = required(kernel, "kernel").kernel;
    *info = {info->size,
             k.name().c_str(),
             k.heads(),
             k.qkDim(),
             k.vDim(),
             static_cast<mla_dtype>(k.queryDType()),
             static_cast<mla_dtype>(k.cacheDType()),
             static_cast<mla_dtype>(k.outDType()),
             static_cast<mla_layout>(k.layout()),
             k.causal(),
             static_cast<mla_lse_base>(k.lse()),
             k.window(),
             k.kvHeads(),
             k.cacheDim()};
  });
}

mla_status mla_supports(const mla_kernel *kernel, const mla_config *config, int *supported) {
  return guarded([&] {
    required(supported, "supported") = 0;
    mla::Config wanted = convert(readStruct(config, "config"));
    const mla::Kernel &k = required(kernel, "kernel").kernel;
    *supported = guarded([&] { k.check(wanted); }) == MLA_OK;
  });
}

mla_status mla_workspace_size(const mla_kernel *kernel, const mla_config *config, size_t *bytes) {
  return guarded([&] {
    required(bytes, "bytes") =
        required(kernel, "kernel").kernel.workspaceSize(convert(readStruct(config, "config")));
  });
}

//===-- Plans and runs --===//

mla_status mla_plan_create(mla_kernel *kernel, const mla_config *config, uint64_t workspace, size_t bytes,
                           mla_plan **plan) {
  return guarded([&] {
    required(plan, "plan") = nullptr;
    mla_kernel &from = required(kernel, "kernel");
    *plan = new mla_plan{from.device,
                         from.kernel.prepare(convert(readStruct(config, "config")), {workspace, bytes})};
  });
}

void mla_plan_free(mla_plan *plan) { delete plan; }

static std::span<const int32_t> listOf(const int32_t *list, int64_t count, const char *name) {
  if (count > 0)
    required(list, name);
  return {list, static_cast<size_t>(count)};
}

mla_status mla_plan_batch(mla_plan *plan, const mla_lengths *lengths, uint64_t stream) {
  return guarded([&] {
    mla_plan &on = required(plan, "plan");
    mla_lengths c = readStruct(lengths, "lengths");
    if (c.batch < 0)
      throw mla::Error(mla::Error::Code::badArgument, "lengths.batch", std::to_string(c.batch), "at least 0");
    mla::Lengths batch;
    batch.qIndptr = listOf(c.q_indptr, c.batch + 1, "lengths.q_indptr");
    batch.kvLen = listOf(c.kv_len, c.batch, "lengths.kv_len");
    batch.pageSize = c.page_size;
    batch.tableColumns = c.table_columns;
    batch.pages = c.pages;
    if (c.cache_indptr)
      batch.cacheIndptr = {c.cache_indptr, static_cast<size_t>(c.batch + 1)};
    on.plan.plan(batch, stream);
  });
}

static mla::DeviceLengths convert(const mla_device_lengths &c) {
  return {c.requests,  c.q_indptr,      c.kv_len, c.query_rows,
          c.page_size, c.table_columns, c.pages,  c.cache_indptr};
}

mla_status mla_plan_on_device(mla_plan *plan, const mla_device_lengths *lengths, uint64_t stream) {
  return guarded(
      [&] { required(plan, "plan").plan.planOnDevice(convert(readStruct(lengths, "lengths")), stream); });
}

mla_status mla_plan_check_device(mla_plan *plan) {
  return guarded([&] { required(plan, "plan").plan.checkDevice(); });
}

mla_status mla_run(mla_plan *plan, const mla_operands *operands, uint64_t stream) {
  return guarded([&] {
    mla_plan &on = required(plan, "plan");
    ConvertedOperands converted(operands);
    on.plan.run(converted.operands, stream);
  });
}

mla_status mla_merge(mla_kernel *kernel, const mla_state *states, size_t count, const mla_state *into,
                     uint64_t stream) {
  return guarded([&] {
    const mla::Kernel &on = required(kernel, "kernel").kernel;
    std::array<mla::State, mla::Kernel::statesPerLaunch> few; // allocates nothing
    std::vector<mla::State> many(count > few.size() ? count : 0);
    std::span<mla::State> list = many.empty() ? std::span(few).first(count) : std::span(many);
    for (size_t i = 0; i < count; ++i)
      list[i] = convert((&required(states, "states"))[i]);
    on.merge(list, convert(required(into, "into")), stream);
  });
}

//===-- Graphs --===//

mla_status mla_graph_capture_run(mla_plan *plan, const mla_operands *operands, uint64_t stream,
                                 mla_graph **graph) {
  return guarded([&] {
    required(graph, "graph") = nullptr;
    mla_plan &on = required(plan, "plan");
    ConvertedOperands converted(operands);
    auto captured = on.device->capture(stream, [&] { on.plan.run(converted.operands, stream); });
    *graph = new mla_graph{on.device, std::move(captured)};
  });
}

mla_status mla_graph_capture_planned_run(mla_plan *plan, const mla_device_lengths *lengths,
                                         const mla_operands *operands, uint64_t stream, mla_graph **graph) {
  return guarded([&] {
    required(graph, "graph") = nullptr;
    mla_plan &on = required(plan, "plan");
    mla::DeviceLengths batch = convert(readStruct(lengths, "lengths"));
    ConvertedOperands converted(operands);
    auto captured = on.device->capture(stream, [&] {
      on.plan.planOnDevice(batch, stream);
      on.plan.run(converted.operands, stream);
    });
    *graph = new mla_graph{on.device, std::move(captured)};
  });
}

mla_status mla_graph_replay(mla_graph *graph, uint64_t stream) {
  return guarded([&] { required(graph, "graph").graph->replay(stream); });
}

void mla_graph_free(mla_graph *graph) { delete graph; }

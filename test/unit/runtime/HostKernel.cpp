#include "HostKernel.h"

#include "runtime/Plan.h"
#include "runtime/reference/Formats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mla::test {

using namespace reference;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Parameters by name.
class Args {
public:
  Args(const Entry &entry, void **params) : entry(entry), params(params) {}

  template <typename T>
  T get(const std::string &name) const {
    auto found = std::find(entry.params.begin(), entry.params.end(), name);
    return *static_cast<T *>(params[found - entry.params.begin()]);
  }
  int64_t i64(const std::string &name) const { return get<int64_t>(name); }
  uint8_t *data(const std::string &name) const { return get<uint8_t *>(name + ".data"); }

private:
  const Entry &entry;
  void **params;
};

/// A softmax state: weighted mean and base-2 LSE.
struct State {
  std::vector<double> mean;
  double lse = -infinity;

  /// Joins a state of one or more values.
  void join(const double *values, double valueLse) {
    if (valueLse == -infinity)
      return;
    double top = std::max(lse, valueLse);
    double sum = std::exp2(lse - top) + std::exp2(valueLse - top);
    double weight = std::exp2(valueLse - top) / sum;
    for (size_t d = 0; d < mean.size(); ++d)
      mean[d] += weight * (values[d] - mean[d]);
    lse = top + std::log2(sum);
  }
};

class HostKernel {
public:
  HostKernel(const KernelInfo &kernel, const Entry &entry, void **params)
      : kernel(kernel), args(entry, params), query(*kernel.find(Role::query)),
        cache(*kernel.find(Role::cache)) {}

  void mainBlock(int64_t block) {
    auto *indptr = args.get<int32_t *>("plan.work_indptr");
    for (int32_t i = indptr[block]; i < indptr[block + 1]; ++i) {
      const WorkItem &item = args.get<WorkItem *>("plan.work")[i];
      int64_t rows = std::min<int64_t>(kernel.tile.rows, rowsOf(item.request) - item.row_begin);
      for (int64_t row = 0; row < rows; ++row)
        mainRow(item, row);
    }
  }

  /// The first block of a row merges all of it.
  void combineBlock(int64_t block, int64_t threads) {
    int64_t spans = threads > combineSmallThreads ? (kernel.vDim + combineSpan - 1) / combineSpan : 1;
    if (block % spans)
      return;
    block /= spans;
    const MergeItem &merge = args.get<MergeItem *>("plan.merges")[block / kernel.tile.rows];
    int64_t row = block % kernel.tile.rows;
    if (merge.row_begin + row >= rowsOf(merge.request))
      return;
    State state{std::vector<double>(kernel.vDim)};
    for (int64_t slot = merge.slot_begin; slot < merge.slot_end; ++slot) {
      int64_t partial = slot * kernel.tile.rows + row;
      float *values = args.get<float *>("plan.partial_out") + partial * kernel.vDim;
      std::vector<double> wide(values, values + kernel.vDim);
      state.join(wide.data(), args.get<float *>("plan.partial_lse")[partial]);
    }
    writeResult(merge.request, merge.row_begin + row, state);
  }

  void mergeBlock(int64_t block) {
    const Operand &out = *kernel.find(Role::output);
    int64_t token = block / kernel.heads, head = block % kernel.heads;
    State state{std::vector<double>(kernel.vDim)};
    for (int32_t i = 0; i < args.get<int32_t>("states"); ++i)
      joinResult("state" + std::to_string(i), out.dtype, token, head, state);
    int64_t index = placeOf(out.name, token, head);
    for (int64_t d = 0; d < kernel.vDim; ++d)
      storeCode(out.dtype, args.data(out.name), index + d, encode(out.dtype, state.mean[d]));
    const std::string &lse = kernel.find(Role::lse)->name;
    reinterpret_cast<float *>(args.data(lse))[placeOf(lse, token, head)] =
        static_cast<float>(state.lse * baseToLog2(-1));
  }

private:
  int64_t placeOf(const std::string &name, int64_t token, int64_t head) const {
    return token * args.i64(name + ".stride_token") + head * args.i64(name + ".stride_head");
  }

  /// The factor from the kernel's base to base 2, or its inverse.
  double baseToLog2(int power) const {
    return kernel.lse == LseBase::ln ? std::pow(std::log2(std::exp(1.0)), power) : 1;
  }

  void joinResult(const std::string &name, DType type, int64_t token, int64_t head, State &state) const {
    float lse = reinterpret_cast<float *>(args.data(name + ".lse"))[placeOf(name + ".lse", token, head)];
    std::vector<double> values(kernel.vDim);
    for (int64_t d = 0; d < kernel.vDim; ++d)
      values[d] =
          decode(type, loadCode(type, args.data(name + ".out"), placeOf(name + ".out", token, head) + d));
    if (state.lse == -infinity && lse != -infinity)
      state = {values, lse * baseToLog2(1)};
    else
      state.join(values.data(), lse * baseToLog2(1));
  }

  int64_t qBegin(int64_t request) const { return args.get<int32_t *>("plan.q_indptr")[request]; }
  int64_t qLen(int64_t request) const { return qBegin(request + 1) - qBegin(request); }
  int64_t kvLen(int64_t request) const { return args.get<int32_t *>("plan.kv_len")[request]; }
  int64_t rowsOf(int64_t request) const { return qLen(request) * kernel.heads; }

  void mainRow(const WorkItem &item, int64_t row) {
    int64_t packed = item.row_begin + row;
    int64_t limit = kvLen(item.request);
    if (kernel.causal)
      limit = std::min(limit, packed / kernel.heads + 1 + limit - qLen(item.request));
    int64_t end = std::min(int64_t{item.tile_end} * kernel.tile.tokens, limit);
    State state{std::vector<double>(kernel.vDim)};
    for (int64_t token = int64_t{item.tile_begin} * kernel.tile.tokens; token < end; ++token)
      joinToken(item.request, packed, token, state);
    if (item.slot < 0)
      writeResult(item.request, packed, state);
    else
      writePartial(int64_t{item.slot} * kernel.tile.rows + row, state);
  }

  int64_t cacheElement(int64_t request, int64_t token) const {
    const std::string &name = cache.name;
    int64_t stride = args.i64(name + ".stride_token");
    if (cache.layout == Layout::ragged)
      return (args.get<int32_t *>(name + ".indptr")[request] + token) * stride;
    auto magic = args.get<uint32_t>(name + ".page_magic"), shift = args.get<uint32_t>(name + ".page_shift");
    auto slot = static_cast<int64_t>((static_cast<uint64_t>(token) * magic) >> (31 + shift));
    int64_t inPage = token - slot * args.get<int32_t>(name + ".page_size");
    int64_t page = args.get<int32_t *>(name + ".table")[request * args.i64(name + ".table_stride") + slot];
    return page * args.i64(name + ".stride_page") + inPage * stride;
  }

  double element(const Operand &operand, int64_t index) const {
    return decode(operand.dtype, loadCode(operand.dtype, args.data(operand.name), index));
  }

  int64_t headElement(const std::string &name, int64_t request, int64_t packed) const {
    return (qBegin(request) + packed / kernel.heads) * args.i64(name + ".stride_token") +
           packed % kernel.heads * args.i64(name + ".stride_head");
  }

  double scale(const Scale &scale) const {
    double value = scale.constant;
    for (const std::string &scalar : scale.scalars)
      value *= args.get<float>(scalar);
    return value;
  }

  void joinToken(int64_t request, int64_t packed, int64_t token, State &state) const {
    int64_t q = headElement(query.name, request, packed), kv = cacheElement(request, token);
    double score = 0;
    for (int64_t d = 0; d < kernel.qkDim; ++d)
      score += element(query, q + d) * element(cache, kv + d);
    std::vector<double> values(kernel.vDim);
    for (int64_t d = 0; d < kernel.vDim; ++d)
      values[d] = element(cache, kv + kernel.vOffset + d);
    state.join(values.data(), score * scale(kernel.scoreScale) * std::log2(std::exp(1.0)));
  }

  void writePartial(int64_t partial, const State &state) const {
    std::copy(state.mean.begin(), state.mean.end(),
              args.get<float *>("plan.partial_out") + partial * kernel.vDim);
    args.get<float *>("plan.partial_lse")[partial] = static_cast<float>(state.lse);
  }

  void writeResult(int64_t request, int64_t packed, const State &state) const {
    const Operand &out = *kernel.find(Role::output);
    int64_t index = headElement(out.name, request, packed);
    for (int64_t d = 0; d < kernel.vDim; ++d)
      storeCode(out.dtype, args.data(out.name), index + d,
                encode(out.dtype, scale(kernel.valueScale) * state.mean[d]));
    if (const Operand *lse = kernel.find(Role::lse)) {
      double value = kernel.lse == LseBase::ln ? state.lse * std::log(2.0) : state.lse;
      storeCode(lse->dtype, args.data(lse->name), headElement(lse->name, request, packed),
                encode(lse->dtype, value));
    }
  }

  const KernelInfo &kernel;
  Args args;
  const Operand &query;
  const Operand &cache;
};

} // namespace

void runMainBlock(const KernelInfo &kernel, void **params, int64_t block) {
  HostKernel(kernel, kernel.main, params).mainBlock(block);
}

void runCombineBlock(const KernelInfo &kernel, void **params, int64_t block, int64_t threads) {
  HostKernel(kernel, kernel.combine, params).combineBlock(block, threads);
}

void runMergeBlock(const KernelInfo &kernel, void **params, int64_t block) {
  HostKernel(kernel, kernel.merge, params).mergeBlock(block);
}

/// The planner for lengths that are right: makePlan() and the fill.
static void runPlanner(const KernelInfo &kernel, void **params) {
  Args args(kernel.planner, params);
  auto number = [&](const char *name) { return args.get<int32_t>(std::string("batch.") + name); };
  auto requests = static_cast<size_t>(number("requests"));
  PlanRequest request;
  request.qIndptr = {args.get<int32_t *>("batch.q_indptr"), requests + 1};
  request.kvLen = {args.get<int32_t *>("batch.kv_len"), requests};
  request.pageSize = 1;
  request.tableColumns = number("tokens");
  request.pages = 1;
  request.blocks = number("blocks");
  request.split = number("least") > 0;
  request.fixedPieces = number("fixed");
  Plan plan = makePlan(kernel, request);
  std::copy(plan.qIndptr.begin(), plan.qIndptr.end(), args.get<int32_t *>("plan.q_indptr"));
  std::copy(plan.kvLen.begin(), plan.kvLen.end(), args.get<int32_t *>("plan.kv_len"));
  std::copy(plan.work.begin(), plan.work.end(), args.get<WorkItem *>("plan.work"));
  plan.workIndptr.resize(static_cast<size_t>(request.blocks) + 1, plan.workIndptr.back());
  std::copy(plan.workIndptr.begin(), plan.workIndptr.end(), args.get<int32_t *>("plan.work_indptr"));
  plan.merges.resize(static_cast<size_t>(number("merges")),
                     {0, std::numeric_limits<int32_t>::max() - kernel.tile.rows, 0, 0});
  std::copy(plan.merges.begin(), plan.merges.end(), args.get<MergeItem *>("plan.merges"));
}

static void checkTableRow(const KernelInfo &kernel, void **params, uint32_t request) {
  Args args(kernel.check, params);
  std::string cache = kernel.find(Role::cache)->name;
  int32_t pageSize = args.get<int32_t>(cache + ".page_size");
  int32_t used = (args.get<int32_t *>("plan.kv_len")[request] + pageSize - 1) / pageSize;
  int32_t *row = args.get<int32_t *>(cache + ".table") + request * args.i64(cache + ".table_stride");
  int32_t *found = args.get<int32_t *>("batch.scratch") + 2 * request;
  found[0] = -1;
  for (int32_t slot = used - 1; slot >= 0; --slot)
    if (row[slot] < 0 || row[slot] >= args.get<int32_t>("batch.pages")) {
      found[0] = slot;
      found[1] = row[slot];
    }
}

std::map<std::string, HostEntry> hostEntries(const KernelInfo &kernel) {
  auto main = [kernel](const Launch &launch, void **params) {
    for (uint32_t block = 0; block < launch.grid; ++block)
      runMainBlock(kernel, params, block);
  };
  auto combine = [kernel](const Launch &launch, void **params) {
    for (uint32_t block = 0; block < launch.grid; ++block)
      runCombineBlock(kernel, params, block, launch.block);
  };
  auto merge = [kernel](const Launch &launch, void **params) {
    for (uint32_t block = 0; block < launch.grid; ++block)
      runMergeBlock(kernel, params, block);
  };
  auto planner = [kernel](const Launch &, void **params) { runPlanner(kernel, params); };
  auto check = [kernel](const Launch &launch, void **params) {
    for (uint32_t request = 0; request < launch.grid; ++request)
      checkTableRow(kernel, params, request);
  };
  return {{kernel.main.name, main},
          {kernel.combine.name, combine},
          {kernel.merge.name, merge},
          {kernel.planner.name, planner},
          {kernel.check.name, check}};
}

} // namespace mla::test

// Host time of plan() and of the checks of run(), without a device. Nothing is copied: on a device that is
// not the host's work.
#include "runtime/api/BatchPlanImpl.h"
#include "test/unit/runtime/HostDevice.h"
#include "test/unit/runtime/TestKernel.h"

#include <benchmark/benchmark.h>

using namespace mla;
using namespace mla::test;

namespace {

class NoCopies : public HostDevice {
public:
  using HostDevice::HostDevice;
  void copyInAsync(DevicePtr, const void *, size_t, Stream) override {}
};

/// A planned batch of decode requests of 1 to 8192 tokens on 132 blocks.
struct Bench {
  explicit Bench(int32_t batch, Deterministic mode) {
    auto device = std::make_shared<NoCopies>(std::map<std::string, HostEntry>{
        {"decode_main", [](const Launch &, void **) {}}, {"decode_combine", [](const Launch &, void **) {}}});
    Manifest manifest;
    manifest.target = "sm_120";
    manifest.kernels = {makeKernel({.heads = 8})};
    kernel.emplace(Kernel::load(device, writeArtefact(manifest, ".version 8.7\n")));
    for (int32_t i = 0; i <= batch; ++i)
      indptr.push_back(i);
    for (int32_t i = 0; i < batch; ++i)
      kv.push_back(1 + i * 2654435 % 8192);
    config.capacity = {batch, batch};
    config.blocks = 132;
    config.deterministic = mode;
    workspace = Buffer(*device, kernel->workspaceSize(config));
    plan.emplace(kernel->prepare(config, {workspace.get(), workspace.size()}));
  }

  Lengths lengths() const {
    return {.qIndptr = indptr,
            .kvLen = kv,
            .pageSize = 64,
            .tableColumns = 128,
            .pages = 1 << 20,
            .cacheIndptr = {}};
  }

  Operands operands() const {
    auto rows = static_cast<int64_t>(kv.size());
    Operands o;
    o.query = {4096, DType::bf16, rows, 8, 576, 8 * 576, 576};
    o.out = {4096, DType::bf16, rows, 8, 512, 8 * 512, 512};
    o.lse = {4096, DType::f32, rows, 8, 1, 8, 1};
    o.cache = {4096, DType::e4m3, 576, 576, 1 << 20, 64, 64 * 576, 4096, 128, 0};
    o.scalars = scalars;
    return o;
  }

  static constexpr Scalar scalars[] = {{"kv_scale", 0.5f}, {"sm_scale", 0.0722f}};
  std::optional<Kernel> kernel;
  std::vector<int32_t> indptr, kv;
  Config config;
  Buffer workspace;
  std::optional<BatchPlan> plan;
};

void planBatch(benchmark::State &state, Deterministic mode) {
  Bench bench(static_cast<int32_t>(state.range(0)), mode);
  for (auto _ : state)
    bench.plan->plan(bench.lengths());
}

void checkOperands(benchmark::State &state) {
  Bench bench(static_cast<int32_t>(state.range(0)), Deterministic::run);
  bench.plan->plan(bench.lengths());
  Operands operands = bench.operands();
  for (auto _ : state)
    bench.plan->checkOperands(operands);
}

} // namespace

BENCHMARK_CAPTURE(planBatch, run, Deterministic::run)
    ->Arg(1)
    ->Arg(64)
    ->Arg(4096)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(planBatch, batch, Deterministic::batch)
    ->Arg(1)
    ->Arg(64)
    ->Arg(4096)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(checkOperands)->Arg(64)->Unit(benchmark::kMicrosecond);

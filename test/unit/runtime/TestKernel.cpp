#include "TestKernel.h"

#include <algorithm>

namespace mla::test {

static std::vector<std::string> allParams(const KernelInfo &kernel) {
  std::vector<std::string> names;
  for (const Operand &operand : kernel.operands)
    for (const Param &param : operandParams(operand))
      names.push_back(param.name);
  for (const Param &param : planParams())
    names.push_back(param.name);
  return names;
}

static std::vector<std::string> stateParams(const KernelInfo &kernel) {
  std::vector<std::string> names;
  for (const Param &param : mergeParams())
    names.push_back(param.name);
  for (Role role : {Role::output, Role::lse})
    for (const Param &param : operandParams(*kernel.find(role)))
      names.push_back(param.name);
  return names;
}

static std::vector<std::string> plannerParams(const KernelInfo &kernel) {
  std::vector<std::string> names;
  for (const std::vector<Param> &params :
       {batchParams(), planParams(), operandParams(*kernel.find(Role::cache))})
    for (const Param &param : params)
      names.push_back(param.name);
  return names;
}

static std::vector<Operand> makeOperandList(const KernelShape &shape) {
  std::vector<Operand> operands{
      {"q", Role::query, Layout::ragged, shape.query, {shape.heads, shape.qkDim}, 16},
      {"kv", Role::cache, shape.layout, shape.cache, {shape.qkDim}, 16},
      {"kv_scale", Role::scalar, Layout::ragged, DType::f32, {}, 4},
      {"sm_scale", Role::scalar, Layout::ragged, DType::f32, {}, 4},
      {"o", Role::output, Layout::ragged, DType::bf16, {shape.heads, shape.vDim}, 16}};
  if (shape.lse != LseBase::none)
    operands.push_back({"lse", Role::lse, Layout::ragged, DType::f32, {shape.heads}, 4});
  return operands;
}

KernelInfo makeKernel(const KernelShape &shape) {
  KernelInfo kernel;
  kernel.name = "decode";
  kernel.heads = shape.heads;
  kernel.qkDim = shape.qkDim;
  kernel.vDim = shape.vDim;
  kernel.vOffset = shape.vOffset;
  kernel.causal = shape.causal;
  kernel.lse = shape.lse;
  kernel.scoreScale = {1, {"kv_scale", "sm_scale"}};
  kernel.valueScale = {1, {"kv_scale"}};
  kernel.operands = makeOperandList(shape);
  kernel.tile = {shape.tileRows, shape.tileTokens, 2, 8};
  kernel.main = {"decode_main", 256, 86016, allParams(kernel)};
  kernel.combine = {"decode_combine", 512, 0, allParams(kernel)};
  if (kernel.lse != LseBase::none)
    kernel.merge = {"decode_merge", 128, 0, stateParams(kernel)};
  kernel.planner = {"decode_plan", 256, 0, plannerParams(kernel)};
  if (shape.layout == Layout::paged)
    kernel.check = {"decode_check", 128, 0, plannerParams(kernel)};
  return kernel;
}

KernelInfo makePrefillKernel(const PrefillKernelShape &shape) {
  KernelInfo kernel;
  kernel.name = "prefill";
  kernel.heads = shape.heads;
  kernel.kvHeads = shape.kvHeads;
  kernel.qkDim = shape.qkDim;
  kernel.vDim = shape.vDim;
  kernel.compute = DType::bf16;
  kernel.causal = shape.causal;
  kernel.lse = LseBase::log2;
  kernel.scoreScale = {1, {"sm_scale"}};
  auto perHead = [&](const char *name, Role role, int heads, int dim) {
    kernel.operands.push_back({name, role, Layout::ragged, DType::bf16, {heads, dim}, 16});
  };
  perHead("q", Role::query, shape.heads, shape.qkDim);
  perHead("k", Role::key, shape.kvHeads, shape.qkDim);
  perHead("v", Role::value, shape.kvHeads, shape.vDim);
  kernel.operands.push_back({"sm_scale", Role::scalar, Layout::ragged, DType::f32, {}, 4});
  perHead("o", Role::output, shape.heads, shape.vDim);
  kernel.operands.push_back({"lse", Role::lse, Layout::ragged, DType::f32, {shape.heads}, 4});
  kernel.tile = {128, 64, 1, 4};
  kernel.main = {"prefill_main", 128, 94208, allParams(kernel)};
  kernel.merge = {"prefill_merge", 128, 0, stateParams(kernel)};
  return kernel;
}

Manifest makeManifest() {
  Manifest manifest;
  manifest.compiler = "mlac 0.1.0";
  manifest.sourceHash = "00ff";
  manifest.target = "sm_120";
  manifest.profile = "sm_120";
  manifest.ptxVersion = "8.7";
  manifest.kernels = {makeKernel(),
                      makeKernel({.causal = true, .layout = Layout::ragged, .lse = LseBase::ln})};
  manifest.kernels[1].name = "extend";
  manifest.kernels[1].scoreScale.constant = 0.1352337788608801;
  return manifest;
}

static std::vector<int32_t> runningSum(const std::vector<int32_t> &lengths) {
  std::vector<int32_t> sums{0};
  for (int32_t length : lengths)
    sums.push_back(sums.back() + length);
  return sums;
}

Batch::Batch(std::vector<int32_t> qLens, std::vector<int32_t> lengths, int32_t pageSize)
    : qIndptr(runningSum(qLens)), kvLens(std::move(lengths)), cacheIndptr(runningSum(kvLens)),
      pageSize(pageSize) {}

PlanRequest Batch::request(int blocks) const {
  int64_t longest = kvLens.empty() ? 0 : *std::max_element(kvLens.begin(), kvLens.end());
  PlanRequest request;
  request.qIndptr = qIndptr;
  request.kvLen = kvLens;
  request.pageSize = pageSize;
  request.tableColumns = (longest + pageSize - 1) / pageSize;
  request.pages = 1 + request.tableColumns * static_cast<int64_t>(kvLens.size());
  request.cacheIndptr = cacheIndptr;
  request.blocks = blocks;
  return request;
}

} // namespace mla::test

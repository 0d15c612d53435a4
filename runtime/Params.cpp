#include "runtime/Params.h"

#include <bit>

namespace mla {

ParamList::ParamList(std::vector<uint64_t> list) : values(std::move(list)) {
  for (uint64_t &value : values)
    pointers.push_back(&value);
}

namespace {

using Values = std::map<std::string, uint64_t, std::less<>>;

uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }

/// Values of everything that any operand may contribute; the vocabulary picks what its role has.
Values operandValues(const Operand &operand, const BoundOperand &bound) {
  PageDivision division = pageDivision(bound.pageSize);
  const std::string &name = operand.name;
  return {{name, std::bit_cast<uint32_t>(bound.scalar)},
          {name + ".data", bound.data},
          {name + ".stride_token", bits(bound.strideToken)},
          {name + ".stride_head", bits(bound.strideHead)},
          {name + ".stride_page", bits(bound.stridePage)},
          {name + ".table", bound.table},
          {name + ".table_stride", bits(bound.tableStride)},
          {name + ".page_size", static_cast<uint32_t>(bound.pageSize)},
          {name + ".page_magic", division.magic},
          {name + ".page_shift", division.shift},
          {name + ".indptr", bound.indptr},
          {name + ".scales", bound.scales},
          {name + ".scale_stride_page", bits(bound.strideScalePage)},
          {name + ".scale_stride_token", bits(bound.strideScaleToken)}};
}

Values planValues(const BoundPlan &plan) {
  return {{"plan.q_indptr", plan.qIndptr},       {"plan.kv_len", plan.kvLen},
          {"plan.work_indptr", plan.workIndptr}, {"plan.work", plan.work},
          {"plan.merges", plan.merges},          {"plan.partial_out", plan.partialOut},
          {"plan.partial_lse", plan.partialLse}};
}

Values allValues(const KernelInfo &kernel, const BoundOperands &operands, const BoundPlan &plan) {
  Values values = planValues(plan);
  for (const Operand &operand : kernel.operands)
    if (auto bound = operands.find(operand.name); bound != operands.end())
      values.merge(operandValues(operand, bound->second));
  return values;
}

} // namespace

Launch launchOf(const Entry &entry) {
  Launch launch;
  launch.entry = entry.name;
  launch.block = static_cast<uint32_t>(entry.threads);
  launch.sharedBytes = static_cast<uint32_t>(entry.sharedBytes);
  launch.params = static_cast<uint32_t>(entry.params.size());
  return launch;
}

ParamList bindParams(const KernelInfo &kernel, const Entry &entry, const BoundOperands &operands,
                     const BoundPlan &plan) {
  Values known = allValues(kernel, operands, plan);
  std::vector<uint64_t> values;
  for (const std::string &param : entry.params) {
    if (!paramType(kernel, param))
      throw Error(Error::Code::unknownParameter, "parameter " + param + " of " + entry.name, "unknown",
                  "a word of the parameter vocabulary", "recompile the kernel with this version");
    auto value = known.find(param);
    if (value == known.end())
      throw Error(Error::Code::missingOperand, "the operand of parameter " + param, "not bound", "bound");
    values.push_back(value->second);
  }
  return ParamList(std::move(values));
}

} // namespace mla

#include "runtime/Abi.h"

#include <algorithm>
#include <bit>

namespace mla {

PageDivision pageDivision(int32_t pageSize) {
  auto divisor = static_cast<uint32_t>(pageSize);
  // The least shift with divisor <= 2^shift keeps magic below 2^32 and its rounding error harmless below
  // 2^31.
  auto shift = static_cast<uint32_t>(std::bit_width(divisor - 1));
  uint64_t power = uint64_t{1} << (31 + shift);
  return {static_cast<uint32_t>((power + divisor - 1) / divisor), shift};
}

static std::vector<Param> rowParams(const Operand &operand) {
  const std::string &name = operand.name;
  if (operand.layout == Layout::ragged)
    return {{name + ".data", ParamType::pointer},
            {name + ".stride_token", ParamType::i64},
            {name + ".indptr", ParamType::pointer}};
  return {{name + ".data", ParamType::pointer},     {name + ".stride_page", ParamType::i64},
          {name + ".stride_token", ParamType::i64}, {name + ".table", ParamType::pointer},
          {name + ".table_stride", ParamType::i64}, {name + ".page_size", ParamType::i32},
          {name + ".page_magic", ParamType::i32},   {name + ".page_shift", ParamType::i32}};
}

static std::vector<Param> cacheParams(const Operand &operand) {
  std::vector<Param> params = rowParams(operand);
  if (!operand.scaleRowBytes())
    return params;
  params.push_back({operand.name + ".scales", ParamType::pointer});
  params.push_back({operand.name + ".scale_stride_page", ParamType::i64});
  params.push_back({operand.name + ".scale_stride_token", ParamType::i64});
  return params;
}

std::vector<Param> operandParams(const Operand &operand) {
  switch (operand.role) {
  case Role::scalar:
    return {{operand.name, ParamType::f32}};
  case Role::cache:
    return cacheParams(operand);
  case Role::headValues:
    return {{operand.name + ".data", ParamType::pointer}};
  case Role::query:
  case Role::key:
  case Role::value:
  case Role::output:
  case Role::lse:
    return {{operand.name + ".data", ParamType::pointer},
            {operand.name + ".stride_token", ParamType::i64},
            {operand.name + ".stride_head", ParamType::i64}};
  }
  return {};
}

std::vector<Param> planParams() {
  std::vector<Param> params;
  for (const char *word :
       {"q_indptr", "kv_len", "work_indptr", "work", "merges", "partial_out", "partial_lse"})
    params.push_back({std::string("plan.") + word, ParamType::pointer});
  return params;
}

std::vector<Param> batchParams() {
  std::vector<Param> params;
  for (const char *word : {"q_indptr", "kv_len", "cache_indptr"})
    params.push_back({std::string("batch.") + word, ParamType::pointer});
  for (const char *word :
       {"requests", "rows", "tokens", "blocks", "least", "fixed", "items", "slots", "merges", "pages"})
    params.push_back({std::string("batch.") + word, ParamType::i32});
  for (const char *word : {"scratch", "status"})
    params.push_back({std::string("batch.") + word, ParamType::pointer});
  return params;
}

std::vector<Param> mergeParams() {
  std::vector<Param> params{{"states", ParamType::i32}};
  for (int state = 0; state < maxMergeStates; ++state)
    for (const char *part : {".out", ".lse"}) {
      std::string tensor = "state" + std::to_string(state) + part;
      params.push_back({tensor + ".data", ParamType::pointer});
      params.push_back({tensor + ".stride_token", ParamType::i64});
      params.push_back({tensor + ".stride_head", ParamType::i64});
    }
  return params;
}

std::vector<Param> placesParams() {
  std::vector<Param> params;
  for (const char *word : {"rows", "requests", "pages", "columns", "slot_bytes"})
    params.push_back({std::string("places.") + word, ParamType::i32});
  for (const char *word : {"slots", "kv_len"})
    params.push_back({std::string("places.") + word, ParamType::pointer});
  return params;
}

std::vector<Param> writerParams(const WriterInfo &writer) {
  std::vector<Param> params;
  auto add = [&](const std::vector<Param> &more) { params.insert(params.end(), more.begin(), more.end()); };
  for (const Operand &part : writer.parts)
    add(operandParams(part));
  add(operandParams(writer.cache));
  for (const std::string &scalar : writer.divisor.scalars)
    params.push_back({scalar, ParamType::f32});
  add(placesParams());
  return params;
}

static std::optional<ParamType> findType(const std::vector<Param> &params, std::string_view param) {
  auto found = std::find_if(params.begin(), params.end(), [&](const Param &p) { return p.name == param; });
  if (found == params.end())
    return std::nullopt;
  return found->type;
}

std::optional<ParamType> paramType(const KernelInfo &kernel, std::string_view param) {
  if (auto type = findType(planParams(), param))
    return type;
  if (auto type = findType(batchParams(), param))
    return type;
  for (const Operand &operand : kernel.operands)
    if (auto type = findType(operandParams(operand), param))
      return type;
  return findType(mergeParams(), param);
}

std::optional<ParamType> paramType(const WriterInfo &writer, std::string_view param) {
  return findType(writerParams(writer), param);
}

} // namespace mla

// Names of the manifest's enumerations: one table each, read in both directions.
#include "runtime/Manifest.h"

#include <array>
#include <utility>

namespace mla {

template <typename Enum, size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

static constexpr Names<DType, 7> dtypeNames{{{DType::f32, "f32"},
                                             {DType::f16, "f16"},
                                             {DType::bf16, "bf16"},
                                             {DType::e4m3, "e4m3"},
                                             {DType::e5m2, "e5m2"},
                                             {DType::s8, "s8"},
                                             {DType::u8, "u8"}}};
static constexpr Names<Layout, 2> layoutNames{{{Layout::ragged, "ragged"}, {Layout::paged, "paged"}}};
static constexpr Names<Role, 8> roleNames{{{Role::query, "query"},
                                           {Role::cache, "cache"},
                                           {Role::key, "key"},
                                           {Role::value, "value"},
                                           {Role::scalar, "scalar"},
                                           {Role::headValues, "head_values"},
                                           {Role::output, "output"},
                                           {Role::lse, "lse"}}};
static constexpr Names<ScaleFormat, 4> scaleFormatNames{{{ScaleFormat::none, "none"},
                                                         {ScaleFormat::f32, "f32"},
                                                         {ScaleFormat::pow2, "pow2"},
                                                         {ScaleFormat::ue8m0, "ue8m0"}}};
static constexpr Names<LseBase, 3> lseBaseNames{
    {{LseBase::none, "none"}, {LseBase::log2, "log2"}, {LseBase::ln, "ln"}}};

template <typename Enum, size_t N>
static std::string_view lookUp(const Names<Enum, N> &names, Enum value) {
  for (const auto &[key, text] : names)
    if (key == value)
      return text;
  return "?";
}

template <typename Enum, size_t N>
static std::optional<Enum> parse(const Names<Enum, N> &names, std::string_view text) {
  for (const auto &[key, spelled] : names)
    if (spelled == text)
      return key;
  return std::nullopt;
}

int64_t bytes(DType type) {
  switch (type) {
  case DType::f32:
    return 4;
  case DType::f16:
  case DType::bf16:
    return 2;
  case DType::e4m3:
  case DType::e5m2:
  case DType::s8:
  case DType::u8:
    return 1;
  }
  return 0;
}

std::string_view name(DType type) { return lookUp(dtypeNames, type); }
std::optional<DType> parseDType(std::string_view text) { return parse(dtypeNames, text); }

std::string_view name(Layout layout) { return lookUp(layoutNames, layout); }
std::optional<Layout> parseLayout(std::string_view text) { return parse(layoutNames, text); }

std::string_view name(ScaleFormat format) { return lookUp(scaleFormatNames, format); }
std::optional<ScaleFormat> parseScaleFormat(std::string_view text) { return parse(scaleFormatNames, text); }

std::string_view name(Role role) { return lookUp(roleNames, role); }
std::optional<Role> parseRole(std::string_view text) { return parse(roleNames, text); }

std::string_view name(LseBase base) { return lookUp(lseBaseNames, base); }
std::optional<LseBase> parseLseBase(std::string_view text) { return parse(lseBaseNames, text); }

} // namespace mla

// Element types, layouts and logarithm bases.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mla {

/// Element types of buffers. The 8-bit floats are the OCP ones: e4m3 has no infinity, one NaN code per sign.
/// u8 are the bytes of records, whose columns are not stored alike.
enum class DType { f32, f16, bf16, e4m3, e5m2, s8, u8 };

/// Size of one element in bytes.
int64_t bytes(DType type);
std::string_view name(DType type);
std::optional<DType> parseDType(std::string_view text);

/// ragged: rows of all requests after one another, an indptr; paged: a page table per request.
enum class Layout { ragged, paged };
std::string_view name(Layout layout);
std::optional<Layout> parseLayout(std::string_view text);

/// Base of the logarithm in the log-sum-exp output; `none`: the kernel writes no LSE.
enum class LseBase { none, log2, ln };
std::string_view name(LseBase base);
std::optional<LseBase> parseLseBase(std::string_view text);

} // namespace mla

// Random operands of a kernel, hostile everywhere a kernel has no business to look.
#pragma once

#include "runtime/Manifest.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace mla::reference {

/// One buffer in host memory, as it will lie on the device. Strides count elements; the dims of a token and
/// head are neighbours.
struct HostTensor {
  Operand operand;
  std::vector<uint8_t> bytes; ///< the whole allocation, paddings and canaries included
  int64_t offset = 0;         ///< bytes from its start to element 0
  int64_t tokens = 0;         ///< rows; of a paged cache, pages x page size
  int64_t strideToken = 0;
  int64_t strideHead = 0;
  int64_t stridePage = 0;
  // Rows of scales that lie apart, behind the records of their page, or of all; in bytes, from element 0 on.
  int64_t scalesAt = 0;
  int64_t strideScalePage = 0;
  int64_t strideScaleToken = 0;

  const uint8_t *data() const { return bytes.data() + offset; }
  uint8_t *data() { return bytes.data() + offset; }
  /// Element offset of a query, key, value, output or lse element.
  int64_t element(int64_t token, int64_t head, int64_t dim = 0) const {
    return token * strideToken + head * strideHead + dim;
  }
};

/// The shape of a batch.
struct BatchShape {
  std::vector<int32_t> qLens;
  std::vector<int32_t> kvLens; ///< as many
  int32_t pageSize = 64;       ///< of a paged cache
  uint64_t seed = 0;
  bool packed = false; ///< strides as a serving engine lays them out, without gaps: for measuring
  int checkEvery = 1;  ///< of each request's query tokens every n-th, from its last one on, is compared
};

struct HostOperands {
  BatchShape shape;
  std::vector<int32_t> qIndptr;     ///< [batch + 1]
  std::vector<int32_t> cacheIndptr; ///< [batch + 1], ragged cache, key and value
  std::vector<int32_t> table;       ///< [batch][tableStride], paged cache
  int64_t tableColumns = 0;
  int64_t tableStride = 0;
  int64_t pages = 0;
  std::vector<HostTensor> tensors; ///< query, cache, key, value, output and lse operands
  std::map<std::string, float, std::less<>> scalars;

  /// Number of requests.
  int64_t batch() const { return static_cast<int64_t>(shape.qLens.size()); }
  int64_t queryTokens() const { return qIndptr.back(); }
  /// The buffer of that role, or null.
  HostTensor *find(Role role);
  const HostTensor *find(Role role) const;
  HostTensor *find(std::string_view name);
  const HostTensor *find(std::string_view name) const;
  /// Of an operand that holds head values.
  double headValue(std::string_view name, int64_t head) const;
  /// Element offset of row `token` of request `request` in the cache, or, at KV head 0, in key or value.
  int64_t cacheRow(const HostTensor &cache, int64_t request, int64_t token) const;
  /// Byte offset from element 0 of that row's scales that lie apart.
  int64_t scaleRow(const HostTensor &cache, int64_t request, int64_t token) const;
  /// Whether the query token, counted over the whole batch, is one of those that are compared.
  bool isSampled(int64_t request, int64_t token) const {
    return (qIndptr[request + 1] - 1 - token) % shape.checkEvery == 0;
  }
  /// The scale's value: constant times scalars.
  double evaluate(const Scale &scale) const;
};

/// Rows of padding around an output, checked after the run.
inline constexpr int64_t canaryRows = 2;

/// A page-table entry that no request uses.
inline constexpr int32_t unusedPage = 0x7FFFFFFF;

/// Query, cache, key and value ~ N(0, 1), int8 ones 32 times that, rounded to storage. Scalars: 0.5 for those
/// in valueScale (of int8 values 1/64, and those of int8 keys likewise); scales in records 2^-6 to 2^-4,
/// their codes 32 times N(0, 1); of others in scoreScale the first is such that their product is 1/sqrt(192),
/// and the rest 0.5; 2 for the rest. Head values: 2^(-8 (h + 1) / heads), the slopes of linear biases; of a
/// sink ~ N(0, 1). Pages are shuffled, a few belong to nobody; every byte that no request owns (those pages,
/// page tails, gaps between rows and pages, canaries) and the outputs hold the format's poison code; table
/// entries past a request are `unusedPage`. Strides differ from the shape and keep the operand's alignment.
/// The same arguments give the same bytes.
HostOperands makeOperands(const KernelInfo &kernel, const BatchShape &shape);

} // namespace mla::reference

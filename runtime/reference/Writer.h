// What a writer must leave in a cache, and new rows to try it on.
#pragma once

#include "runtime/reference/Operands.h"

namespace mla::reference {

/// The code that a value x is stored as: of the f32 quotient x / divisor, the nearest, ties to even; beyond the largest
/// finite value it is that value, infinities too; NaN stays NaN (0 in s8).
uint32_t quantise(DType storage, float value, float divisor);

/// Whether two codes are the same value: any NaN is any other.
bool sameCode(DType type, uint32_t a, uint32_t b);

/// New rows of a batch: of each request the last qLens of its kvLens cached tokens.
struct WriterOperands {
  BatchShape shape;
  std::vector<HostTensor> parts; ///< in the writer's order
  HostTensor cache;              ///< poisoned all over
  std::vector<int32_t> indptr;   ///< [requests + 1]
  std::vector<int32_t> table;    ///< [requests][tableStride]
  int64_t tableColumns = 0, tableStride = 0, pages = 0;
  std::map<std::string, float, std::less<>> scalars;

  int64_t rows() const { return indptr.back(); }
  /// The slot of each row.
  std::vector<int64_t> slots() const;
  float divisor(const WriterInfo &writer) const;
};

/// Half of the elements ~ N(0, 1), half of random bits: infinities, NaNs and subnormals among them. Strides have gaps, pages are
/// shuffled, scalars are 0.375. Throws Error kvLenMismatch for more new rows than cached tokens.
WriterOperands makeWriterOperands(const WriterInfo &writer, const BatchShape &shape);

/// The cache's bytes after the rows were appended, rows of slot -1 left out.
std::vector<uint8_t> appended(const WriterInfo &writer, const WriterOperands &operands, const std::vector<int64_t> &slots);

} // namespace mla::reference

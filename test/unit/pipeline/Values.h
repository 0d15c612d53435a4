// Reading and writing operands by meaning: request, token, head and column.
#pragma once

#include "runtime/reference/Operands.h"

#include <cstdint>
#include <vector>

namespace mlac::test {

using mla::Role;
using mla::reference::HostOperands;

/// Rounded to the storage type.
void setQuery(HostOperands &operands, int64_t token, int64_t head, int64_t column, double value);
void setCache(HostOperands &operands, int64_t request, int64_t token, int64_t column, double value);
/// A stored code as it is.
void setCacheCode(HostOperands &operands, int64_t request, int64_t token, int64_t column, uint32_t code);

/// An element of key or value: `row` counts over the whole batch.
void setRow(HostOperands &operands, Role role, int64_t row, int64_t kvHead, int64_t column, double value);
void setRowCode(HostOperands &operands, Role role, int64_t row, int64_t kvHead, int64_t column, uint32_t code);
/// All of key or value: one value.
void fillRows(HostOperands &operands, Role role, double value);

/// All queries or all owned cached rows: one value.
void fillQuery(HostOperands &operands, double value);
void fillCache(HostOperands &operands, double value);

/// Random values that depend on the seed, the request, the token and the column, but not on where rows lie.
void randomizeCache(HostOperands &operands, uint64_t seed);
/// The same of one head's queries.
void randomizeHead(HostOperands &operands, int64_t head, uint64_t seed);

/// Deals the pages in that order to the requests' tables; the cache is all poison afterwards.
void placePages(HostOperands &operands, const std::vector<int32_t> &order);

/// Renumbers the pages, as if that many others lay before them in the pool.
void renumberPages(HostOperands &operands, int32_t before);

double outValue(const HostOperands &operands, int64_t token, int64_t head, int64_t column);
double lseValue(const HostOperands &operands, int64_t token, int64_t head);

/// The bits of one (query token, head) row's output and log-sum-exp.
std::vector<uint32_t> rowBits(const HostOperands &operands, int64_t token, int64_t head);
/// Of all rows.
std::vector<uint32_t> allBits(const HostOperands &operands);

} // namespace mlac::test

#include "test/unit/pipeline/Values.h"

#include "runtime/reference/Formats.h"

namespace mlac::test {

using namespace mla::reference;

static void store(HostTensor &tensor, int64_t element, double value) {
  mla::DType type = tensor.operand.dtype;
  storeCode(type, tensor.data(), element, encode(type, value));
}

static uint32_t load(const HostTensor &tensor, int64_t element) {
  return loadCode(tensor.operand.dtype, tensor.data(), element);
}

/// About normal: the sum of the bytes of a well-mixed number.
static double random(uint64_t seed, int64_t a, int64_t b, int64_t c) {
  uint64_t x = seed * 0x9E3779B97F4A7C15 + static_cast<uint64_t>((a * 4099 + b) * 65537 + c);
  for (int round = 0; round < 2; ++round) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    x ^= x >> 31;
  }
  double sum = 0;
  for (int byte = 0; byte < 8; ++byte)
    sum += static_cast<double>(x >> (8 * byte) & 0xFF) / 256 - 0.5;
  return sum * 1.2;
}

void setQuery(HostOperands &operands, int64_t token, int64_t head, int64_t column, double value) {
  HostTensor &query = *operands.find(Role::query);
  store(query, query.element(token, head, column), value);
}

void setCache(HostOperands &operands, int64_t request, int64_t token, int64_t column, double value) {
  HostTensor &cache = *operands.find(Role::cache);
  store(cache, operands.cacheRow(cache, request, token) + column, value);
}

void setCacheCode(HostOperands &operands, int64_t request, int64_t token, int64_t column, uint32_t code) {
  HostTensor &cache = *operands.find(Role::cache);
  storeCode(cache.operand.dtype, cache.data(), operands.cacheRow(cache, request, token) + column, code);
}

void setRow(HostOperands &operands, Role role, int64_t row, int64_t kvHead, int64_t column, double value) {
  HostTensor &tensor = *operands.find(role);
  store(tensor, tensor.element(row, kvHead, column), value);
}

void setRowCode(HostOperands &operands, Role role, int64_t row, int64_t kvHead, int64_t column, uint32_t code) {
  HostTensor &tensor = *operands.find(role);
  storeCode(tensor.operand.dtype, tensor.data(), tensor.element(row, kvHead, column), code);
}

void fillRows(HostOperands &operands, Role role, double value) {
  const HostTensor &tensor = *operands.find(role);
  for (int64_t row = 0; row < tensor.tokens; ++row)
    for (int64_t head = 0; head < tensor.operand.shape[0]; ++head)
      for (int64_t column = 0; column < tensor.operand.shape[1]; ++column)
        setRow(operands, role, row, head, column, value);
}

/// Calls `visit(token, head, column)` for every element of the queries.
template <typename Visit>
static void forEachQuery(const HostOperands &operands, Visit visit) {
  const std::vector<int64_t> &shape = operands.find(Role::query)->operand.shape;
  for (int64_t token = 0; token < operands.queryTokens(); ++token)
    for (int64_t head = 0; head < shape[0]; ++head)
      for (int64_t column = 0; column < shape[1]; ++column)
        visit(token, head, column);
}

/// Calls `visit(request, token, column)` for every element of the cached rows.
template <typename Visit>
static void forEachCached(const HostOperands &operands, Visit visit) {
  int64_t width = operands.find(Role::cache)->operand.shape[0];
  for (int64_t request = 0; request < operands.batch(); ++request)
    for (int64_t token = 0; token < operands.shape.kvLens[request]; ++token)
      for (int64_t column = 0; column < width; ++column)
        visit(request, token, column);
}

void fillQuery(HostOperands &operands, double value) {
  forEachQuery(operands, [&](int64_t token, int64_t head, int64_t column) {
    setQuery(operands, token, head, column, value);
  });
}

void fillCache(HostOperands &operands, double value) {
  forEachCached(operands, [&](int64_t request, int64_t token, int64_t column) {
    setCache(operands, request, token, column, value);
  });
}

void randomizeCache(HostOperands &operands, uint64_t seed) {
  forEachCached(operands, [&](int64_t request, int64_t token, int64_t column) {
    setCache(operands, request, token, column, random(seed, request, token, column));
  });
}

void randomizeHead(HostOperands &operands, int64_t head, uint64_t seed) {
  forEachQuery(operands, [&](int64_t token, int64_t at, int64_t column) {
    if (at == head)
      setQuery(operands, token, at, column, random(seed, token, head, column));
  });
}

void placePages(HostOperands &operands, const std::vector<int32_t> &order) {
  HostTensor &cache = *operands.find(Role::cache);
  fillPoison(cache.operand.dtype, cache.bytes);
  size_t next = 0;
  for (int64_t request = 0; request < operands.batch(); ++request) {
    int64_t pages = (operands.shape.kvLens[request] + operands.shape.pageSize - 1) / operands.shape.pageSize;
    for (int64_t slot = 0; slot < pages; ++slot)
      operands.table[request * operands.tableStride + slot] = order.at(next++);
  }
}

void renumberPages(HostOperands &operands, int32_t before) {
  HostTensor &cache = *operands.find(Role::cache);
  cache.offset -= before * cache.stridePage * mla::bytes(cache.operand.dtype);
  operands.pages += before;
  for (int32_t &page : operands.table)
    page += page == unusedPage ? 0 : before;
}

double outValue(const HostOperands &operands, int64_t token, int64_t head, int64_t column) {
  const HostTensor &out = *operands.find(Role::output);
  return decode(out.operand.dtype, load(out, out.element(token, head, column)));
}

double lseValue(const HostOperands &operands, int64_t token, int64_t head) {
  const HostTensor &lse = *operands.find(Role::lse);
  return decode(lse.operand.dtype, load(lse, lse.element(token, head)));
}

std::vector<uint32_t> rowBits(const HostOperands &operands, int64_t token, int64_t head) {
  const HostTensor &out = *operands.find(Role::output), &lse = *operands.find(Role::lse);
  std::vector<uint32_t> bits{load(lse, lse.element(token, head))};
  for (int64_t column = 0; column < out.operand.shape[1]; ++column)
    bits.push_back(load(out, out.element(token, head, column)));
  return bits;
}

std::vector<uint32_t> allBits(const HostOperands &operands) {
  std::vector<uint32_t> bits;
  int64_t heads = operands.find(Role::output)->operand.shape[0];
  for (int64_t token = 0; token < operands.queryTokens(); ++token)
    for (int64_t head = 0; head < heads; ++head) {
      std::vector<uint32_t> row = rowBits(operands, token, head);
      bits.insert(bits.end(), row.begin(), row.end());
    }
  return bits;
}

} // namespace mlac::test

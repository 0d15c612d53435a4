#include "runtime/PlanCheck.h"

#include <fmt/format.h>

#include <limits>

namespace mla {

using Code = Error::Code;

static constexpr int64_t int32Max = std::numeric_limits<int32_t>::max();

static std::string element(std::string_view array, size_t index) {
  return fmt::format("{}[{}]", array, index);
}

static void checkIndptr(std::string_view field, std::span<const int32_t> indptr) {
  if (indptr.empty())
    throw Error(Code::indptrSize, std::string(field), "empty", "one longer than the batch",
                "pass [0] for an empty batch");
  if (indptr[0] != 0)
    throw Error(Code::indptrStart, element(field, 0), std::to_string(indptr[0]), "0",
                "rebase the offsets on the tensor that is passed");
  for (size_t i = 1; i < indptr.size(); ++i)
    if (indptr[i] < indptr[i - 1])
      throw Error(Code::indptrOrder, element(field, i), std::to_string(indptr[i]),
                  fmt::format("at least {}[{}] = {}", field, i - 1, indptr[i - 1]),
                  "pass the running sum of the lengths");
}

static void checkQueryRows(const KernelInfo &kernel, const PlanRequest &request) {
  checkIndptr("q_indptr", request.qIndptr);
  if (request.queryTokens && request.qIndptr.back() != *request.queryTokens)
    throw Error(Code::indptrEnd, element("q_indptr", request.qIndptr.size() - 1),
                std::to_string(request.qIndptr.back()),
                fmt::format("{}, the rows of the query", *request.queryTokens),
                "pass the query that the offsets describe");
  for (size_t r = 0; r + 1 < request.qIndptr.size(); ++r) {
    int64_t rows = int64_t{request.qIndptr[r + 1] - request.qIndptr[r]} * kernel.headsPerKv();
    if (rows > int32Max - kernel.tile.rows)
      throw Error(Code::tooLarge, fmt::format("query rows x heads of request {}", r), std::to_string(rows),
                  fmt::format("at most {}", int32Max - kernel.tile.rows), "split the request");
  }
  // At most: each request's last one may be short.
  int64_t rowTiles = int64_t{request.qIndptr.back()} * kernel.heads / kernel.tile.rows +
                     static_cast<int64_t>(request.qIndptr.size()) * std::max(kernel.kvHeads, 1);
  if (rowTiles > int32Max)
    throw Error(Code::tooLarge, "row tiles of the batch", std::to_string(rowTiles),
                fmt::format("at most {}", int32Max), "plan the batch in parts");
}

static void checkKvLengths(const KernelInfo &kernel, const PlanRequest &request) {
  size_t batch = request.qIndptr.size() - 1;
  if (request.kvLen.size() != batch)
    throw Error(Code::kvLenSize, "the length of kv_len", std::to_string(request.kvLen.size()),
                fmt::format("{}, the batch that q_indptr describes", batch));
  for (size_t r = 0; r < batch; ++r) {
    int64_t length = request.kvLen[r];
    if (length < 0)
      throw Error(Code::kvLenNegative, element("kv_len", r), std::to_string(length), "at least 0",
                  "pass 0 for a padded request");
    if (length > int32Max - kernel.tile.tokens)
      throw Error(Code::tooLarge, element("kv_len", r), std::to_string(length),
                  fmt::format("at most {}", int32Max - kernel.tile.tokens), "split the context and merge");
  }
}

void checkGeometry(const PlanRequest &request) {
  if (request.pageSize < 1)
    throw Error(Code::pageSize, "page_size", std::to_string(request.pageSize), "at least 1",
                "pass the tokens of one page of the cache");
  if (request.tableColumns < 0)
    throw Error(Code::tableGeometry, "table columns", std::to_string(request.tableColumns), "at least 0");
  if (request.pages < 0 || request.pages > int32Max)
    throw Error(Code::poolSize, "pages", std::to_string(request.pages),
                fmt::format("between 0 and {}", int32Max));
}

int64_t tableTokens(const PlanRequest &request, int64_t most) {
  // The quotient, since the product could leave 64 bits.
  return request.tableColumns > most / request.pageSize ? most : request.tableColumns * request.pageSize;
}

static void checkPaged(const PlanRequest &request) {
  checkGeometry(request);
  int64_t most = tableTokens(request, int32Max);
  for (size_t r = 0; r < request.kvLen.size(); ++r) {
    int64_t length = request.kvLen[r];
    if (length > most)
      throw Error(Code::kvLenBeyondTable, element("kv_len", r), std::to_string(length),
                  fmt::format("at most {} table columns x {} tokens of a page", request.tableColumns,
                              request.pageSize),
                  "pass a wider page table");
    if (length > 0 && request.pages == 0)
      throw Error(Code::poolSize, "pages", "0", fmt::format("at least 1, for kv_len[{}] = {}", r, length));
  }
}

static void checkRagged(const PlanRequest &request) {
  checkIndptr("cache indptr", request.cacheIndptr);
  if (request.cacheIndptr.size() != request.qIndptr.size())
    throw Error(Code::indptrSize, "the length of the cache indptr",
                std::to_string(request.cacheIndptr.size()),
                fmt::format("{}, as of q_indptr", request.qIndptr.size()));
  for (size_t r = 0; r < request.kvLen.size(); ++r) {
    int32_t rows = request.cacheIndptr[r + 1] - request.cacheIndptr[r];
    if (rows != request.kvLen[r])
      throw Error(Code::kvLenMismatch, element("kv_len", r), std::to_string(request.kvLen[r]),
                  fmt::format("{}, the rows that the cache indptr gives it", rows));
  }
}

void checkPlanRequest(const KernelInfo &kernel, const PlanRequest &request) {
  if (request.blocks < 1)
    throw Error(Code::blockCount, "blocks", std::to_string(request.blocks), "at least 1",
                "pass multiprocessors x blocks of one");
  checkQueryRows(kernel, request);
  checkKvLengths(kernel, request);
  if (!kernel.find(kernel.isPrefill() ? Role::key : Role::cache))
    throw Error(Code::missingOperand, "kernel " + kernel.name, "without a cache", "a kernel with one");
  if (kernel.cached().layout == Layout::paged)
    checkPaged(request);
  else
    checkRagged(request);
}

} // namespace mla

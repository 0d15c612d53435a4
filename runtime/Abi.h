// The contract between generated kernels and the runtime: parameter names, their C types, the work list, the
// launch geometry and the arithmetic that both sides must agree on.
//
// Parameters are passed as cuLaunchKernel's kernelParams, one C value each. An entry lists the ones it takes,
// in its own order, in the words of this table (NAME is an operand's name; strides count elements, not
// bytes):
//
//   query, output   NAME.data ptr, NAME.stride_token i64, NAME.stride_head i64
//   cache, paged    NAME.data ptr, NAME.stride_page i64, NAME.stride_token i64, NAME.table ptr to
//                   i32[batch][table_stride], NAME.table_stride i64, NAME.page_size i32, NAME.page_magic i32,
//                   NAME.page_shift i32
//   key, value      NAME.data ptr, NAME.stride_token i64, NAME.stride_head i64
//   cache, ragged   NAME.data ptr, NAME.stride_token i64, NAME.indptr ptr to i32[batch + 1]
//   cache of records whose scales lie apart, after the above: NAME.scales ptr, NAME.scale_stride_page i64 and
//                   NAME.scale_stride_token i64, in bytes; the rows of scales are found as the records are
//   lse             NAME.data ptr to f32, NAME.stride_token i64, NAME.stride_head i64
//   scalar          NAME f32
//   head values     NAME.data ptr to f32[heads]
//   the plan        plan.q_indptr ptr to i32[batch + 1], plan.kv_len ptr to i32[batch],
//                   plan.work_indptr ptr to i32[grid + 1], plan.work ptr to WorkItem[],
//                   plan.merges ptr to MergeItem[], plan.partial_out ptr to f32[slots][tile.rows][vDim],
//                   plan.partial_lse ptr to f32[slots][tile.rows]
//   a batch whose lengths are in device memory, for the planner and the check of page tables
//                   batch.q_indptr ptr to i32[requests + 1], batch.kv_len ptr to i32[requests],
//                   batch.cache_indptr ptr to i32[requests + 1] (of a ragged cache), batch.requests i32,
//                   batch.rows i32 (most query tokens), batch.tokens i32 (most cached tokens of a request),
//                   batch.blocks i32, batch.least i32 (KV tiles of the smallest piece; 0: never split),
//                   batch.fixed i32 (1: fixed pieces), batch.items i32, batch.slots i32, batch.merges i32
//                   (capacities), batch.pages i32, batch.scratch ptr, batch.status ptr to i64
//   a writer        its parts are ragged caches, its cache a paged one, whose table may be null beside slots;
//                   places.rows i32 (rows of the parts), places.requests i32, places.pages i32, places.columns i32
//                   (of the page table), places.slot_bytes i32 (4 or 8), places.slots ptr to i32[rows] or i64[rows],
//                   places.kv_len ptr to i32[requests]. The first part's indptr, unless null, ends with the rows there are:
//                   indptr[requests]. Without slots row i of request r goes where its token kv_len[r] - indptr[r + 1] + i lies.
//   a merge         states i32, and for K in [0, maxMergeStates): stateK.out.data ptr,
//   stateK.out.stride_token
//                   i64, stateK.out.stride_head i64, stateK.lse.data ptr to f32, stateK.lse.stride_token i64,
//                   stateK.lse.stride_head i64; the merged state is the output's and the lse's own words
//
// Packed row r of a request is query token r / heads, head r % heads; of a request and KV head of prefill it is, with n
// = heads / kvHeads, query token r / n, head kvHead * n + r % n. A row tile is tile.rows consecutive
// packed rows, the last one of a request possibly short. KV tile t covers tokens [t * tile.tokens, (t+1) *
// tile.tokens).
//
// main:    grid.x = Plan::grid. Block b does work[work_indptr[b]] .. work[work_indptr[b + 1] - 1].
// combine: as combineLaunch() says, merges * tile.rows * n blocks: of combineSmallThreads threads with n = 1, or of the
//          entry's threads with n spans of combineSpan dimensions. Block b merges span b % n of row b / n % tile.rows of
//          merges[b / n / tile.rows]; it leaves at once if the request has no such packed row.
// planner: grid.x = 1. Writes the lists that makePlan() would write, work_indptr and merges filled up to
//          their capacity. scratch has plannerScratchBytes(). What is wrong goes to *status, packed as
//          PlannerStatus says, and the plan is then empty.
// check:   grid.x = batch.requests. Block r writes to i32[requests][2] at scratch the first slot of request r
//          whose page is not in [0, pages), and that page; -1 and 0 if there is none.
// writer:  grid.x * threads >= rows * width / elements; a thread beyond that does nothing. Slot s is row s % page_size of
//          page s / page_size; a row whose slot, or page, is not in the pool is not written.
// merge:   grid.x = query tokens * heads. Block b merges row (b / heads, b % heads) of the first `states`
// states.
#pragma once

#include "runtime/Manifest.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mla {

/// One piece of work of the main kernel: a row tile against a run of KV tiles (possibly none: an empty
/// result). Prefill has row tiles of each KV head, and never splits one.
struct WorkItem {
  int32_t request;
  int32_t row_begin;  ///< first packed row of the row tile, a multiple of tile.rows
  int32_t tile_begin; ///< KV tiles [tile_begin, tile_end)
  int32_t tile_end;
  int32_t slot; ///< -1: write the final result; otherwise the partial slot to write
  // The request's own, so that one load of an item tells all that a block needs:
  int32_t query_begin; ///< first query token
  int32_t rows;        ///< packed rows
  int32_t kv_len;      ///< cached tokens
  int32_t head;     ///< KV head; 0 in decode
  int32_t kv_begin; ///< prefill: row of the request's first key and value
  int32_t pad[2];
};
static_assert(sizeof(WorkItem) == 48);

/// A row tile whose result is the merge of partial slots [slot_begin, slot_end).
///
/// A partial holds, per row, the softmax-weighted mean of the values and the base-2 LSE of its scores, -inf
/// for a row that saw nothing. Whether main or combine applies valueScale is the kernel's own affair.
struct MergeItem {
  int32_t request;
  int32_t row_begin;
  int32_t slot_begin;
  int32_t slot_end;
};
static_assert(sizeof(MergeItem) == 16);

/// token / pageSize == (uint64(token) * magic) >> (31 + shift) for every token in [0, 2^31).
struct PageDivision {
  uint32_t magic;
  uint32_t shift;
};

/// For pageSize >= 1.
PageDivision pageDivision(int32_t pageSize);

/// The most pieces of a row tile with fixed pieces, and the least KV tiles of one.
inline constexpr int fixedPieces = 16;
inline constexpr int leastFixedPiece = 4;

/// Two shapes of the combine: a small block for each row, or large blocks that share a row's dimensions.
inline constexpr int combineSmallThreads = 128;
inline constexpr int combineSpan = 128;
/// Rows of more slots on average are merged by large blocks.
inline constexpr int combineSmallSlots = 12;

/// What the start and the end of a work item cost, in cached tokens: 1.5 us on an H200 while a block reads 80 a us.
inline constexpr int itemStartTokens = 128;
/// What a cut row tile costs beside it, in cached tokens: its partial results are written and read again.
constexpr int64_t mergeTokens(int64_t rows) { return 128 + 12 * rows; }

/// What the planner on the device refuses: code << 60 | index << 32 | value, an unsigned index of 28 bits and
/// a 32-bit value.
enum class PlannerStatus : uint32_t {
  fine = 0,
  indptrStart,      ///< q_indptr[0] = value
  indptrOrder,      ///< q_indptr[index] = value, below the one before
  queryRows,        ///< q_indptr[index] = value, above batch.rows
  kvLenNegative,    ///< kv_len[index] = value
  kvLenBeyondTable, ///< kv_len[index] = value, above batch.tokens
  kvLenMismatch,    ///< kv_len[index] = value, unlike the cache indptr
  items,            ///< value work items, above the capacity
  slots,            ///< value partial results, above the capacity
  merges,           ///< value row tiles to merge, above the capacity
};

/// Scratch memory of the planner for that many requests, row tiles and blocks. It holds, each aligned to 8
/// bytes: the first row tile of each request i32[requests + 1], cuts i64[blocks + 1] before and after equal
/// ones are joined, and where each row tile starts i64[row tiles + 1].
constexpr int64_t plannerScratchBytes(int64_t requests, int64_t rowTiles, int64_t blocks) {
  return 8 * (requests / 2 + 1 + 2 * (blocks + 1) + rowTiles + 1);
}

/// The C type of a parameter.
enum class ParamType { pointer, i64, i32, f32 };

struct Param {
  std::string name;
  ParamType type;
};

/// All parameters that an operand can contribute, in the table's order.
std::vector<Param> operandParams(const Operand &operand);

/// All parameters that the plan can contribute, in the table's order.
std::vector<Param> planParams();

/// All parameters of a batch in device memory, in the table's order.
std::vector<Param> batchParams();

/// States that one launch of the merge entry takes.
inline constexpr int maxMergeStates = 8;

/// All parameters of the states that a merge reads, in the table's order.
std::vector<Param> mergeParams();

/// All parameters that say where a writer's rows go, in the table's order.
std::vector<Param> placesParams();
/// All parameters of a writer, in the order of its parts, cache, scalars and places.
std::vector<Param> writerParams(const WriterInfo &writer);

/// The type of a parameter of that kernel; empty if the vocabulary has no such word for it.
std::optional<ParamType> paramType(const KernelInfo &kernel, std::string_view param);
std::optional<ParamType> paramType(const WriterInfo &writer, std::string_view param);

} // namespace mla

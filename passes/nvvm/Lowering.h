// What the pattern files of tile-to-nvvm share: how tile values become registers, and the pattern families.
#pragma once

#include "codegen/FragmentLayout.h"
#include "dialect/tile/Tile.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/CostModel.h"
#include "passes/nvvm/Emitter.h"

namespace mlac {

/// The block's dynamic shared memory.
inline constexpr llvm::StringLiteral kSharedSymbol = "mlac_shared";

/// Tile types to registers. Orders are those of runtime/Abi.h.
class TileTypeConverter : public mlir::TypeConverter {
public:
  explicit TileTypeConverter(mlir::MLIRContext *context);
};

/// Parameter names of a kernel, one a register of its arguments, in order.
llvm::SmallVector<std::string> parameterNames(mlir::tile::KernelOp kernel);

//===-- Views of converted values ----------------------------------------------------------------------===//

/// A ragged buffer with heads: query, output, log-sum-exp.
struct HeadsView {
  Value data, strideToken, strideHead;
  explicit HeadsView(ValueRange v) : data(v[0]), strideToken(v[1]), strideHead(v[2]) {}
  /// Byte address of element (token, head, 0).
  Value address(Emitter &e, Value token, Value head, int64_t elementBytes) const;
};

struct PagedView {
  Value data, stridePage, strideToken, table, tableStride, pageSize, magic, shift;
  explicit PagedView(ValueRange v)
      : data(v[0]), stridePage(v[1]), strideToken(v[2]), table(v[3]), tableStride(v[4]), pageSize(v[5]), magic(v[6]),
        shift(v[7]) {}
};

struct RaggedView {
  Value data, strideToken, indptr;
  explicit RaggedView(ValueRange v) : data(v[0]), strideToken(v[1]), indptr(v[2]) {}
};

/// Of a buffer whose records have scales apart: their rows, found as the records are.
struct ScaleRowsView {
  Value data, stridePage, strideToken;
  explicit ScaleRowsView(ValueRange v) : data(v[v.size() - 3]), stridePage(v[v.size() - 2]), strideToken(v[v.size() - 1]) {}
};

struct PlanView {
  Value queryIndptr, kvLen, workIndptr, work, merges, partialOut, partialLse;
  explicit PlanView(ValueRange v)
      : queryIndptr(v[0]), kvLen(v[1]), workIndptr(v[2]), work(v[3]), merges(v[4]), partialOut(v[5]), partialLse(v[6]) {}
};

struct BatchView {
  /// Arrays in device memory; the rest as in runtime/Abi.h.
  Value queryIndptr, kvLen, cacheIndptr;
  Value requests, mostRows, mostTokens, blocks, leastPiece, fixedPieces, items, slots, merges, pages;
  Value scratch, status;
  explicit BatchView(ValueRange v)
      : queryIndptr(v[0]), kvLen(v[1]), cacheIndptr(v[2]), requests(v[3]), mostRows(v[4]), mostTokens(v[5]), blocks(v[6]),
        leastPiece(v[7]), fixedPieces(v[8]), items(v[9]), slots(v[10]), merges(v[11]), pages(v[12]), scratch(v[13]),
        status(v[14]) {}
};

struct ItemView {
  /// Request; first packed row; tile range; partial slot or -1; first query token; packed rows and cached tokens of
  /// the request; KV head, and the first row of the request's keys and values (both of prefill); place in the plan's list,
  /// and the end of the block's items there.
  Value request, rowBegin, tileBegin, tileEnd, slot, queryBegin, rows, kvLen, head, kvBegin, index, last;
  explicit ItemView(ValueRange v)
      : request(v[0]), rowBegin(v[1]), tileBegin(v[2]), tileEnd(v[3]), slot(v[4]), queryBegin(v[5]), rows(v[6]),
        kvLen(v[7]), head(v[8]), kvBegin(v[9]), index(v[10]), last(v[11]) {}
  static constexpr int64_t kRegisters = 12;
  llvm::SmallVector<Value> pack() const {
    return {request, rowBegin, tileBegin, tileEnd, slot, queryBegin, rows, kvLen, head, kvBegin, index, last};
  }
};

/// The stream of tiles that a block copies: next item and last of the block; of the present item the request, the tile, the
/// end of its tiles and its cached tokens.
struct CursorView {
  Value next, last, request, tile, tileEnd, kvLen;
  explicit CursorView(ValueRange v) : next(v[0]), last(v[1]), request(v[2]), tile(v[3]), tileEnd(v[4]), kvLen(v[5]) {}
  static constexpr int64_t kRegisters = 6;
  llvm::SmallVector<Value> pack() const { return {next, last, request, tile, tileEnd, kvLen}; }
};

/// Work item `index` of the plan's list, of a block whose items end at `last`: the registers of an ItemView.
llvm::SmallVector<Value> loadItem(Emitter &e, const PlanView &plan, Value index, Value last);
llvm::SmallVector<Value> loadPrefillItem(Emitter &e, const PlanView &plan, Value index, Value last);

/// Work items [begin, end) of this block.
std::pair<Value, Value> blockItems(Emitter &e, const PlanView &plan);

/// Where a thread stands in its block: group, warp and thread within the group, as registers.
struct GroupView {
  Value group, warp, thread;
  GroupView(Emitter &e, mlir::tile::ScheduleAttr schedule)
      : group(e.divU(e.thread(), schedule.getThreadsPerGroup())),
        warp(e.remU(e.warp(), schedule.getWarpsPerGroup())),
        thread(e.remU(e.thread(), schedule.getThreadsPerGroup())) {}
};

//===-- What a pattern knows of its kernel -------------------------------------------------------------===//

mlir::tile::ScheduleAttr scheduleOf(mlir::Operation *op);
int64_t headsOf(mlir::Operation *op);
Element computeOf(mlir::Operation *op);

//===-- Shared pieces ----------------------------------------------------------------------------------===//

/// Address of row 0 of a stage (or plane) of an allocation.
Value stageAddress(Emitter &e, Value shared, mlir::tile::SharedType type, Value stage);

/// Address of row 0 of a stage of the group's own ring.
Value ringAddress(Emitter &e, Value ring, mlir::tile::SharedType type, mlir::tile::ScheduleAttr schedule,
                  const GroupView &view, Value stage);

/// Packed row (of 0 to rows - 1) that statistics register `index` belongs to.
Value statsRow(Emitter &e, int64_t index);

/// Two packed 16-bit values of one type as two of another.
Value convertPair(Emitter &e, Value pair, Element from, Element to);

/// Four stored bytes as two pairs of compute values, in the layout's pair order; as small as the conversion leaves them if
/// `lift` makes up for that.
std::pair<Value, Value> convertBytes(Emitter &e, Value word, Element storage, Element compute, const Lift &lift = {});

/// The scale of a group of columns as f32, of the token whose stored row lies in shared memory at `row`.
Value loadScale(Emitter &e, const mlir::mla::StoredPart &part, Value row, int64_t group);

/// Where packed row `row` of the item (a register) lies: query token of the request, head.
std::pair<Value, Value> tokenAndHead(Emitter &e, Value row, int64_t heads);

/// The f32 of one head in a list of head values.
Value loadHeadValue(Emitter &e, Value values, Value head);

/// Stores one f32 log-sum-exp (base 2) in its declared base.
void storeLse(Emitter &e, const HeadsView &lse, Value token, Value head, Value lse2, mlir::mla::LseBase base);

struct LoweringOptions {
  Target target;
  int ptx;
};

/// Emits GridLaunch or GridWait where the target has them.
void orderGrids(Emitter &e, Instr op, const LoweringOptions &options);

/// Accumulators times each row's factor, that of register i being factors[factorOf(i)]; skipped by warps all of whose factors
/// are 1.
llvm::SmallVector<Value> rescaled(Emitter &e, ValueRange accumulators, ValueRange factors,
                                  llvm::function_ref<int64_t(int64_t)> factorOf);

//===-- Pattern families, one file each ----------------------------------------------------------------===//

/// A pattern that multiplies in the kernel's compute type.
template <typename OpT>
struct ProductPattern : mlir::OpConversionPattern<OpT> {
  ProductPattern(TileTypeConverter &converter, mlir::MLIRContext *context, const LoweringOptions &options)
      : mlir::OpConversionPattern<OpT>(converter, context), options(options) {}

  /// The target's matrix instruction.
  mlir::FailureOr<Instr> productOf(OpT op) const {
    if (const MmaRow *mma = findMma(computeOf(op), options.target, options.ptx))
      return mma->op;
    return op.emitError() << "the target has no matrix instruction for these operands [target-mma]", mlir::failure();
  }

  LoweringOptions options;
};

void populateStructure(TileTypeConverter &, mlir::RewritePatternSet &, const LoweringOptions &);
void populateStream(TileTypeConverter &, mlir::RewritePatternSet &);
void populateCopy(TileTypeConverter &, mlir::RewritePatternSet &);
void populateQuery(TileTypeConverter &, mlir::RewritePatternSet &);
void populateScore(TileTypeConverter &, mlir::RewritePatternSet &, const LoweringOptions &);
void populateScoreMask(TileTypeConverter &, mlir::RewritePatternSet &);
void populateWeigh(TileTypeConverter &, mlir::RewritePatternSet &, const LoweringOptions &);
void populateSoftmax(TileTypeConverter &, mlir::RewritePatternSet &);
void populateResult(TileTypeConverter &, mlir::RewritePatternSet &);
void populateCombine(TileTypeConverter &, mlir::RewritePatternSet &, const LoweringOptions &);
void populateMerge(TileTypeConverter &, mlir::RewritePatternSet &);
void populatePlanner(TileTypeConverter &, mlir::RewritePatternSet &);
void populateCheckTable(TileTypeConverter &, mlir::RewritePatternSet &);
void populateWriter(TileTypeConverter &, mlir::RewritePatternSet &);

} // namespace mlac

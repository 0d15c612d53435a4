// What the pattern files of prefill share. A warp's rows stand on the matrix instruction's m side in blocks
// of 16: lane l holds rows g = l / 4 and g + 8 of each, and of every eight columns 2 c and 2 c + 1, c = l
// % 4.
#pragma once

#include "passes/nvvm/Lowering.h"

namespace mlac {

mlir::tile::PrefillScheduleAttr prefillOf(mlir::Operation *op);
/// Query heads that share the item's KV head.
int64_t headsPerKvOf(mlir::Operation *op);

/// Packed row of the item that statistics register `index` (of a block of 16: rows g and g + 8) belongs to,
/// before the item's first row is added.
Value warpRow(Emitter &e, mlir::tile::PrefillScheduleAttr schedule, int64_t index);

/// Where packed row `row` of an item lies: query token of the request, head of the kernel.
std::pair<Value, Value> tokenAndHead(Emitter &e, const ItemView &item, Value row, int64_t headsPerKv);

/// The order in which a register of stored keys contracts; also the query's, in shared memory. Prefill
/// converts e4m3 to bf16 by way of f16, which keeps NaN codes, and so in the order of `cvt` for both compute
/// types.
FragmentLayout prefillLayout(Element storage);

/// One register of stored values as one or two registers of compute pairs: of 16-bit storage one, of 8-bit
/// storage two.
llvm::SmallVector<Value> computePairs(Emitter &e, Value word, Element storage, Element compute);

void populatePrefillCopy(TileTypeConverter &, mlir::RewritePatternSet &);
void populatePrefillScore(TileTypeConverter &, mlir::RewritePatternSet &, const LoweringOptions &);
void populatePrefillSoftmax(TileTypeConverter &, mlir::RewritePatternSet &);
void populatePrefillWeigh(TileTypeConverter &, mlir::RewritePatternSet &, const LoweringOptions &);
void populatePrefillResult(TileTypeConverter &, mlir::RewritePatternSet &);

} // namespace mlac

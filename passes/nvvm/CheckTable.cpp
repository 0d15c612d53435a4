// Looking for page-table entries outside of the pool: a block a request, each thread every 128th of its slots.
#include "passes/nvvm/Loops.h"
#include "passes/nvvm/Lowering.h"

using namespace mlir;
using namespace mlac;

namespace {

constexpr int64_t kThreads = 128;
constexpr int64_t kNone = 0x7fffffff;

class CheckEmitter {
public:
  CheckEmitter(Emitter &e, tile::CheckTableOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor)
      : e(e), cache(adaptor.getSource()), batch(adaptor.getBatch()), plan(adaptor.getPlan()) {}

  void run() {
    Value request = e.call1(Instr::BlockId, {});
    Value length = ArrayView{plan.kvLen, e.i32()}.load(e, request);
    // In 64 bits: a length close to 2^31 plus a page would leave 32.
    Value pageSize = e.widen(cache.pageSize);
    Value used = e.narrow(arith::DivSIOp::create(e.builder, e.loc, e.add(e.widen(length), e.add(pageSize, -1)), pageSize));
    Value row = e.offset(cache.table, e.mul(e.mul(e.widen(request), cache.tableStride), 4));
    ArrayView table{row, e.i32()};
    Value first = firstOfBlock(firstOfThread(table, used));
    e.when(e.equal(e.thread(), 0), [&] { report(request, table, first); });
  }

private:
  Value isBad(Value page) {
    return e.select(e.less(page, e.i32(0)), e.boolean(true), e.select(e.less(page, batch.pages), e.boolean(false),
                                                                   e.boolean(true)));
  }

  Value firstOfThread(const ArrayView &table, Value used) {
    return forEach(
               e, e.thread(), used, {e.i32(kNone)},
               [&](Value slot, ValueRange first) -> Values {
                 return {e.select(isBad(table.load(e, slot)), e.minS(slot, first[0]), first[0])};
               },
               kThreads)
        .front();
  }

  Value firstOfBlock(Value own) {
    ArrayView all{LLVM::AddressOfOp::create(e.builder, e.loc, e.ptr(kShared), kSharedSymbol), e.i32()};
    all.store(e, own, e.thread());
    e.call(Instr::BlockBarrier, e.i32(0));
    return forEach(e, e.i32(0), e.i32(kThreads), {e.i32(kNone)}, [&](Value i, ValueRange first) -> Values {
             return {e.minS(all.load(e, i), first[0])};
           }).front();
  }

  void report(Value request, const ArrayView &table, Value first) {
    Value none = e.equal(first, kNone);
    Values found = e.choose(
        none, [&]() -> Values { return {e.i32(-1), e.i32(0)}; },
        [&]() -> Values { return {first, table.load(e, first)}; });
    e.storeVector(found, e.offset(batch.scratch, e.mul(e.widen(request), 8)));
  }

  Emitter &e;
  PagedView cache;
  BatchView batch;
  PlanView plan;
};

struct LowerCheckTable : OpConversionPattern<tile::CheckTableOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::CheckTableOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    CheckEmitter(e, adaptor).run();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlac::populateCheckTable(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerCheckTable>(converter, patterns.getContext());
}

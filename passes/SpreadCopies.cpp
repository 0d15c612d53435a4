// mlac-spread-copies: asynchronous copies between matrix products.
//
// A burst of copies fills the load-store unit's queue, and the warp that issues it stands still. Handed out
// a few at a time between the products that follow, they cost little more than the slots that they take.
#include "passes/Passes.h"

#include "codegen/Instructions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlac {
#define GEN_PASS_DEF_SPREADCOPIES
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;
using namespace mlac;

namespace {

/// What an op is to the copies around it.
enum class Kind { Other, Copy, Commit, Product, Shuffle, Copies, Fence };

Kind kindOf(Operation &op);

/// An op with regions: a fence if it holds one or ends a batch, copies if it starts some.
Kind kindOfNested(Operation &op) {
  Kind all = Kind::Other;
  for (Region &region : op.getRegions())
    region.walk([&](Operation *nested) {
      if (nested->getNumRegions() > 0)
        return;
      Kind kind = kindOf(*nested);
      if (kind == Kind::Fence || kind == Kind::Commit)
        all = Kind::Fence;
      else if (kind == Kind::Copy && all == Kind::Other)
        all = Kind::Copies;
    });
  return all;
}

Kind kindOf(Operation &op) {
  if (op.getNumRegions() > 0)
    return kindOfNested(op);
  auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
  if (!call)
    return Kind::Other;
  const Instruction *row = findInstruction({call.getIntrin().data(), call.getIntrin().size()});
  if (!row)
    return Kind::Other;
  switch (row->op) {
  case Instr::CopyAsync16:
  case Instr::CopyAsync8:
  case Instr::CopyAsync4:
    return Kind::Copy;
  case Instr::CopyCommit:
    return Kind::Commit;
  case Instr::ShuffleIndex:
    return Kind::Shuffle;
  case Instr::CopyWait:
  case Instr::BlockBarrier:
  case Instr::GroupBarrier:
  case Instr::WarpBarrier:
    return Kind::Fence;
  default:
    return llvm::any_of(allMma(), [&](const MmaRow &mma) { return mma.op == row->op; }) ? Kind::Product
                                                                                        : Kind::Other;
  }
}

/// A batch of copies that one commit closes, and the products after it that no barrier divides from it.
struct Batch {
  SmallVector<Operation *> copies, products;
  Operation *commit = nullptr;
  Operation *start = nullptr, *end = nullptr; ///< the fences or batches around it, if any
};

SmallVector<Batch> batchesOf(Block &block) {
  SmallVector<Batch> batches;
  Batch open;
  auto close = [&](Operation *end, Operation *nextStart) {
    open.end = end;
    if (open.commit && !open.products.empty())
      batches.push_back(open);
    open = {};
    open.start = nextStart;
  };
  for (Operation &op : block) {
    Kind kind = kindOf(op);
    bool another = kind == Kind::Copy || kind == Kind::Copies || kind == Kind::Commit;
    if (kind == Kind::Fence || (open.commit && another))
      close(&op, kind == Kind::Fence ? &op : open.commit);
    if (kind == Kind::Copy)
      open.copies.push_back(&op);
    else if (kind == Kind::Commit)
      open.commit = &op;
    else if (kind == Kind::Product && open.commit)
      open.products.push_back(&op);
  }
  close(nullptr, nullptr);
  return batches;
}

/// The first op that uses a result, if all that do are in the same block; none if nobody does.
Operation *firstUser(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    if (user->getBlock() != op->getBlock())
      return nullptr;
    if (!first || user->isBeforeInBlock(first))
      first = user;
  }
  return first;
}

/// Copies in a row: ptxas puts three dead instructions before each run of them that follows another access of
/// shared memory. 2 / 4 / 8 / all took 111.0 / 110.6 / 113.4 / 127.5 us at 16 heads on an H200.
constexpr size_t kBurst = 4;

/// Moves the copies down in bursts, evenly over the products and in order.
void spread(const Batch &batch) {
  size_t copies = batch.copies.size(), products = batch.products.size();
  Operation *last = nullptr;
  for (size_t i = 0; i < copies; ++i) {
    Operation *at = i % kBurst ? last : batch.products[i * products / copies];
    batch.copies[i]->moveAfter(last && at->isBeforeInBlock(last) ? last : at);
    last = batch.copies[i];
  }
  if (last)
    batch.commit->moveAfter(last);
}

/// Values go down to their first use, addresses to their copies, so that they do not take registers in the
/// meantime. Those of arithmetic may pass a barrier on the way, those of a shuffle may not.
void sinkValues(const Batch &batch) {
  for (Operation *op = batch.commit; op && op != batch.start;) {
    Operation *before = op->getPrevNode(), *user = firstUser(op);
    if (user && op->getNumRegions() == 0) {
      bool within = !batch.end || user->isBeforeInBlock(batch.end);
      if (isMemoryEffectFree(op) || (kindOf(*op) == Kind::Shuffle && within))
        op->moveBefore(user);
    }
    op = before;
  }
}

struct SpreadCopies : mlac::impl::SpreadCopiesBase<SpreadCopies> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      // Prefill has no registers to spare, and was not measured with its copies spread.
      if (!function->hasAttr("prefill_schedule"))
        function.walk(spreadIn);
  }

  static void spreadIn(Block *block) {
    for (const Batch &batch : batchesOf(*block)) {
      spread(batch);
      sinkValues(batch);
    }
  }
};

} // namespace

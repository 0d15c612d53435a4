// mlac-check-target: every instruction against the target's table, before LLVM sees it.
#include "passes/Passes.h"

#include "codegen/Instructions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/TargetOptions.h"

namespace mlac {
#define GEN_PASS_DEF_CHECKTARGET
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;
using namespace mlac;

namespace {

struct CheckTarget : mlac::impl::CheckTargetBase<CheckTarget> {
  using CheckTargetBase::CheckTargetBase;

  void runOnOperation() override {
    FailureOr<TargetChoice> choice = resolveTarget(getOperation().getLoc(), target, "", ptx);
    if (failed(choice))
      return signalPassFailure();
    getOperation().walk([&](Operation *op) {
      if (failed(check(op, *choice)))
        signalPassFailure();
    });
  }

  LogicalResult check(Operation *op, const TargetChoice &choice) {
    // The lowering uses table rows only; a dialect op of NVVM has no row and could abort instruction selection.
    if (isa_and_nonnull<NVVM::NVVMDialect>(op->getDialect()))
      return unknown(op, op->getName().getStringRef());
    auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
    if (!call)
      return success();
    StringRef name = call.getIntrin();
    const Instruction *row = findInstruction({name.data(), name.size()});
    if (!row)
      return unknown(op, name);
    return row->legalOn(choice.target, choice.ptx) ? success() : lacking(op, *row, choice);
  }

  LogicalResult unknown(Operation *op, StringRef name) {
    return op->emitError() << "'" << name << "' is not in the instruction table, so no target is known to have it "
                           << "[target-unknown]";
  }

  LogicalResult lacking(Operation *op, const Instruction &row, const TargetChoice &choice) {
    InFlightDiagnostic diag = op->emitError()
                              << StringRef(choice.target.name) << " at PTX " << formatPtxVersion(choice.ptx)
                              << " does not have " << StringRef(row.id) << " (" << StringRef(row.intrinsic)
                              << ") [target-instruction]";
    std::string having;
    for (const Target &other : Target::all())
      if (row.legalOn(other, std::max(other.minPtx, row.minPtx)))
        having += " " + std::string(other.name);
    diag.attachNote(op->getLoc()) << "targets that have it:" << having
                                  << (row.minPtx ? ", from PTX " + formatPtxVersion(row.minPtx) : "");
    return diag;
  }
};

} // namespace

// tile-schedule-prefill: tile sizes, warps and stages of prefill kernels, best first by the cost model.
#include "passes/Passes.h"

#include "passes/PrefillCost.h"
#include "passes/ScheduleFit.h"

namespace mlac {
#define GEN_PASS_DEF_SCHEDULEPREFILL
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;
using namespace mlac;

namespace {

struct Candidate {
  tile::PrefillScheduleAttr schedule;
  int64_t sharedBytes, registers;
  double cost; // cycles of one SM a query row and cached token

  ScheduleNeed need() const { return {schedule, sharedBytes, registers, schedule.getThreads()}; }
};

struct SchedulePrefill : mlac::impl::SchedulePrefillBase<SchedulePrefill> {
  using SchedulePrefillBase::SchedulePrefillBase;

  void runOnOperation() override {
    FailureOr<TargetChoice> resolved = resolveTarget(getOperation().getLoc(), target, profile, ptx);
    if (failed(resolved))
      return signalPassFailure();
    choice = *resolved;
    if (sharedLimit > 0)
      choice.profile.sharedPerBlock = sharedLimit;
    for (auto kernel : getOperation().getOps<tile::KernelOp>())
      if (kernel.isPrefill() && !kernel.getOps<tile::ItemsOp>().empty() && failed(schedule(kernel)))
        signalPassFailure();
  }

  /// All schedules that the hints and the verifier allow, fitting or not.
  SmallVector<Candidate> enumerate(tile::KernelOp kernel, const PrefillShape &shape) {
    DictionaryAttr hints = kernel.getHintsAttr();
    SmallVector<Candidate> result;
    for (int64_t rows : choices(hints, "rows", {128, 64}))
      for (int64_t tokens : choices(hints, "tokens", {64, 32}))
        for (int64_t stages : choices(hints, "stages", {1, 2}))
          for (int64_t rowWarps : choices(hints, "row_warps", {4, 8, 2}))
            if (tile::PrefillScheduleAttr::problemOf(rows, tokens, stages, rowWarps).empty())
              result.push_back(describe(
                  shape, tile::PrefillScheduleAttr::get(&getContext(), rows, tokens, stages, rowWarps)));
    return result;
  }

  Candidate describe(const PrefillShape &shape, tile::PrefillScheduleAttr attr) const {
    double cost =
        costOfPrefillTile(shape, attr, choice.profile).cycles() / double(attr.getRows() * attr.getTokens());
    return {attr, layoutPrefill(shape, attr).bytes, estimateRegisters(shape, attr), cost};
  }

  LogicalResult schedule(tile::KernelOp kernel) {
    PrefillShape shape = prefillShapeOf(kernel);
    if (failed(checkInstructions(kernel, {shape.key.getElementType(), shape.value.getElementType()}, choice)))
      return failure();
    warnOfHints(kernel);
    SmallVector<Candidate> all = enumerate(kernel, shape), fitting;
    llvm::copy_if(all, std::back_inserter(fitting), [&](const Candidate &c) { return fits(c.need(), choice.profile); });
    if (fitting.empty())
      return reportNoFit(kernel, all);
    SmallVector<ScheduleNeed> ranked = rankedByCost(ArrayRef(fitting));
    if (candidates > 0)
      return listCandidates(kernel, ranked, candidates), success();
    const ScheduleNeed &best = tunedOrBest(kernel, ranked, choice.profile);
    auto attr = cast<tile::PrefillScheduleAttr>(best.schedule);
    apply(kernel, attr);
    remarkOnChoice(kernel, best, costOfPrefillTile(shape, attr, choice.profile), attr.getTokens(),
                   choice.profile);
    return success();
  }

  static void warnOfHints(tile::KernelOp kernel) {
    DictionaryAttr hints = kernel.getHintsAttr();
    for (StringRef name : {"groups", "token_warps"})
      if (hints && hints.contains(name))
        kernel.emitWarning() << "the hint " << name
                             << " says nothing to a prefill kernel; rows, tokens, stages and "
                                "row_warps do [hint-family]";
  }

  LogicalResult reportNoFit(tile::KernelOp kernel, ArrayRef<Candidate> all) {
    if (all.empty())
      return kernel.emitError()
             << "no schedule satisfies the kernel's hints; rows is 16 to 256, tokens 16 to 128, both "
                "powers of two, stages 1 to 4, and row_warps rows / 16 or rows / 32 [schedule-fit]";
    const Candidate &least = *llvm::min_element(
        all, [](const Candidate &a, const Candidate &b) { return a.sharedBytes < b.sharedBytes; });
    return mlac::reportNoFit(kernel, least.need(), choice.profile);
  }

  void apply(tile::KernelOp kernel, tile::PrefillScheduleAttr attr) {
    kernel.setPrefillScheduleAttr(attr);
    closeSizes(kernel, attr.getRows(), attr.getTokens());
  }

  TargetChoice choice;
};

} // namespace

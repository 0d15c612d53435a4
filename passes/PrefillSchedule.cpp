// tile-schedule-prefill: tile sizes, warps and stages of prefill kernels, best first by the cost model.
#include "passes/Passes.h"

#include "passes/PrefillCost.h"
#include "passes/TargetOptions.h"

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
};

/// Values that a hint leaves open.
SmallVector<int64_t> choices(DictionaryAttr hints, StringRef name, ArrayRef<int64_t> open) {
  if (hints)
    if (auto fixed = hints.getAs<IntegerAttr>(name))
      return {fixed.getInt()};
  return SmallVector<int64_t>(open);
}

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

  int64_t registersOf(const Candidate &candidate) const {
    const Profile &limits = choice.profile;
    return std::min(limits.registersPerThread, limits.registersPerSM / candidate.schedule.getThreads());
  }

  bool fits(const Candidate &candidate) const {
    return candidate.sharedBytes <= choice.profile.sharedPerBlock &&
           candidate.registers <= registersOf(candidate) &&
           candidate.schedule.getThreads() <= choice.profile.threadsPerBlock;
  }

  LogicalResult schedule(tile::KernelOp kernel) {
    PrefillShape shape = prefillShapeOf(kernel);
    if (failed(checkInstructions(kernel, shape)))
      return failure();
    warnOfHints(kernel);
    SmallVector<Candidate> all = enumerate(kernel, shape), fitting;
    llvm::copy_if(all, std::back_inserter(fitting), [&](const Candidate &c) { return fits(c); });
    if (fitting.empty())
      return reportNoFit(kernel, all);
    const Candidate &best =
        *llvm::min_element(fitting, [](const Candidate &a, const Candidate &b) { return a.cost < b.cost; });
    apply(kernel, best.schedule);
    TileCost cost = costOfPrefillTile(shape, best.schedule, choice.profile);
    kernel.emitRemark() << "schedule of " << kernel.getSymName() << ": " << best.schedule << ", "
                        << best.sharedBytes << " of " << choice.profile.sharedPerBlock
                        << " bytes of shared memory, bound by " << cost.bound() << " ("
                        << int64_t(cost.cycles()) << " cycles a tile of " << best.schedule.getTokens()
                        << " tokens) on " << StringRef(choice.profile.name) << " [schedule-choice]";
    return success();
  }

  /// The declared types need a conversion and a matrix instruction that the target has.
  LogicalResult checkInstructions(tile::KernelOp kernel, const PrefillShape &shape) {
    for (mla::BufferType buffer : {shape.key, shape.value})
      if (!findConversion(elementOf(buffer.getElementType()), elementOf(shape.compute)))
        return kernel.emitError() << "no conversion from " << buffer.getElementType() << " to "
                                  << shape.compute << " [target-conversion]";
    if (!findMma(elementOf(shape.compute), choice.target, choice.ptx))
      return kernel.emitError() << StringRef(choice.target.name) << " has no matrix instruction for "
                                << shape.compute << " [target-mma]";
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
    InFlightDiagnostic diag = kernel.emitError()
                              << "no schedule fits " << StringRef(choice.profile.name) << ": the smallest, "
                              << least.schedule << ", needs " << least.sharedBytes
                              << " bytes of shared memory and about " << least.registers
                              << " registers a thread; available are " << choice.profile.sharedPerBlock
                              << " bytes and " << registersOf(least) << " registers [schedule-fit]";
    diag.attachNote(kernel.getLoc())
        << "fewer rows, tokens or stages need less: remove or lower the kernel's hints";
    return failure();
  }

  /// Closes the open sizes: rows and tokens.
  void apply(tile::KernelOp kernel, tile::PrefillScheduleAttr attr) {
    kernel.setPrefillScheduleAttr(attr);
    auto close = [&](Value value, bool ofTokens) {
      auto type = dyn_cast<tile::TileType>(value.getType());
      if (!type)
        return;
      SmallVector<int64_t> shape(type.getShape());
      if (ShapedType::isDynamic(shape[0]))
        shape[0] = ofTokens ? attr.getTokens() : attr.getRows();
      if (ShapedType::isDynamic(shape[1]))
        shape[1] = attr.getTokens();
      value.setType(type.withShape(shape));
    };
    kernel.walk([&](Operation *op) {
      for (Value result : op->getResults())
        close(result, isa<tile::LoadOp>(op));
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          close(argument, false);
    });
  }

  TargetChoice choice;
};

} // namespace

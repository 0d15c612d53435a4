// tile-schedule: tile sizes, warps and stages that fit the profile, best first by the cost model.
#include "passes/Passes.h"

#include "passes/CostModel.h"
#include "passes/TargetOptions.h"
#include "llvm/ADT/SetVector.h"

namespace mlac {
#define GEN_PASS_DEF_SCHEDULE
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;
using namespace mlac;

namespace {

struct Candidate {
  tile::ScheduleAttr schedule;
  int64_t sharedBytes, registers;
  bool merges; // there is room for the groups' merge
  double cost; // cycles of one SM for every cached token, all row tiles of a request included
};

/// Values that a hint leaves open.
SmallVector<int64_t> choices(DictionaryAttr hints, StringRef name, ArrayRef<int64_t> open) {
  if (hints)
    if (auto fixed = hints.getAs<IntegerAttr>(name))
      return {fixed.getInt()};
  return SmallVector<int64_t>(open);
}

struct Schedule : mlac::impl::ScheduleBase<Schedule> {
  using ScheduleBase::ScheduleBase;

  void runOnOperation() override {
    FailureOr<TargetChoice> choice = resolveTarget(getOperation().getLoc(), target, profile, ptx);
    if (failed(choice))
      return signalPassFailure();
    limits = choice->profile;
    if (sharedLimit > 0)
      limits.sharedPerBlock = sharedLimit;
    instructionTarget = choice->target;
    ptxVersion = choice->ptx;
    for (auto kernel : getOperation().getOps<tile::KernelOp>())
      if (!kernel.isPrefill() && !kernel.getOps<tile::ItemsOp>().empty() && failed(schedule(kernel)))
        signalPassFailure();
  }

  /// All schedules that the hints and the verifier allow, fitting or not.
  SmallVector<Candidate> enumerate(tile::KernelOp kernel, const KernelShape &shape) {
    DictionaryAttr hints = kernel.getHintsAttr();
    int64_t queryTokens = choices(hints, "query_tokens", {1}).front();
    int64_t packed = std::max<int64_t>(shape.heads * queryTokens, 1);
    int64_t cover = std::clamp<int64_t>(llvm::PowerOf2Ceil(packed), 8, 32);
    SmallVector<Candidate> result;
    for (int64_t rows : choices(hints, "rows", {cover, std::max<int64_t>(cover / 2, 8)}))
      for (int64_t tokens : choices(hints, "tokens", {32, 16, 64}))
        for (int64_t stages : choices(hints, "stages", {6, 5, 4, 3, 2}))
          for (int64_t groups : choices(hints, "groups", {8, 4, 2, 1}))
            for (int64_t tokenWarps : choices(hints, "token_warps", {4, 2, 1}))
              for (int64_t rowWarps : choices(hints, "row_warps", {8, 4, 2, 1}))
                if (Candidate c = consider(shape, {rows, tokens, stages, groups, tokenWarps, rowWarps}, packed); c.schedule)
                  result.push_back(c);
    return result;
  }

  Candidate consider(const KernelShape &shape, std::array<int64_t, 6> n, int64_t packed) {
    if (!tile::ScheduleAttr::problemOf(n[0], n[1], n[2], n[3], n[4], n[5]).empty())
      return {};
    auto attr = tile::ScheduleAttr::get(&getContext(), n[0], n[1], n[2], n[3], n[4], n[5]);
    int64_t rows = n[0];
    int64_t rowTiles = (packed + rows - 1) / rows;
    TileCost tile = costOfTile(shape, attr, limits);
    // Where memory decides anyway, the schedule that asks least of the SM.
    double cost = (tile.cycles() + 0.1 * tile.issue) * double(rowTiles) / double(attr.getBlockTokens());
    SharedLayout layout = layoutShared(shape, attr);
    bool merges = layout.query.type.getBytes() >= leastMergeBytes(attr);
    return {attr, layout.bytes, estimateRegisters(shape, attr), merges, cost};
  }

  bool fits(const Candidate &candidate) const {
    int64_t threads = candidate.schedule.getThreads();
    int64_t registers = std::min(limits.registersPerThread, limits.registersPerSM / threads);
    return candidate.merges && candidate.sharedBytes <= limits.sharedPerBlock && candidate.registers <= registers &&
           threads <= limits.threadsPerBlock;
  }

  LogicalResult schedule(tile::KernelOp kernel) {
    KernelShape shape = shapeOf(kernel);
    if (failed(checkInstructions(kernel, shape)))
      return failure();
    SmallVector<Candidate> all = enumerate(kernel, shape), fitting;
    llvm::copy_if(all, std::back_inserter(fitting), [&](const Candidate &c) { return fits(c); });
    if (fitting.empty())
      return reportNoFit(kernel, all);
    SmallVector<const Candidate *> ranked;
    for (const Candidate &candidate : fitting)
      ranked.push_back(&candidate);
    llvm::sort(ranked, [](auto *a, auto *b) { return std::tie(a->cost, a) < std::tie(b->cost, b); });
    if (candidates > 0)
      return list(kernel, ranked), success();
    const Candidate &best = choose(kernel, ranked);
    apply(kernel, best.schedule);
    TileCost cost = costOfTile(shape, best.schedule, limits);
    kernel.emitRemark() << "schedule of " << kernel.getSymName() << ": " << best.schedule << ", " << best.sharedBytes
                        << " of " << limits.sharedPerBlock << " bytes of shared memory, bound by " << cost.bound()
                        << " (" << int64_t(cost.cycles()) << " cycles a tile of " << best.schedule.getBlockTokens()
                        << " tokens) on " << StringRef(limits.name) << " [schedule-choice]";
    return success();
  }

  void list(tile::KernelOp kernel, ArrayRef<const Candidate *> ranked) {
    llvm::SetVector<Attribute> best; // equal choices list a schedule twice
    for (const Candidate *candidate : ranked)
      if (int64_t(best.size()) < candidates)
        best.insert(candidate->schedule);
    kernel->setAttr("tile.candidates", ArrayAttr::get(&getContext(), best.getArrayRef()));
  }

  /// The schedule that was tuned for this kernel, or the model's first.
  const Candidate &choose(tile::KernelOp kernel, ArrayRef<const Candidate *> ranked) {
    auto tuned = dyn_cast_or_null<tile::ScheduleAttr>(kernel->removeAttr("tile.tuned"));
    if (!tuned)
      return *ranked.front();
    auto *found = llvm::find_if(ranked, [&](const Candidate *candidate) { return candidate->schedule == tuned; });
    if (found != ranked.end())
      return **found;
    kernel.emitWarning() << "the tuned schedule of " << kernel.getSymName() << ", " << tuned << ", is not among those that fit "
                         << StringRef(limits.name) << "; the cost model chooses [schedule-tuned]";
    return *ranked.front();
  }

  /// The declared types need a conversion and a matrix instruction that the target has.
  LogicalResult checkInstructions(tile::KernelOp kernel, const KernelShape &shape) {
    Element storage = elementOf(shape.cache.getElementType()), compute = elementOf(shape.compute);
    if (!findConversion(storage, compute))
      return kernel.emitError() << "no conversion from " << shape.cache.getElementType() << " to " << shape.compute
                                << " [target-conversion]";
    if (!findMma(compute, instructionTarget, ptxVersion))
      return kernel.emitError() << StringRef(instructionTarget.name) << " has no matrix instruction for "
                                << shape.compute << " [target-mma]";
    return success();
  }

  LogicalResult reportNoFit(tile::KernelOp kernel, ArrayRef<Candidate> all) {
    if (all.empty())
      return kernel.emitError() << "no schedule satisfies the kernel's hints; rows is 8, 16, 32 or 64, tokens a power "
                                   "of two from 16, stages 2 to 8 [schedule-fit]";
    const Candidate &least = *llvm::min_element(
        all, [](const Candidate &a, const Candidate &b) { return a.sharedBytes < b.sharedBytes; });
    InFlightDiagnostic diag =
        kernel.emitError() << "no schedule fits " << StringRef(limits.name) << ": the smallest, " << least.schedule
                           << ", needs " << least.sharedBytes << " bytes of shared memory and about " << least.registers
                           << " registers a thread; available are " << limits.sharedPerBlock << " bytes and "
                           << std::min(limits.registersPerThread, limits.registersPerSM / least.schedule.getThreads())
                           << " registers [schedule-fit]";
    diag.attachNote(kernel.getLoc()) << "fewer rows, tokens or stages need less: remove or lower the kernel's hints";
    return failure();
  }

  /// Closes the open sizes: rows and tokens.
  void apply(tile::KernelOp kernel, tile::ScheduleAttr attr) {
    kernel.setScheduleAttr(attr);
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
        close(result, isa<tile::LoadOp, tile::SliceOp>(op));
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          close(argument, false);
    });
    std::string combine = (kernel.getSymName() + "_combine").str();
    if (auto other = getOperation().lookupSymbol<tile::KernelOp>(combine))
      other.walk([&](tile::CombineOp op) { op.setRows(attr.getRows()); });
  }

  Profile limits;
  Target instructionTarget;
  int ptxVersion = 0;
};

} // namespace

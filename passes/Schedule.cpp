// tile-schedule: tile sizes, warps and stages that fit the profile, best first by the cost model.
#include "passes/Passes.h"

#include "passes/ScheduleFit.h"

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

  ScheduleNeed need() const { return {schedule, sharedBytes, registers, schedule.getThreads()}; }
};

struct Schedule : mlac::impl::ScheduleBase<Schedule> {
  using ScheduleBase::ScheduleBase;

  void runOnOperation() override {
    FailureOr<TargetChoice> resolved = resolveTarget(getOperation().getLoc(), target, profile, ptx);
    if (failed(resolved))
      return signalPassFailure();
    choice = *resolved;
    if (sharedLimit > 0)
      choice.profile.sharedPerBlock = sharedLimit;
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
    TileCost tile = costOfTile(shape, attr, choice.profile);
    // Where memory decides anyway, the schedule that asks least of the SM; and the fewest blocks, whose pieces are merged in
    // DRAM, and groups, whose sums are merged at an item's end.
    double blocks = double(residentBlocks(shape, attr, choice.profile));
    double ends = 1 + 0.02 * (blocks - 1) + 0.01 * double(llvm::Log2_64(attr.getGroups()));
    double cost = ends * (tile.cycles() + 0.05 * (tile.issue + tile.shared)) * double(rowTiles) / double(attr.getBlockTokens());
    SharedLayout layout = layoutShared(shape, attr);
    bool merges = layout.query.type.getBytes() >= leastMergeBytes(attr);
    return {attr, layout.bytes, estimateRegisters(shape, attr), merges, cost};
  }

  LogicalResult schedule(tile::KernelOp kernel) {
    KernelShape shape = shapeOf(kernel);
    SmallVector<Type> stored;
    for (const mla::StoredPart &part : mla::partsOf(shape.cache.getElementType(), shape.rowWidth()))
      stored.push_back(part.element);
    if (failed(checkInstructions(kernel, stored, choice)))
      return failure();
    SmallVector<Candidate> all = enumerate(kernel, shape), fitting;
    llvm::copy_if(all, std::back_inserter(fitting),
                  [&](const Candidate &c) { return c.merges && fits(c.need(), choice.profile); });
    if (fitting.empty())
      return reportNoFit(kernel, all);
    SmallVector<ScheduleNeed> ranked = rankedByCost(ArrayRef(fitting));
    if (candidates > 0)
      return listCandidates(kernel, ranked, candidates), success();
    const ScheduleNeed &best = tunedOrBest(kernel, ranked, choice.profile);
    auto attr = cast<tile::ScheduleAttr>(best.schedule);
    apply(kernel, attr);
    remarkOnChoice(kernel, best, costOfTile(shape, attr, choice.profile), attr.getBlockTokens(),
                   choice.profile);
    return success();
  }

  LogicalResult reportNoFit(tile::KernelOp kernel, ArrayRef<Candidate> all) {
    if (all.empty())
      return kernel.emitError() << "no schedule satisfies the kernel's hints; rows is 8, 16, 32 or 64, tokens a power "
                                   "of two from 16, stages 2 to 8 [schedule-fit]";
    const Candidate &least = *llvm::min_element(
        all, [](const Candidate &a, const Candidate &b) { return a.sharedBytes < b.sharedBytes; });
    return mlac::reportNoFit(kernel, least.need(), choice.profile);
  }

  void apply(tile::KernelOp kernel, tile::ScheduleAttr attr) {
    kernel.setScheduleAttr(attr);
    closeSizes(kernel, attr.getRows(), attr.getTokens());
    std::string combine = (kernel.getSymName() + "_combine").str();
    if (auto other = getOperation().lookupSymbol<tile::KernelOp>(combine))
      other.walk([&](tile::CombineOp op) { op.setRows(attr.getRows()); });
  }

  TargetChoice choice;
};

} // namespace

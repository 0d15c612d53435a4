// Hints, limits and messages of the schedulers.
#include "passes/ScheduleFit.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace mlac {

SmallVector<int64_t> choices(DictionaryAttr hints, StringRef name, ArrayRef<int64_t> open) {
  if (hints)
    if (auto fixed = hints.getAs<IntegerAttr>(name))
      return {fixed.getInt()};
  return SmallVector<int64_t>(open);
}

int64_t mostRegisters(const Profile &limits, int64_t threads) {
  return std::min(limits.registersPerThread, limits.registersPerSM / threads);
}

bool fits(const ScheduleNeed &need, const Profile &limits) {
  return need.sharedBytes <= limits.sharedPerBlock && need.registers <= mostRegisters(limits, need.threads) &&
         need.threads <= limits.threadsPerBlock;
}

LogicalResult checkInstructions(tile::KernelOp kernel, ArrayRef<Type> stored, const TargetChoice &choice) {
  Type compute = kernel.getCompute();
  for (Type storage : stored)
    if (!findConversion(elementOf(storage), elementOf(compute)))
      return kernel.emitError() << "no conversion from " << storage << " to " << compute << " [target-conversion]";
  if (!findMma(elementOf(compute), choice.target, choice.ptx))
    return kernel.emitError() << StringRef(choice.target.name) << " has no matrix instruction for " << compute
                              << " [target-mma]";
  return success();
}

void listCandidates(tile::KernelOp kernel, ArrayRef<ScheduleNeed> ranked, int64_t most) {
  llvm::SetVector<Attribute> best; // equal choices list a schedule twice
  for (const ScheduleNeed &need : ranked)
    if (int64_t(best.size()) < most)
      best.insert(need.schedule);
  kernel->setAttr("tile.candidates", ArrayAttr::get(kernel.getContext(), best.getArrayRef()));
}

const ScheduleNeed &tunedOrBest(tile::KernelOp kernel, ArrayRef<ScheduleNeed> ranked, const Profile &limits) {
  Attribute tuned = kernel->removeAttr("tile.tuned");
  if (!tuned)
    return ranked.front();
  auto *found = llvm::find_if(ranked, [&](const ScheduleNeed &need) { return need.schedule == tuned; });
  if (found != ranked.end())
    return *found;
  kernel.emitWarning() << "the tuned schedule of " << kernel.getSymName() << ", " << tuned
                       << ", is not among those that fit " << StringRef(limits.name)
                       << "; the cost model chooses [schedule-tuned]";
  return ranked.front();
}

LogicalResult reportNoFit(tile::KernelOp kernel, const ScheduleNeed &least, const Profile &limits) {
  InFlightDiagnostic diag = kernel.emitError()
                            << "no schedule fits " << StringRef(limits.name) << ": the smallest, " << least.schedule
                            << ", needs " << least.sharedBytes << " bytes of shared memory and about "
                            << least.registers << " registers a thread; available are " << limits.sharedPerBlock
                            << " bytes and " << mostRegisters(limits, least.threads) << " registers [schedule-fit]";
  diag.attachNote(kernel.getLoc()) << "fewer rows, tokens or stages need less: remove or lower the kernel's hints";
  return failure();
}

void remarkOnChoice(tile::KernelOp kernel, const ScheduleNeed &chosen, const TileCost &cost, int64_t tileTokens,
                    const Profile &limits) {
  kernel.emitRemark() << "schedule of " << kernel.getSymName() << ": " << chosen.schedule << ", " << chosen.sharedBytes
                      << " of " << limits.sharedPerBlock << " bytes of shared memory, bound by " << cost.bound() << " ("
                      << int64_t(cost.cycles()) << " cycles a tile of " << tileTokens << " tokens) on "
                      << StringRef(limits.name) << " [schedule-choice]";
}

void closeSizes(tile::KernelOp kernel, int64_t rows, int64_t tokens) {
  auto close = [&](Value value, bool ofTokens) {
    auto type = dyn_cast<tile::TileType>(value.getType());
    if (!type)
      return;
    SmallVector<int64_t> shape(type.getShape());
    if (ShapedType::isDynamic(shape[0]))
      shape[0] = ofTokens ? tokens : rows;
    if (ShapedType::isDynamic(shape[1]))
      shape[1] = tokens;
    value.setType(type.withShape(shape));
  };
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      close(result, isa<tile::LoadOp, tile::SliceOp>(op));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        close(argument, false);
  });
}

} // namespace mlac

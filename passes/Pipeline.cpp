// tile-pipeline: shared memory, asynchronous copies, stages and barriers.
#include "passes/Passes.h"

#include "passes/SharedLayout.h"

namespace mlac {
#define GEN_PASS_DEF_PIPELINE
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;
using namespace mlac;

namespace {

/// The ops of a kernel as values, found once.
struct Source {
  tile::ItemsOp items;
  tile::QueryOp query;
  tile::LoadOp load;
  tile::ScaleOp scale;
  tile::MaskOp mask;
  tile::FinishOp finish;

  explicit Source(tile::KernelOp kernel) {
    kernel.walk([&](Operation *op) {
      if (auto found = dyn_cast<tile::ItemsOp>(op)) items = found;
      if (auto found = dyn_cast<tile::QueryOp>(op)) query = found;
      if (auto found = dyn_cast<tile::LoadOp>(op)) load = found;
      if (auto found = dyn_cast<tile::ScaleOp>(op)) scale = found;
      if (auto found = dyn_cast<tile::MaskOp>(op)) mask = found;
      if (auto found = dyn_cast<tile::FinishOp>(op)) finish = found;
    });
  }
  bool complete() { return items && query && load && scale && mask && finish; }
};

/// Rewrites one kernel from values to its scheduled form.
class Scheduler {
public:
  Scheduler(tile::KernelOp kernel, Source &source)
      : kernel(kernel), source(source), schedule(*kernel.getSchedule()), shape(shapeOf(kernel)),
        layout(layoutShared(shape, schedule)), builder(kernel.getContext()), loc(kernel.getLoc()) {}

  void run() {
    builder.setInsertionPoint(source.items);
    ring = alloc(layout.ring);
    query = alloc(layout.query);
    probs = alloc(layout.probs);
    maxima = alloc(layout.maxima);
    stats = alloc(layout.stats);
    kernel->setAttr("shared_bytes", builder.getI64IntegerAttr(layout.bytes));
    auto items = tile::ItemsOp::create(builder, loc, source.items.getPlan());
    Block &body = items.getBody().emplaceBlock();
    item = body.addArgument(tile::ItemType::get(builder.getContext()), loc);
    builder.setInsertionPointToStart(&body);
    buildItem();
    tile::YieldOp::create(builder, loc);
    source.items.erase();
  }

private:
  //===-- Short names --===//

  Value alloc(const Allocation &allocation) {
    return tile::AllocOp::create(builder, loc, allocation.type, allocation.name, allocation.offset);
  }
  Value number(int32_t value) { return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value)); }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value less(Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
  }
  Value equal(Value a, int32_t b) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, number(b));
  }
  /// stage + 1, wrapping at the ring's end.
  Value after(Value stage) {
    Value next = add(stage, number(1));
    return arith::SelectOp::create(builder, loc, equal(next, schedule.getStages()), number(0), next);
  }
  /// stage - 1, wrapping at the ring's start.
  Value before(Value stage) {
    Value previous = add(stage, number(-1));
    return arith::SelectOp::create(builder, loc, equal(stage, 0), number(schedule.getStages() - 1), previous);
  }
  Value locate(Value tileIndex) {
    auto type = tile::AddressType::get(builder.getContext(), schedule.getCopyRows());
    return tile::LocateOp::create(builder, source.load.getLoc(), type, source.load.getSource(), item, tileIndex);
  }
  void copy(Value address, Value tileIndex, Value stage) {
    tile::CopyOp::create(builder, source.load.getLoc(), source.load.getSource(), address, ring, stage,
                         less(tileIndex, end));
    tile::CommitOp::create(builder, loc);
  }
  void barrier() { tile::BarrierOp::create(builder, loc); }
  void sync() { tile::SyncOp::create(builder, loc); }
  tile::FragmentType fragment(tile::Role role, int64_t m, int64_t n) {
    return tile::FragmentType::get(builder.getContext(), role, {m, n}, builder.getF32Type());
  }
  Value splat(tile::FragmentType type, float value) {
    return tile::SplatOp::create(builder, loc, type, builder.getF32FloatAttr(value));
  }

  //===-- Building --===//

  void buildItem() {
    tile::LoadQueryOp::create(builder, source.query.getLoc(), source.query.getSource(), item, query,
                              shape.cache.getElementType());
    auto range = tile::RangeOp::create(builder, loc, item);
    end = range.getEnd();
    Value address = buildPrologue(range.getBegin());
    barrier();
    scf::ForOp loop = buildLoop(range.getBegin(), address);
    buildEnd(loop.getResult(0), loop.getResult(1), loop.getResult(2));
  }

  /// Starts the first stages - 1 copies. Returns the address for the next one.
  Value buildPrologue(Value begin) {
    Value address = locate(begin), tileIndex = begin;
    for (int64_t stage = 0; stage + 1 < schedule.getStages(); ++stage) {
      copy(address, tileIndex, number(stage));
      tileIndex = add(tileIndex, number(1));
      address = locate(tileIndex);
    }
    return address;
  }

  scf::ForOp buildLoop(Value begin, Value address) {
    auto accumulator = fragment(tile::Role::accumulator, schedule.getValueDimsPerWarp(shape.valueWidth), schedule.getRows());
    auto rowStats = fragment(tile::Role::stats, 1, schedule.getRows());
    float infinity = std::numeric_limits<float>::infinity();
    auto loop = scf::ForOp::create(builder, loc, begin, end, number(1),
                                   ValueRange{splat(accumulator, 0), splat(rowStats, -infinity), splat(rowStats, 0),
                                              address, number(0)});
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(loop.getBody());
    buildStep(loop);
    return loop;
  }

  /// One tile of a group: refill the ring, score, softmax, weigh. Other groups fill this one's waits.
  void buildStep(scf::ForOp loop) {
    Value tileIndex = loop.getInductionVar(), address = loop.getRegionIterArg(3), stage = loop.getRegionIterArg(4);
    tile::WaitOp::create(builder, loc, schedule.getStages() - 2);
    sync(); // this tile is visible, and nobody reads the stage behind it any more
    Value refill = add(tileIndex, number(schedule.getStages() - 1));
    copy(address, refill, before(stage));
    Value nextAddress = locate(add(refill, number(1)));
    tile::SoftmaxOp softmax = buildScores(tileIndex, stage, loop.getRegionIterArg(1), loop.getRegionIterArg(2));
    sync(); // the probabilities are visible
    Value accumulator = loop.getRegionIterArg(0);
    accumulator = tile::RescaleOp::create(builder, loc, accumulator.getType(), accumulator, softmax.getShrink());
    accumulator = tile::WeighOp::create(builder, source.load.getLoc(), accumulator.getType(), accumulator, probs, ring,
                                        stage, shape.valueColumn, shape.valueWidth);
    scf::YieldOp::create(builder, loc,
                         ValueRange{accumulator, softmax.getNewMaximum(), softmax.getNewSum(), nextAddress, after(stage)});
  }

  tile::SoftmaxOp buildScores(Value tileIndex, Value stage, Value maximum, Value sum) {
    Location at = source.mask.getLoc();
    auto type = fragment(tile::Role::accumulator, schedule.getTokensPerWarp(), schedule.getRowsPerWarp());
    Value scores = tile::ScoreOp::create(builder, at, type, query, ring, stage);
    auto masked =
        tile::MaskScoresOp::create(builder, at, type, scores, item, tileIndex, source.scale.getFactor(),
                                   source.mask.getCausal(), source.mask.getWindowAttr());
    masked.getEdit().takeBody(source.mask.getEdit());
    scores = masked.getResult();
    Value shared;
    if (schedule.getWarpsPerGroup() > 1) {
      tile::StoreMaximaOp::create(builder, at, scores, maxima);
      sync();
      shared = maxima;
    }
    Type rowStats = maximum.getType();
    return tile::SoftmaxOp::create(builder, at, rowStats, rowStats, rowStats, scores, probs, maximum, sum, shared);
  }

  /// Brings the groups' results together. The last barrier lets the next item reuse the memory.
  void buildEnd(Value accumulator, Value maximum, Value sum) {
    tile::FinishOp finish = source.finish;
    Location at = finish.getLoc();
    tile::StoreStatsOp::create(builder, at, maximum, sum, stats);
    barrier();
    Value rowFactor = tile::FinishRowsOp::create(builder, at, maximum.getType(), item, finish.getPlan(),
                                                 maximum, stats, finish.getFactor(), finish.getLse(),
                                                 finish.getSink(), finish.getBase(), finish.getSinkInLse());
    accumulator = tile::RescaleOp::create(builder, at, accumulator.getType(), accumulator, rowFactor);
    if (schedule.getGroups() > 1)
      accumulator = tile::MergeGroupsOp::create(builder, at, accumulator.getType(), accumulator, ring);
    tile::StoreResultOp::create(builder, at, item, finish.getPlan(), accumulator, shape.cache.getElementType(),
                                shape.valueWidth, finish.getOut());
    barrier();
  }

  tile::KernelOp kernel;
  Source &source;
  tile::ScheduleAttr schedule;
  KernelShape shape;
  SharedLayout layout;
  OpBuilder builder;
  Location loc;
  Value ring, query, probs, maxima, stats, item, end;
};

struct Pipeline : mlac::impl::PipelineBase<Pipeline> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<tile::KernelOp>()) {
      Source source(kernel);
      if (kernel.isPrefill() || !source.items)
        continue;
      if (!kernel.getSchedule() || !source.complete()) {
        kernel.emitError() << "has no schedule; run tile-schedule first [pipeline-unscheduled]";
        signalPassFailure();
        continue;
      }
      Scheduler(kernel, source).run();
    }
  }
};

} // namespace

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
    planes = alloc(layout.planes);
    probs = alloc(layout.probs);
    rowFactor = alloc(layout.rowFactor);
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
  Value alloc(const Allocation &allocation) {
    return tile::AllocOp::create(builder, loc, allocation.type, allocation.name, allocation.offset);
  }

  Value number(int32_t value) { return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value)); }
  Value real(float value) { return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value)); }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value less(Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
  }
  /// stage + 1, wrapping at the ring's end.
  Value after(Value stage) {
    Value next = add(stage, number(1));
    Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, next, number(schedule.getStages()));
    return arith::SelectOp::create(builder, loc, wraps, number(0), next);
  }
  /// stage - 1, wrapping at the ring's start.
  Value before(Value stage) {
    Value atStart = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, stage, number(0));
    Value previous = add(stage, number(-1));
    return arith::SelectOp::create(builder, loc, atStart, number(schedule.getStages() - 1), previous);
  }

  Value locate(Value tileIndex) {
    return tile::LocateOp::create(builder, source.load.getLoc(), tile::AddressType::get(builder.getContext()),
                                  source.load.getSource(), item, tileIndex);
  }
  void copy(Value address, Value tileIndex, Value stage) {
    tile::CopyOp::create(builder, source.load.getLoc(), source.load.getSource(), address, ring, stage,
                         less(tileIndex, end));
    tile::CommitOp::create(builder, loc);
  }
  void barrier() { tile::BarrierOp::create(builder, loc); }
  /// Tiles up to the next one to be read have landed; the stages after it may still be under way.
  void awaitNext() { tile::WaitOp::create(builder, loc, schedule.getStages() - 2); }

  tile::FragmentType fragment(tile::Role role, int64_t m, int64_t n, Type element) {
    return tile::FragmentType::get(builder.getContext(), role, {m, n}, element);
  }

  /// Scores one tile if there is one: its partial sums go to shared memory.
  void score(Value tileIndex, Value stage) {
    auto guard = scf::IfOp::create(builder, loc, less(tileIndex, end));
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(guard.thenBlock());
    auto type = fragment(tile::Role::accumulator, schedule.getTokensPerWarp(), schedule.getRows(), builder.getF32Type());
    Value partial = tile::ScoreOp::create(builder, source.mask.getLoc(), type, query, ring, stage);
    tile::StoreScoresOp::create(builder, source.mask.getLoc(), partial, planes);
  }

  void buildItem() {
    auto operand = fragment(tile::Role::operand, 16 * schedule.getStepsPerWarp(shape.rowWidth()), schedule.getRows(),
                            shape.compute);
    query = tile::QueryFragmentOp::create(builder, source.query.getLoc(), operand, source.query.getSource(), item,
                                          shape.cache.getElementType());
    auto range = tile::RangeOp::create(builder, loc, item);
    end = range.getEnd();
    Value address = buildPrologue(range.getBegin());
    scf::ForOp loop = buildLoop(range.getBegin(), address);
    barrier();
    tile::FinishOp finish = source.finish;
    tile::FinishRowsOp::create(builder, finish.getLoc(), item, finish.getPlan(), loop.getResult(1), loop.getResult(2),
                               finish.getFactor(), rowFactor, finish.getLse(), finish.getBase());
    barrier();
    tile::StoreResultOp::create(builder, finish.getLoc(), item, finish.getPlan(), loop.getResult(0), rowFactor,
                                shape.cache.getElementType(), shape.valueWidth, finish.getOut());
  }

  /// Starts the first stages - 1 copies and scores the first tile. Returns the address for the next copy.
  Value buildPrologue(Value begin) {
    Value address = locate(begin), tileIndex = begin;
    for (int64_t stage = 0; stage + 1 < schedule.getStages(); ++stage) {
      copy(address, tileIndex, number(stage));
      tileIndex = add(tileIndex, number(1));
      address = locate(tileIndex);
    }
    awaitNext();
    barrier();
    score(begin, number(0));
    return address;
  }

  scf::ForOp buildLoop(Value begin, Value address) {
    auto type = fragment(tile::Role::accumulator, schedule.getValueDimsPerWarp(shape.valueWidth), schedule.getRows(),
                         builder.getF32Type());
    Value zero = tile::ZeroOp::create(builder, loc, type);
    float infinity = std::numeric_limits<float>::infinity();
    auto loop = scf::ForOp::create(builder, loc, begin, end, number(1),
                                   ValueRange{zero, real(-infinity), real(0), address, number(0)});
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(loop.getBody());
    buildStep(loop);
    return loop;
  }

  /// One tile: softmax between the two barriers, then the next tile's scores and this tile's values.
  void buildStep(scf::ForOp loop) {
    Value tileIndex = loop.getInductionVar(), accumulator = loop.getRegionIterArg(0);
    Value address = loop.getRegionIterArg(3), stage = loop.getRegionIterArg(4);
    barrier();
    auto softmax = tile::SoftmaxOp::create(builder, source.mask.getLoc(), builder.getF32Type(), builder.getF32Type(),
                                           planes, probs, rowFactor, item, tileIndex, source.scale.getFactor(),
                                           loop.getRegionIterArg(1), loop.getRegionIterArg(2), source.mask.getCausal());
    // The stage behind this tile's was last read before the barrier above.
    Value refill = add(tileIndex, number(schedule.getStages() - 1));
    copy(address, refill, before(stage));
    Value nextAddress = locate(add(refill, number(1)));
    awaitNext();
    barrier();
    score(add(tileIndex, number(1)), after(stage));
    accumulator = tile::RescaleOp::create(builder, loc, accumulator.getType(), accumulator, rowFactor);
    accumulator = tile::WeighOp::create(builder, source.load.getLoc(), accumulator.getType(), accumulator, probs, ring,
                                        stage, shape.valueColumn, shape.valueWidth);
    scf::YieldOp::create(builder, loc,
                         ValueRange{accumulator, softmax.getNewMaximum(), softmax.getNewSum(), nextAddress, after(stage)});
  }

  tile::KernelOp kernel;
  Source &source;
  tile::ScheduleAttr schedule;
  KernelShape shape;
  SharedLayout layout;
  OpBuilder builder;
  Location loc;
  Value ring, planes, probs, rowFactor, item, query, end;
};

struct Pipeline : mlac::impl::PipelineBase<Pipeline> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<tile::KernelOp>()) {
      Source source(kernel);
      if (!source.items)
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

// tile-pipeline-prefill: shared memory, asynchronous copies, stages and barriers of prefill kernels.
//
// Key and value tiles are used in turn: K0 V0 K1 V1 ... Before each use all threads meet; the tile used
// before it is then free, and the copy that goes into its place starts. Of the 2 x stages tiles that fit, all
// but one are always under way.
#include "passes/Passes.h"

#include "passes/PrefillLayout.h"

namespace mlac {
#define GEN_PASS_DEF_PIPELINEPREFILL
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;
using namespace mlac;

namespace {

/// The ops of a kernel as values, found once.
struct Source {
  tile::ItemsOp items;
  tile::QueryOp query;
  tile::LoadOp key, value;
  tile::ScaleOp scale;
  tile::MaskOp mask;
  tile::FinishOp finish;

  explicit Source(tile::KernelOp kernel) {
    kernel.walk([&](Operation *op) {
      if (auto found = dyn_cast<tile::ItemsOp>(op))
        items = found;
      if (auto found = dyn_cast<tile::QueryOp>(op))
        query = found;
      if (auto found = dyn_cast<tile::LoadOp>(op))
        (key ? value : key) = found;
      if (auto found = dyn_cast<tile::ScaleOp>(op))
        scale = found;
      if (auto found = dyn_cast<tile::MaskOp>(op))
        mask = found;
      if (auto found = dyn_cast<tile::FinishOp>(op))
        finish = found;
    });
  }
  bool complete() { return items && query && key && value && scale && mask && finish; }
};

/// Rewrites one kernel from values to its scheduled form.
class Scheduler {
public:
  Scheduler(tile::KernelOp kernel, Source &source)
      : kernel(kernel), source(source), schedule(*kernel.getPrefillSchedule()), shape(prefillShapeOf(kernel)),
        layout(layoutPrefill(shape, schedule)), builder(kernel.getContext()), loc(kernel.getLoc()) {}

  void run() {
    builder.setInsertionPoint(source.items);
    keys = alloc(layout.keys);
    values = alloc(layout.values);
    query = alloc(layout.query);
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
  Value number(int32_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
  }
  Value add(Value a, int64_t b) { return arith::AddIOp::create(builder, loc, a, number(int32_t(b))); }
  /// (stage + steps) modulo stages, for steps below stages.
  Value after(Value stage, int64_t steps) {
    if (schedule.getStages() == 1)
      return stage;
    Value next = add(stage, steps), wrapped = add(stage, steps - schedule.getStages());
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, next,
                                         number(int32_t(schedule.getStages())));
    return arith::SelectOp::create(builder, loc, inside, next, wrapped);
  }
  void copy(tile::LoadOp load, Value ring, Value tileIndex, Value stage) {
    Value enabled = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, tileIndex, end);
    tile::CopyRowsOp::create(builder, load.getLoc(), load.getSource(), item, tileIndex, ring, stage, enabled);
    tile::CommitOp::create(builder, loc);
  }
  void barrier() { tile::BarrierOp::create(builder, loc); }
  tile::FragmentType fragment(tile::Role role, int64_t columns, Type element) {
    return tile::FragmentType::get(builder.getContext(), role, {schedule.getRowsPerWarp(), columns}, element);
  }
  Value splat(tile::FragmentType type, float value) {
    return tile::SplatOp::create(builder, loc, type, builder.getF32FloatAttr(value));
  }

  //===-- Building --===//

  void buildItem() {
    auto range = tile::RangeOp::create(builder, loc, item);
    end = range.getEnd();
    buildPrologue(range.getBegin());
    tile::LoadQueryRowsOp::create(builder, source.query.getLoc(), source.query.getSource(), item, query,
                                  shape.key.getElementType());
    softmaxScale = scalesFirst() ? one() : source.scale.getFactor();
    scf::ForOp loop = buildLoop(range.getBegin());
    tile::FinishOp finish = source.finish;
    tile::StoreRowsOp::create(builder, finish.getLoc(), item, loop.getResult(0), loop.getResult(1),
                              loop.getResult(2), finish.getFactor(), shape.value.getElementType(),
                              finish.getOut(), finish.getLse(), finish.getSink(), finish.getBase(),
                              finish.getSinkInLse());
    barrier(); // the next item may reuse the memory
  }

  /// Starts the copies up to the key of the tile that fills the last stage.
  void buildPrologue(Value begin) {
    for (int64_t stage = 0; stage < schedule.getStages(); ++stage) {
      Value tileIndex = add(begin, stage), place = number(int32_t(stage));
      copy(source.key, keys, tileIndex, place);
      if (stage + 1 < schedule.getStages())
        copy(source.value, values, tileIndex, place);
    }
  }

  scf::ForOp buildLoop(Value begin) {
    Type f32 = builder.getF32Type();
    auto accumulator = fragment(tile::Role::accumulator, shape.valueWidth(), f32);
    auto rowStats = fragment(tile::Role::row_stats, 1, f32);
    float infinity = std::numeric_limits<float>::infinity();
    auto loop = scf::ForOp::create(
        builder, loc, begin, end, number(1),
        ValueRange{splat(accumulator, 0), splat(rowStats, -infinity), splat(rowStats, 0), number(0)});
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(loop.getBody());
    buildStep(loop);
    return loop;
  }

  void buildStep(scf::ForOp loop) {
    Value tileIndex = loop.getInductionVar(), stage = loop.getRegionIterArg(3);
    int64_t stages = schedule.getStages();
    meet(); // the keys are visible, and nobody reads the last tile's values any more
    copy(source.value, values, add(tileIndex, stages - 1), after(stage, stages - 1));
    Value scores = buildScores(tileIndex, stage);
    meet(); // the values are visible, and nobody reads the keys any more
    copy(source.key, keys, add(tileIndex, stages), stage);
    Value maximum = loop.getRegionIterArg(1);
    auto softmax = tile::SoftmaxRowsOp::create(
        builder, source.mask.getLoc(),
        TypeRange{fragment(tile::Role::operand, schedule.getTokens(), shape.compute), maximum.getType(),
                  maximum.getType(), maximum.getType()},
        scores, maximum, loop.getRegionIterArg(2), softmaxScale);
    Value accumulator = loop.getRegionIterArg(0);
    accumulator =
        tile::RescaleRowsOp::create(builder, loc, accumulator.getType(), accumulator, softmax.getShrink());
    accumulator = tile::WeighRowsOp::create(builder, source.value.getLoc(), accumulator.getType(),
                                            accumulator, softmax.getProbs(), values, stage);
    scf::YieldOp::create(
        builder, loc, ValueRange{accumulator, softmax.getNewMaximum(), softmax.getNewSum(), after(stage, 1)});
  }

  /// The next tile to be used has landed for all; 2 (stages - 1) copies were started after it.
  void meet() {
    tile::WaitOp::create(builder, loc, int32_t(2 * (schedule.getStages() - 1)));
    barrier();
  }

  Value buildScores(Value tileIndex, Value stage) {
    Location at = source.mask.getLoc();
    auto type = fragment(tile::Role::accumulator, schedule.getTokens(), builder.getF32Type());
    Value scores = tile::ScoreRowsOp::create(builder, source.key.getLoc(), type, query, keys, stage);
    auto masked = tile::MaskRowsOp::create(builder, at, type, scores, item, tileIndex,
                                           scalesFirst() ? source.scale.getFactor() : Value(),
                                           source.mask.getCausal(), source.mask.getWindowAttr());
    if (!source.mask.getEdit().empty())
      masked.getEdit().takeBody(source.mask.getEdit());
    return masked;
  }

  /// As a rule the softmax scales scores when it has their maximum, and saves a product a score. An edit is
  /// of scaled scores, and a maximum is none after a factor below 0.
  bool scalesFirst() const { return shape.editedScores; }

  Value one() { return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(1)); }

  tile::KernelOp kernel;
  Source &source;
  tile::PrefillScheduleAttr schedule;
  PrefillShape shape;
  PrefillLayout layout;
  OpBuilder builder;
  Location loc;
  Value keys, values, query, item, end, softmaxScale;
};

struct PipelinePrefill : mlac::impl::PipelinePrefillBase<PipelinePrefill> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<tile::KernelOp>()) {
      Source source(kernel);
      if (!kernel.isPrefill() || !source.items)
        continue;
      if (!kernel.getPrefillSchedule() || !source.complete()) {
        kernel.emitError() << "has no schedule; run tile-schedule-prefill first [pipeline-unscheduled]";
        signalPassFailure();
        continue;
      }
      Scheduler(kernel, source).run();
    }
  }
};

} // namespace

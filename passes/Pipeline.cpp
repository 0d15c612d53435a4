// tile-pipeline: shared memory, asynchronous copies, stages and barriers.
#include "passes/Passes.h"

#include "passes/CostModel.h"
#include "passes/SharedLayout.h"

#include <cmath>

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
      if (auto found = dyn_cast<tile::ItemsOp>(op))
        items = found;
      if (auto found = dyn_cast<tile::QueryOp>(op))
        query = found;
      if (auto found = dyn_cast<tile::LoadOp>(op))
        load = found;
      if (auto found = dyn_cast<tile::ScaleOp>(op))
        scale = found;
      if (auto found = dyn_cast<tile::MaskOp>(op))
        mask = found;
      if (auto found = dyn_cast<tile::FinishOp>(op))
        finish = found;
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
    if (sharesRows())
      shrinks = alloc(layout.shrinks);
    stats = alloc(layout.stats);
    factor = times(source.finish.getFactor(), lift().restoreOut - (scalesValues() ? int(tile::kGroupShift) : 0));
    kernel->setAttr("shared_bytes", builder.getI64IntegerAttr(layout.bytes));
    SmallVector<Value> carried = buildPrologue().pack();
    if (prefetches())
      carried.push_back(fetchQuery(tile::FirstItemOp::create(builder, loc, source.items.getPlan())));
    auto items = tile::ItemsOp::create(builder, loc, source.items.getPlan(), carried);
    tile::WaitOp::create(builder, loc, 0); // for copies of tiles that do not exist
    Block &body = items.getBody().emplaceBlock();
    item = body.addArgument(tile::ItemType::get(builder.getContext()), loc);
    body.addArguments(items.getResultTypes(), SmallVector<Location>(items.getNumResults(), loc));
    builder.setInsertionPointToStart(&body);
    tile::YieldOp::create(builder, loc, buildItem(body.getArguments().drop_front()));
    source.items.erase();
  }

private:
  /// Where a block stands in its stream of KV tiles, which goes on from item to item: the stage that is read
  /// next; what is copied next and where it lies; the tile after that.
  struct Stream {
    Value stage, address, cursor;
    SmallVector<Value> pack() const { return {stage, address, cursor}; }
    static Stream unpack(ValueRange values) { return {values[0], values[1], values[2]}; }
  };

  /// More registers than this are not kept while the accumulators are: the query is then fetched when its
  /// item begins.
  static constexpr int64_t kMostFetched = 48;
  /// Probabilities are at most 2^this beyond their lift: every compute type holds them, and accumulators are
  /// rescaled hardly ever after an item's first tiles. Those that take scales have no room to spare in f16.
  static constexpr int64_t kHeadroom = 8;

  //===-- Short names --===//

  Value alloc(const Allocation &allocation) {
    return tile::AllocOp::create(builder, loc, allocation.type, allocation.name, allocation.offset);
  }
  Value number(int32_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
  }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
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
  Value locate(Value cursor) {
    auto type = tile::AddressType::get(builder.getContext(), schedule.getLocatedRows());
    return tile::LocateOp::create(builder, source.load.getLoc(), type, source.load.getSource(), cursor);
  }
  /// Starts the next copy and finds out where the one after it lies.
  Stream copy(Stream stream, Value into) {
    tile::CopyOp::create(builder, source.load.getLoc(), source.load.getSource(), stream.address, ring, into);
    tile::CommitOp::create(builder, loc);
    Value address = locate(stream.cursor);
    return {stream.stage, address,
            tile::AdvanceOp::create(builder, loc, stream.cursor, source.items.getPlan())};
  }
  /// Whether the value's columns have scales of their own, which the probabilities then take.
  bool scalesValues() const { return shape.valuePart().isScaled(); }
  void barrier() { tile::BarrierOp::create(builder, loc); }
  void sync() { tile::SyncOp::create(builder, loc); }
  tile::FragmentType fragment(tile::Role role, int64_t m, int64_t n) {
    return tile::FragmentType::get(builder.getContext(), role, {m, n}, builder.getF32Type());
  }
  Value splat(tile::FragmentType type, float value) {
    return tile::SplatOp::create(builder, loc, type, builder.getF32FloatAttr(value));
  }

  //===-- Building --===//

  /// What the next item is handed: the stream, and its query on the way while this item's results are stored.
  SmallVector<Value> buildItem(ValueRange carried) {
    Value pieces = prefetches() ? carried.back() : fetchQuery(item);
    tile::StoreQueryOp::create(builder, source.query.getLoc(), pieces, item, query,
                               shape.query.getElementType(), shape.cache.getElementType());
    barrier();
    scf::ForOp loop = buildLoop(Stream::unpack(carried));
    SmallVector<Value> next(loop.getResults().drop_front(3));
    if (Value fetched = buildEnd(loop.getResult(0), loop.getResult(1), loop.getResult(2)))
      next.push_back(fetched);
    return next;
  }

  /// Registers of a thread for its share of the query: pieces of 16 columns, two columns a register.
  int64_t fetchedRegisters() const {
    int64_t pieces = schedule.getRows() * shape.query.getWidth() / 16;
    return 8 * ((pieces + schedule.getThreads() - 1) / schedule.getThreads());
  }
  /// Rows are divided among a group's warps: each keeps the statistics of its own.
  bool sharesRows() const { return schedule.getRowWarps() > 1; }
  Lift lift() const { return liftOf(elementOf(shape.cache.getElementType()), elementOf(shape.compute)); }
  /// 2^exponent times a factor that does not change from item to item.
  Value times(Value factor, int exponent) {
    if (!exponent)
      return factor;
    Value power =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(std::ldexp(1.0f, exponent)));
    return arith::MulFOp::create(builder, loc, factor, power);
  }
  bool prefetches() const { return fetchedRegisters() <= kMostFetched; }

  Value fetchQuery(Value of) {
    auto type = tile::PiecesType::get(builder.getContext(), fetchedRegisters());
    return tile::FetchQueryOp::create(builder, source.query.getLoc(), type, source.query.getSource(), of);
  }

  /// Starts the first stages - 1 copies.
  Stream buildPrologue() {
    Value plan = source.items.getPlan();
    Value cursor = tile::StreamOp::create(builder, loc, plan);
    Value address = locate(cursor);
    Stream stream{number(0), address, tile::AdvanceOp::create(builder, loc, cursor, plan)};
    for (int64_t stage = 0; stage + 1 < schedule.getStages(); ++stage)
      stream = copy(stream, number(stage));
    return stream;
  }

  scf::ForOp buildLoop(Stream stream) {
    auto range = tile::RangeOp::create(builder, loc, item);
    auto accumulator =
        fragment(tile::Role::accumulator, schedule.getValueDimsPerWarp(shape.valueWidth), schedule.getRows());
    auto rowStats = fragment(tile::Role::stats, 1, schedule.getRowsPerWarp());
    float infinity = std::numeric_limits<float>::infinity();
    auto loop =
        scf::ForOp::create(builder, loc, range.getBegin(), range.getEnd(), number(1),
                           ValueRange{splat(accumulator, 0), splat(rowStats, -infinity), splat(rowStats, 0),
                                      stream.stage, stream.address, stream.cursor});
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(loop.getBody());
    buildStep(loop);
    return loop;
  }

  /// One tile of a group: refill the ring, score, softmax, weigh. Other groups fill this one's waits.
  void buildStep(scf::ForOp loop) {
    Value tileIndex = loop.getInductionVar();
    Stream stream = Stream::unpack(loop.getRegionIterArgs().drop_front(3));
    Value stage = stream.stage;
    tile::WaitOp::create(builder, loc, schedule.getStages() - 2);
    sync(); // this tile is visible, and nobody reads the stage behind it any more
    stream = copy(stream, before(stage));
    tile::SoftmaxOp softmax =
        buildScores(tileIndex, stage, loop.getRegionIterArg(1), loop.getRegionIterArg(2));
    if (sharesRows())
      tile::ShareRowsOp::create(builder, loc, softmax.getShrink(), shrinks);
    sync(); // the probabilities are visible
    Value accumulator = loop.getRegionIterArg(0);
    accumulator =
        tile::RescaleOp::create(builder, loc, accumulator.getType(), accumulator, shrinkOfAllRows(softmax));
    accumulator = tile::WeighOp::create(builder, source.load.getLoc(), accumulator.getType(), accumulator,
                                        probs, ring, stage, shape.valueColumn, shape.valueWidth);
    scf::YieldOp::create(builder, loc,
                         ValueRange{accumulator, softmax.getNewReference(), softmax.getNewSum(), after(stage),
                                    stream.address, stream.cursor});
  }

  Value shrinkOfAllRows(tile::SoftmaxOp softmax) {
    if (!sharesRows())
      return softmax.getShrink();
    return tile::AllRowsOp::create(builder, loc, fragment(tile::Role::stats, 1, schedule.getRows()), shrinks);
  }

  tile::SoftmaxOp buildScores(Value tileIndex, Value stage, Value reference, Value sum) {
    Location at = source.mask.getLoc();
    auto type = fragment(tile::Role::accumulator, schedule.getTokensPerWarp(), schedule.getRowsPerWarp());
    Value scores = tile::ScoreOp::create(builder, at, type, query, ring, stage);
    auto masked = tile::MaskScoresOp::create(builder, at, type, scores, item, tileIndex,
                                             times(source.scale.getFactor(), lift().restoreScores),
                                             source.mask.getCausal(), source.mask.getWindowAttr());
    masked.getEdit().takeBody(source.mask.getEdit());
    scores = masked.getResult();
    Value shared;
    if (schedule.getWarpsPerGroup() > 1) {
      tile::StoreMaximaOp::create(builder, at, scores, maxima);
      sync();
      shared = maxima;
    }
    Type rowStats = reference.getType();
    bool scales = scalesValues();
    auto number = [&](int64_t value) { return scales ? builder.getI64IntegerAttr(value) : IntegerAttr(); };
    return tile::SoftmaxOp::create(builder, at, rowStats, rowStats, rowStats, scores, probs, reference, sum, shared,
                                   scales ? ring : Value(), scales ? stage : Value(), number(shape.valueColumn),
                                   number(shape.valueWidth), lift().probs, scales ? 0 : kHeadroom);
  }

  /// Brings the groups' results together. The last barrier lets the next item reuse the memory. Returns the
  /// next item's query, if that is fetched ahead: the item's fields are asked for at once, and used when they
  /// have had time to arrive.
  Value buildEnd(Value accumulator, Value reference, Value sum) {
    tile::FinishOp finish = source.finish;
    Location at = finish.getLoc();
    Value next, fetched;
    if (prefetches())
      next = tile::NextItemOp::create(builder, loc, item, source.items.getPlan());
    tile::StoreStatsOp::create(builder, at, reference, sum, stats);
    barrier();
    Value rowFactor = tile::FinishRowsOp::create(
        builder, at, fragment(tile::Role::stats, 1, schedule.getRows()), item, finish.getPlan(), stats,
        factor, finish.getLse(), finish.getSink(), finish.getBase(), finish.getSinkInLse());
    if (prefetches())
      fetched = fetchQuery(next);
    accumulator = tile::RescaleOp::create(builder, at, accumulator.getType(), accumulator, rowFactor);
    if (schedule.getGroups() > 1)
      accumulator = tile::MergeGroupsOp::create(builder, at, accumulator.getType(), accumulator, query);
    tile::StoreResultOp::create(builder, at, item, finish.getPlan(), accumulator, shape.valuePart().element,
                                shape.valueWidth, finish.getOut());
    barrier();
    return fetched;
  }

  tile::KernelOp kernel;
  Source &source;
  tile::ScheduleAttr schedule;
  KernelShape shape;
  SharedLayout layout;
  OpBuilder builder;
  Location loc;
  Value ring, query, probs, maxima, shrinks, stats, item, factor;
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

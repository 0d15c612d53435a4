// tile-verify-pipeline: the ring's protocol, checked by running the scheduled kernel abstractly.
//
// The kernel's control flow depends on nothing but tile indices, so it can be executed with real numbers for
// a handful of tiles. What is tracked: for every stage of every ring which tile it holds and whether that
// tile is under way, landed or visible to all; for the other allocations who wrote and who read since the
// last barrier.
#include "passes/Passes.h"

#include "dialect/tile/Tile.h"

#include <map>
#include <set>

namespace mlac {
#define GEN_PASS_DEF_VERIFYPIPELINE
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;

namespace {

/// One stage of a ring.
struct Stage {
  enum State { Empty, UnderWay, Landed, Visible };
  State state = Empty;
  int64_t tile = 0;
  int64_t group = 0; // the commit group of the copy that filled it
  bool readSinceBarrier = false;
};

/// Who shares an allocation, and so which barrier orders its accesses.
enum Sharing { Group, Block };

/// Accesses of a plain allocation since the last barrier that orders them.
struct Exchange {
  Operation *writer = nullptr, *reader = nullptr;
  bool everWritten = false;
  Sharing sharing = Block;
};

class Machine {
public:
  Machine(tile::KernelOp kernel, int64_t tiles) : kernel(kernel), tiles(tiles) {}

  LogicalResult run() {
    return failure(failed(runBlock(kernel.getBody().front())) || failed(checkDrained()));
  }

private:
  LogicalResult checkDrained() {
    for (auto &[ring, stages] : rings)
      for (Stage &stage : stages)
        if (stage.state == Stage::UnderWay)
          return kernel.emitError() << "ends with a copy of tile " << stage.tile << " under way, for "
                                    << tiles << " tiles [pipeline-drain]";
    return success();
  }

  //===-- Control and integers --===//

  LogicalResult runBlock(mlir::Block &block) {
    for (Operation &op : block)
      if (failed(runOp(op)))
        return failure();
    return success();
  }

  LogicalResult runOp(Operation &op) {
    if (auto items = dyn_cast<tile::ItemsOp>(op))
      return runItems(items);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return runLoop(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return runBranch(branch);
    if (auto range = dyn_cast<tile::RangeOp>(op)) {
      // Tiles are counted through, as the stream counts them.
      numbers[range.getBegin()] = item * tiles;
      numbers[range.getEnd()] = (item + 1) * tiles;
      return success();
    }
    if (auto stream = dyn_cast<tile::StreamOp>(op))
      return numbers[stream.getResult()] = 0, success();
    if (auto advance = dyn_cast<tile::AdvanceOp>(op))
      return follow(op, advance.getCursor(), 1);
    if (auto locate = dyn_cast<tile::LocateOp>(op))
      return follow(op, locate.getCursor(), 0);
    if (isa<arith::ArithDialect>(op.getDialect()))
      return fold(op);
    return access(op);
  }

  /// Two items, so that what one leaves meets what the next one starts with.
  LogicalResult runItems(tile::ItemsOp items) {
    mlir::Block &body = items.getBody().front();
    carry(items.getInits(), body.getArguments().drop_front());
    for (item = 0; item < 2; ++item) {
      if (failed(runBlock(body)))
        return failure();
      carry(body.getTerminator()->getOperands(), body.getArguments().drop_front());
    }
    carry(body.getArguments().drop_front(), items.getResults());
    return success();
  }

  /// A result that names the tile `steps` after the one that `from` names.
  LogicalResult follow(Operation &op, Value from, int64_t steps) {
    if (!known(from))
      return op.emitError() << "depends on more than the item's tiles [pipeline-control]";
    numbers[op.getResult(0)] = numbers[from] + steps;
    return success();
  }

  LogicalResult runLoop(scf::ForOp loop) {
    if (!known(loop.getLowerBound()) || !known(loop.getUpperBound()) || !known(loop.getStep()))
      return loop.emitError() << "has bounds that do not follow from the item's tiles [pipeline-control]";
    carry(loop.getInitArgs(), loop.getRegionIterArgs());
    for (int64_t i = numbers[loop.getLowerBound()]; i < numbers[loop.getUpperBound()];
         i += numbers[loop.getStep()]) {
      numbers[loop.getInductionVar()] = i;
      if (failed(runBlock(*loop.getBody())))
        return failure();
      carry(loop.getBody()->getTerminator()->getOperands(), loop.getRegionIterArgs());
    }
    carry(loop.getRegionIterArgs(), loop.getResults());
    return success();
  }

  LogicalResult runBranch(scf::IfOp branch) {
    if (!known(branch.getCondition()))
      return branch.emitError() << "depends on more than the item's tiles [pipeline-control]";
    Region &taken = numbers[branch.getCondition()] ? branch.getThenRegion() : branch.getElseRegion();
    return taken.empty() ? success() : runBlock(taken.front());
  }

  bool known(Value value) const { return numbers.contains(value); }

  /// Copies what is known of some values to others, all at once.
  void carry(ValueRange from, ValueRange to) {
    SmallVector<std::optional<int64_t>> values;
    for (Value value : from)
      values.push_back(known(value) ? std::optional(numbers[value]) : std::nullopt);
    for (auto [value, target] : llvm::zip(values, to)) {
      numbers.erase(target);
      if (value)
        numbers[target] = *value;
    }
  }

  /// Arithmetic on known integers, through the ops' own folders.
  LogicalResult fold(Operation &op) {
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands()) {
      bool isInteger = isa<IntegerType>(operand.getType());
      operands.push_back(isInteger && known(operand) ? IntegerAttr::get(operand.getType(), numbers[operand])
                                                     : Attribute());
    }
    SmallVector<OpFoldResult> results;
    if (failed(op.fold(operands, results)) || results.size() != op.getNumResults())
      return success();
    for (auto [value, result] : llvm::zip(op.getResults(), results)) {
      numbers.erase(value);
      if (auto attr = dyn_cast_or_null<IntegerAttr>(dyn_cast<Attribute>(result)))
        numbers[value] = attr.getType().isInteger(1) ? attr.getValue().getZExtValue() : attr.getInt();
      else if (auto same = dyn_cast<Value>(result); same && known(same))
        numbers[value] = numbers[same];
    }
    return success();
  }

  //===-- Memory --===//

  LogicalResult access(Operation &op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
        .Case([&](tile::CopyOp copy) { return startCopy(copy, copy.getFrom()); })
        .Case([&](tile::CommitOp) { return ++committed, success(); })
        .Case([&](tile::WaitOp wait) { return land(wait), success(); })
        .Case([&](tile::BarrierOp) { return meet(/*wholeBlock=*/true), success(); })
        .Case([&](tile::SyncOp) { return meet(/*wholeBlock=*/false), success(); })
        .Case([&](tile::StoreQueryOp store) { return write(store, store.getQuery(), Block); })
        .Case([&](tile::ScoreOp score) {
          return failure(failed(read(score, score.getRing(), score.getStage())) ||
                         failed(this->load(score, score.getQuery(), Block)));
        })
        .Case([&](tile::WeighOp weigh) {
          return failure(failed(read(weigh, weigh.getRing(), weigh.getStage())) ||
                         failed(load(weigh, weigh.getProbs(), Group)));
        })
        .Case([&](tile::StoreMaximaOp store) { return write(store, store.getMaxima(), Group); })
        .Case([&](tile::SoftmaxOp softmax) {
          bool shares = bool(softmax.getMaxima());
          if (softmax.getScales() && failed(read(softmax, softmax.getScales(), softmax.getStage())))
            return failure();
          return failure((shares && failed(load(softmax, softmax.getMaxima(), Group))) ||
                         failed(write(softmax, softmax.getProbs(), Group)));
        })
        .Case([&](tile::ShareRowsOp share) { return write(share, share.getMemory(), Group); })
        .Case([&](tile::AllRowsOp all) { return load(all, all.getMemory(), Group); })
        .Case([&](tile::StoreStatsOp store) { return write(store, store.getStats(), Block); })
        .Case([&](tile::FinishRowsOp finish) { return load(finish, finish.getStats(), Block); })
        .Case([&](tile::MergeGroupsOp merge) { return mergeGroups(merge); })
        .Case([&](tile::CopyRowsOp copy) { return startRowCopy(copy); })
        .Case([&](tile::LoadQueryRowsOp load) { return write(load, load.getQuery(), Block); })
        .Case([&](tile::ScoreRowsOp score) {
          return failure(failed(read(score, score.getRing(), score.getStage())) ||
                         failed(this->load(score, score.getQuery(), Block)));
        })
        .Case([&](tile::WeighRowsOp weigh) { return read(weigh, weigh.getRing(), weigh.getStage()); })
        .Default([](Operation *) { return success(); });
  }

  FailureOr<Stage *> stageOf(Operation *op, Value ring, Value index) {
    auto type = cast<tile::SharedType>(ring.getType());
    std::vector<Stage> &stages = rings[ring];
    stages.resize(type.getStages());
    if (!known(index) || numbers[index] < 0 || numbers[index] >= type.getStages())
      return op->emitError() << "uses a stage that is not one of the ring's " << type.getStages()
                             << " [pipeline-stage]",
             failure();
    return &stages[numbers[index]];
  }

  /// A copy that its kernel may leave out.
  LogicalResult startRowCopy(tile::CopyRowsOp copy) {
    if (!known(copy.getEnabled()))
      return copy.emitError() << "depends on more than the item's tiles [pipeline-control]";
    return numbers[copy.getEnabled()] ? startCopy(copy, copy.getTile()) : success();
  }

  /// `tile` is known as the tile that is copied, or is an address of it.
  template <typename CopyT>
  LogicalResult startCopy(CopyT copy, Value tile) {
    if (!known(tile))
      return copy.emitError() << "depends on more than the item's tiles [pipeline-control]";
    FailureOr<Stage *> stage = stageOf(copy, copy.getRing(), copy.getStage());
    if (failed(stage))
      return failure();
    if ((*stage)->readSinceBarrier || (*stage)->state == Stage::UnderWay)
      return copy.emitError() << "refills a stage whose tile " << (*stage)->tile
                              << ((*stage)->state == Stage::UnderWay ? " is still under way"
                                                                     : " may still be read")
                              << ", for " << tiles << " tiles [pipeline-refill]";
    **stage = {Stage::UnderWay, numbers[tile], committed, false};
    return success();
  }

  /// All but the last `pending` groups of this thread have landed.
  void land(tile::WaitOp wait) {
    for (auto &[ring, stages] : rings)
      for (Stage &stage : stages)
        if (stage.state == Stage::UnderWay && stage.group < committed - int64_t(wait.getPending()))
          stage.state = Stage::Landed;
  }

  /// What one thread waited for before the barrier is visible to all that meet in it. Rings belong to groups.
  void meet(bool wholeBlock) {
    for (auto &[ring, stages] : rings)
      for (Stage &stage : stages) {
        stage.readSinceBarrier = false;
        if (stage.state == Stage::Landed)
          stage.state = Stage::Visible;
      }
    for (auto &[memory, exchange] : exchanges)
      if (wholeBlock || exchange.sharing == Group)
        exchange.writer = exchange.reader = nullptr;
  }

  /// The groups' merge writes and reads its memory between barriers of its own; its last reads follow the
  /// last of them.
  LogicalResult mergeGroups(tile::MergeGroupsOp merge) {
    if (failed(write(merge, merge.getMemory(), Block)))
      return failure();
    meet(/*wholeBlock=*/true);
    return load(merge, merge.getMemory(), Block);
  }

  /// A stage must hold the tile that its reader is about to use: each reader takes tiles in order.
  LogicalResult read(Operation *op, Value ring, Value index) {
    FailureOr<Stage *> stage = stageOf(op, ring, index);
    if (failed(stage))
      return failure();
    int64_t expected = nextTile[op->getName()]++;
    (*stage)->readSinceBarrier = true;
    if ((*stage)->state == Stage::Visible && (*stage)->tile == expected)
      return success();
    constexpr const char *states[] = {"nothing", "a copy under way", "a copy that is not visible to all",
                                      "a tile"};
    return op->emitError() << "needs tile " << expected << " and finds " << states[(*stage)->state]
                           << ((*stage)->state == Stage::Empty ? std::string()
                                                               : " (" + std::to_string((*stage)->tile) + ")")
                           << ", for " << tiles << " tiles [pipeline-read]";
  }

  LogicalResult write(Operation *op, Value memory, Sharing sharing) {
    Exchange &exchange = exchanges[memory];
    exchange.sharing = sharing;
    if (exchange.writer || exchange.reader)
      return conflict(op, exchange.writer ? exchange.writer : exchange.reader);
    exchange.writer = op;
    exchange.everWritten = true;
    return success();
  }

  LogicalResult load(Operation *op, Value memory, Sharing sharing) {
    Exchange &exchange = exchanges[memory];
    exchange.sharing = sharing;
    if (exchange.writer || !exchange.everWritten)
      return conflict(op, exchange.writer ? exchange.writer : op);
    exchange.reader = op;
    return success();
  }

  LogicalResult conflict(Operation *op, Operation *other) {
    InFlightDiagnostic diag = op->emitError()
                              << "uses shared memory that another thread may still use: no barrier lies "
                                 "between, for "
                              << tiles << " tiles [pipeline-barrier]";
    diag.attachNote(other->getLoc()) << "the other use";
    return diag;
  }

  tile::KernelOp kernel;
  int64_t tiles;
  int64_t item = 0;                       // that runs now
  llvm::DenseMap<Value, int64_t> numbers; // integers, booleans, and the tile that an address is of
  llvm::MapVector<Value, std::vector<Stage>> rings;
  llvm::MapVector<Value, Exchange> exchanges;
  std::map<OperationName, int64_t, bool (*)(OperationName, OperationName)> nextTile{
      [](OperationName a, OperationName b) { return a.getStringRef() < b.getStringRef(); }};
  int64_t committed = 0;
};

struct VerifyPipeline : mlac::impl::VerifyPipelineBase<VerifyPipeline> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<tile::KernelOp>())
      if (int64_t stages = kernel.getSchedule()          ? kernel.getSchedule()->getStages()
                           : kernel.getPrefillSchedule() ? kernel.getPrefillSchedule()->getStages()
                                                         : 0;
          stages && failed(verify(kernel, stages)))
        signalPassFailure();
  }

  /// From no tile at all to every stage refilled once.
  static LogicalResult verify(tile::KernelOp kernel, int64_t stages) {
    for (int64_t tiles = 0; tiles <= 2 * stages + 1; ++tiles)
      if (failed(Machine(kernel, tiles).run()))
        return failure();
    return success();
  }
};

} // namespace

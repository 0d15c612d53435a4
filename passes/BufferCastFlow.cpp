// Traces, and the work list that spreads them. Each value's trace improves a bounded number of times, and an
// op is visited when an operand's does: the work is linear in the module.
#include "passes/BufferCastFlow.h"

#include "dialect/mla/MLA.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace mlac {

/// Improvements of one value's trace: from nothing, by a first write, by a conversion, and once more for each
/// of two buffers behind one another.
static constexpr unsigned kMostUpdates = 6;

bool changesElements(Type from, Type to) {
  if (from == to || from.isIndex() || to.isIndex() || from.isInteger(1) || to.isInteger(1))
    return false;
  if (isa<IntegerType>(from) && isa<IntegerType>(to))
    return from.getIntOrFloatBitWidth() <= 8 && to.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth();
  return (from.isIntOrFloat() || isa<mla::RecordType>(from)) && to.isIntOrFloat();
}

BufferFlow::BufferFlow(ModuleOp module, int64_t threshold)
    : module(module), calls(module), valueSizes(calls, threshold) {}

//===-- Where traces start
//-------------------------------------------------------------------------------===//

/// Whether the elements of a result were computed or written by the op, or come from its operands.
static bool makesNoBuffer(OpResult result) {
  Operation *op = result.getOwner();
  if (isa<BaseMemRefType>(result.getType()))
    return isa<RegionBranchOpInterface, ViewLikeOpInterface, memref::ReshapeOp>(op);
  if (isa<CallOpInterface>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return false;
  return isFollowedDialect(op->getName().getDialectNamespace());
}

void BufferFlow::startAt(Value value) {
  if (!valueSizes.isBuffer(value))
    return;
  auto *trace = new (memory.Allocate<Trace>()) Trace{value, elementTypeOf(value.getType()), nullptr, nullptr};
  traces[value] = trace;
  roots.push_back(value);
}

void BufferFlow::start() {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    enqueue(op);
    if (auto function = dyn_cast<FunctionOpInterface>(op); function && !function.isExternal())
      for (BlockArgument argument : function.getArguments())
        startAt(argument);
    for (OpResult result : op->getResults())
      if (op->hasAttr(kBufferAttr) || (!makesNoBuffer(result) && !calls.callee(op)))
        startAt(result);
    if (auto global = dyn_cast<memref::GetGlobalOp>(op))
      globals[global.getNameAttr().getAttr()].push_back(global.getResult());
  });
}

//===-- The work list
//------------------------------------------------------------------------------------===//

void BufferFlow::enqueue(Operation *op) {
  bool &queued = isQueued[op];
  if (!queued)
    queue.push_back(op);
  queued = true;
}

void BufferFlow::run() {
  start();
  FlowTransfer transfer(*this);
  while (!queue.empty()) {
    Operation *op = queue.front();
    queue.pop_front();
    isQueued[op] = false;
    ++visited;
    transfer.visit(op);
  }
  // Of those that turned out to be views or copies of others, none is a buffer of its own.
  llvm::erase_if(roots, [&](Value root) { return at(root)->buffer != root; });
}

void BufferFlow::record(FlowRecorder &to) {
  recorder = &to;
  FlowTransfer transfer(*this);
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ++visited;
    transfer.visit(op);
  });
  recorder = nullptr;
}

/// A trace is better than none, than that of a buffer which is itself a copy, and with a conversion than
/// without.
bool BufferFlow::improves(Value value, const Trace *old, const Trace &trace) const {
  if (!old)
    return true;
  if (old->buffer != trace.buffer && (old->buffer == value || at(old->buffer)->buffer != old->buffer))
    return true;
  return !old->cast && trace.cast;
}

bool BufferFlow::update(Value value, const Trace &trace) {
  const Trace *old = at(value);
  if (recorder || !improves(value, old, trace) || ++updates[value] > kMostUpdates)
    return false;
  traces[value] = new (memory.Allocate<Trace>()) Trace(trace);
  for (Operation *user : value.getUsers())
    enqueue(user);
  // Values yielded into or captured by a region are read by its ops; an argument's readers may be the op
  // around it.
  if (auto argument = dyn_cast<BlockArgument>(value))
    enqueue(argument.getOwner()->getParentOp());
  return true;
}

const HopChain *BufferFlow::extend(const HopChain *chain, BufferHop hop) {
  if (chain && chain->hop.op == hop.op && chain->hop.kind == hop.kind)
    return chain;
  return new (memory.Allocate<HopChain>()) HopChain{hop, chain, chain ? chain->length + 1 : 1};
}

//===-- Steps
//--------------------------------------------------------------------------------------------===//

void BufferFlow::pass(Value from, Value to) {
  if (const Trace *trace = at(from))
    update(to, *trace);
}

void BufferFlow::follow(Value from, Value to, BufferHop::Kind kind, Operation *op) {
  const Trace *trace = at(from);
  if (!trace || trace->buffer == to)
    return;
  Trace next = *trace;
  Type element = elementTypeOf(to.getType());
  // Bits that are read as another type, before any conversion: that is what was stored.
  if (!next.cast && element != elementTypeOf(from.getType()) && isa<FloatType, IntegerType>(element))
    next.storage = element;
  next.hops = extend(trace->hops, {kind, op, element});
  update(to, next);
}

void BufferFlow::convert(Operation *op, Value from, Value to) {
  const Trace *trace = at(from);
  if (!trace)
    return;
  Type element = elementTypeOf(to.getType());
  Trace next = *trace;
  next.cast = trace->cast ? trace->cast : op;
  next.hops = extend(trace->hops, {BufferHop::Cast, op, element});
  update(to, next);
  if (!recorder || !changesElements(trace->storage, element))
    return;
  if (isa<TensorType>(to.getType()) && valueSizes.holdsWhole(to, trace->buffer, valueSizes.elements(to)))
    recorder->copied(op, *trace, next, to, valueSizes.elements(to));
  else
    recorder->converted(op, next, element);
}

/// What a function writes through an argument, its callers find in what they passed.
void BufferFlow::addPassed(Value root, SmallVectorImpl<Value> &places) {
  auto argument = dyn_cast<BlockArgument>(root);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return;
  for (Operation *call : calls.callers(argument.getOwner()->getParentOp()))
    places.push_back(rootOf(BufferCastCalls::arguments(call)[argument.getArgNumber()]));
}

void BufferFlow::writeMemory(Value root, const Trace &trace) {
  SmallVector<Value> places{root};
  while (!places.empty()) {
    Value place = places.pop_back_val();
    if (place == trace.buffer || !update(place, trace))
      continue;
    if (auto global = place.getDefiningOp<memref::GetGlobalOp>())
      for (Value same : globals[global.getNameAttr().getAttr()])
        update(same, trace);
    addPassed(place, places);
  }
}

void BufferFlow::write(Operation *op, Value value, Value destination, Value result,
                       std::optional<int64_t> elements) {
  const Trace *trace = at(value);
  Value root = result ? destination : rootOf(destination);
  if (!trace || root == trace->buffer)
    return;
  std::optional<int64_t> repeats = valueSizes.repeats(op), written;
  int64_t product;
  if (elements && repeats && !llvm::MulOverflow(*elements, *repeats, product))
    written = product;
  Type element = elementTypeOf(value.getType());
  Trace next = *trace;
  next.hops = extend(trace->hops, {next.cast ? BufferHop::Store : BufferHop::Copy, op, element});
  Value place = result ? result : root;
  bool isWhole = valueSizes.holdsWhole(place, trace->buffer, written);
  // A few elements in a large memory do not make it a copy.
  if (isWhole || !valueSizes.holdsWhole(place, trace->buffer, std::nullopt))
    writeMemory(place, next);
  if (recorder && isWhole && changesElements(trace->storage, element))
    recorder->copied(op, *trace, next, place, written);
}

//===-- Memory and factors
//-------------------------------------------------------------------------------===//

Value BufferFlow::rootOf(Value memref) {
  auto [known, isNew] = memoryRoots.try_emplace(memref, memref);
  if (!isNew)
    return known->second;
  Value root = memref;
  while (Operation *op = root.getDefiningOp()) {
    if (!isa<ViewLikeOpInterface, memref::ReshapeOp, memref::TransposeOp>(op) || op->getNumOperands() == 0)
      break;
    root = op->getOperand(0);
    if (auto earlier = memoryRoots.find(root); earlier != memoryRoots.end() && earlier->second != root) {
      root = earlier->second;
      break;
    }
  }
  memoryRoots[memref] = root;
  return root;
}

/// Values a token of a memory. A vector of many is one value a token.
static int64_t weightOfMemory(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank() || shaped.getRank() == 0)
    return 0;
  if (shaped.getRank() == 1)
    return shaped.isDynamicDim(0) || shaped.getDimSize(0) > 4096 ? 1 : shaped.getDimSize(0);
  return elementsPerToken(type, /*isPaged=*/false);
}

/// The memory that an op reads elements of; null if it is no load.
static Value loadedFrom(Operation *op) {
  if (isa<memref::LoadOp, vector::LoadOp, vector::TransferReadOp, vector::MaskedLoadOp, vector::GatherOp,
          vector::ExpandLoadOp, tensor::ExtractOp, affine::AffineLoadOp, affine::AffineVectorLoadOp>(op))
    return op->getOperand(0);
  return {};
}

std::optional<int64_t> BufferFlow::findWeight(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<FunctionOpInterface>(parent) && argument.getOwner()->isEntryBlock())
      return weightOfMemory(value.getType());
    auto structured = dyn_cast<linalg::LinalgOp>(parent);
    if (!structured || argument.getArgNumber() >= parent->getNumOperands())
      return value.getType().isIndex() ? std::optional<int64_t>(0) : std::nullopt;
    OpOperand &operand = parent->getOpOperand(argument.getArgNumber());
    bool isSum = structured.isDpsInit(&operand) && structured.getNumReductionLoops() > 0;
    return isSum ? std::nullopt : std::optional<int64_t>(weightOfMemory(operand.get().getType()));
  }
  Operation *op = value.getDefiningOp();
  if (op->hasTrait<OpTrait::ConstantLike>())
    return 0;
  if (Value loaded = loadedFrom(op))
    return weightOfMemory(isa<BaseMemRefType>(loaded.getType()) ? rootOf(loaded).getType()
                                                                : loaded.getType());
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  bool combines =
      OpTrait::hasElementwiseMappableTraits(op) ||
      isa<vector::BroadcastOp, vector::ExtractOp, vector::ShapeCastOp, tensor::SplatOp, arith::SelectOp>(
          op) ||
      (structured && structured.getNumReductionLoops() == 0);
  if (!combines)
    return std::nullopt;
  int64_t most = 0;
  SmallVector<Value> inputs =
      structured ? structured.getDpsInputs() : llvm::to_vector(ValueRange(op->getOperands()));
  for (Value operand : inputs) {
    std::optional<int64_t> weight = weightOf(operand);
    if (!weight)
      return std::nullopt;
    most = std::max(most, *weight);
  }
  return most;
}

std::optional<int64_t> BufferFlow::weightOf(Value value) {
  if (depth >= kDeepest)
    return std::nullopt;
  auto [known, isNew] = weights.try_emplace(value, std::nullopt);
  if (!isNew)
    return known->second;
  ++depth;
  std::optional<int64_t> weight = findWeight(value);
  --depth;
  weights[value] = weight;
  return weight;
}

static bool isNarrow(Type storage) { return storage.isIntOrFloat() && storage.getIntOrFloatBitWidth() <= 8; }

bool BufferFlow::isScaleFor(const Trace &trace, Value factor, Operation *op) {
  std::optional<int64_t> weight = weightOf(factor);
  if (!weight)
    return false;
  // Quantised values times wider ones are their dequantisation, even if there is a scale for each.
  const Trace *other = at(factor);
  if (isa<arith::MulFOp>(op) && isNarrow(trace.storage) && !(other && isNarrow(other->storage)))
    return true;
  auto shaped = dyn_cast<ShapedType>(trace.buffer.getType());
  bool isFlat = shaped && shaped.hasRank() && shaped.getRank() < 2;
  return isFlat || *weight < std::max<int64_t>(elementsPerToken(trace.buffer.getType(), false), 2);
}

} // namespace mlac

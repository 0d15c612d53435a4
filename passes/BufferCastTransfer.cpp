// How elements move through each kind of op. What is not named here ends a trace.
#include "passes/BufferCastFlow.h"

#include "dialect/mla/MLA.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mlac {

bool isFollowedDialect(StringRef name) {
  return llvm::is_contained({"builtin", "func", "memref", "tensor", "linalg", "arith", "math", "scf", "cf",
                             "vector", "gpu", "affine", "bufferization", "ub", "mla", "tile"},
                            name);
}

void FlowTransfer::visit(Operation *op) {
  // In program order operands come first, so that no later question has to climb a long chain.
  for (Value result : op->getResults())
    flow.weightOf(result);
  (void)(visitMla(op) || visitConversion(op) || visitView(op) || visitLoad(op) || visitStore(op) ||
         visitTensor(op) || visitVector(op) || visitStructured(op) || visitYield(op) ||
         visitElementwise(op) || visitCall(op) || visitControlFlow(op));
}

//===-- mla
//----------------------------------------------------------------------------------------------===//

/// A dequant is a conversion inside a tile load; it becomes a copy only where its rows are returned.
bool FlowTransfer::visitMla(Operation *op) {
  if (isa<mla::SliceOp, mla::ScaleOp>(op)) {
    flow.follow(op->getOperand(0), op->getResult(0), BufferHop::View, op);
    return true;
  }
  if (isa<mla::DequantOp>(op)) {
    const Trace *trace = flow.at(op->getOperand(0));
    if (trace && flow.recorder)
      flow.recorder->converted(op, *trace, elementTypeOf(op->getResult(0).getType()));
    if (trace)
      flow.update(op->getResult(0), Trace{trace->buffer, trace->storage, trace->cast,
                                          flow.extend(trace->hops, {BufferHop::View, op, trace->storage})});
    return true;
  }
  auto cast = dyn_cast<mla::CastOp>(op);
  const Trace *trace = cast ? flow.at(cast.getSource()) : nullptr;
  if (!trace)
    return cast;
  Type element = cast.getResult().getType().getElementType();
  Trace next{trace->buffer, trace->storage, trace->cast ? trace->cast : op,
             flow.extend(trace->hops, {BufferHop::Cast, op, element})};
  flow.update(cast.getResult(), next);
  if (flow.recorder && element != trace->storage)
    flow.recorder->copied(op, *trace, next, cast.getResult(), std::nullopt);
  return true;
}

//===-- Scalars, vectors and whole tensors
//---------------------------------------------------------------===//

bool FlowTransfer::visitConversion(Operation *op) {
  if (isa<arith::BitcastOp>(op)) {
    flow.follow(op->getOperand(0), op->getResult(0), BufferHop::View, op);
    return true;
  }
  if (!isa<arith::ExtFOp, arith::TruncFOp, arith::ScalingExtFOp, arith::ScalingTruncFOp, arith::SIToFPOp,
           arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp, arith::ExtSIOp, arith::ExtUIOp,
           arith::TruncIOp>(op))
    return false;
  flow.convert(op, op->getOperand(0), op->getResult(0));
  return true;
}

/// The operand whose elements go on, because all others are factors of them; null if there is none. Of two
/// that may be each other's factor, the one of the larger and narrower memory is what is scaled.
Value FlowTransfer::scaledOperand(Operation *op) {
  Value best;
  auto rank = [&](Value value) {
    Type storage = flow.at(value)->storage;
    int64_t bits = storage.isIntOrFloat() ? storage.getIntOrFloatBitWidth() : 0;
    return std::pair(flow.weightOf(value).value_or(0), -bits);
  };
  for (Value moved : op->getOperands()) {
    const Trace *trace = flow.at(moved);
    auto isFactor = [&](Value other) { return other == moved || flow.isScaleFor(*trace, other, op); };
    if (trace && llvm::all_of(op->getOperands(), isFactor) && (!best || rank(moved) > rank(best)))
      best = moved;
  }
  return best;
}

bool FlowTransfer::visitElementwise(Operation *op) {
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1)
    return false;
  Value result = op->getResult(0);
  if (elementTypeOf(result.getType()).isInteger(1))
    return true;
  if (Value moved = scaledOperand(op))
    flow.pass(moved, result);
  return true;
}

//===-- Views
//--------------------------------------------------------------------------------------------===//

bool FlowTransfer::visitView(Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    flow.follow(select.getTrueValue(), select.getResult(), BufferHop::View, op);
    flow.follow(select.getFalseValue(), select.getResult(), BufferHop::View, op);
    return true;
  }
  bool isView = isa<ViewLikeOpInterface, tensor::CastOp, tensor::BitcastOp, tensor::ExpandShapeOp,
                    tensor::CollapseShapeOp, tensor::ReshapeOp, tensor::ExtractSliceOp, memref::ReshapeOp,
                    memref::TransposeOp, memref::MemorySpaceCastOp, bufferization::ToTensorOp,
                    bufferization::ToBufferOp, bufferization::CloneOp, memref::ReallocOp, tensor::PadOp,
                    linalg::PackOp, linalg::UnPackOp, memref::DistinctObjectsOp>(op);
  if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op))
    isView = cast->getNumOperands() == cast->getNumResults();
  if (!isView)
    return false;
  bool isOneToOne = isa<UnrealizedConversionCastOp, memref::DistinctObjectsOp>(op);
  for (unsigned i = 0, count = isOneToOne ? op->getNumResults() : 1; i < count && op->getNumOperands(); ++i)
    flow.follow(op->getOperand(i), op->getResult(i), BufferHop::View, op);
  return true;
}

//===-- Loads and stores
//---------------------------------------------------------------------------------===//

bool FlowTransfer::visitLoad(Operation *op) {
  if (!isa<memref::LoadOp, vector::LoadOp, vector::TransferReadOp, vector::MaskedLoadOp, vector::GatherOp,
           vector::ExpandLoadOp, tensor::ExtractOp, affine::AffineLoadOp, affine::AffineVectorLoadOp>(op))
    return false;
  flow.pass(op->getOperand(0), op->getResult(0));
  return true;
}

namespace {
/// What a store writes where.
struct Stored {
  Value value, destination;
};
} // namespace

static std::optional<Stored> storedBy(Operation *op) {
  using Result = std::optional<Stored>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](memref::StoreOp store) { return Stored{store.getValueToStore(), store.getMemref()}; })
      .Case([](affine::AffineStoreOp store) { return Stored{store.getValueToStore(), store.getMemref()}; })
      .Case([](affine::AffineVectorStoreOp store) {
        return Stored{store.getValueToStore(), store.getMemref()};
      })
      .Case([](vector::StoreOp store) { return Stored{store.getValueToStore(), store.getBase()}; })
      .Case([](vector::TransferWriteOp write) { return Stored{write.getVector(), write.getBase()}; })
      .Case([](vector::MaskedStoreOp store) { return Stored{store.getValueToStore(), store.getBase()}; })
      .Case([](vector::CompressStoreOp store) { return Stored{store.getValueToStore(), store.getBase()}; })
      .Case([](vector::ScatterOp scatter) { return Stored{scatter.getValueToStore(), scatter.getBase()}; })
      .Case([](memref::CopyOp copy) { return Stored{copy.getSource(), copy.getTarget()}; })
      .Case([](gpu::MemcpyOp copy) { return Stored{copy.getSrc(), copy.getDst()}; })
      .Case([](memref::DmaStartOp dma) { return Stored{dma.getSrcMemRef(), dma.getDstMemRef()}; })
      .Case([](bufferization::MaterializeInDestinationOp op) { return Stored{op.getSource(), op.getDest()}; })
      .Case([](tensor::InsertOp insert) { return Stored{insert.getScalar(), insert.getDest()}; })
      .Case([](tensor::InsertSliceOp insert) { return Stored{insert.getSource(), insert.getDest()}; })
      .Case([](tensor::ScatterOp scatter) { return Stored{scatter.getSource(), scatter.getDest()}; })
      .Default([](Operation *) { return std::nullopt; });
}

bool FlowTransfer::visitStore(Operation *op) {
  if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op)) {
    auto destination = dyn_cast<BlockArgument>(insert.getDest());
    auto loop =
        destination ? dyn_cast<scf::ForallOp>(destination.getOwner()->getParentOp()) : scf::ForallOp();
    if (loop)
      flow.write(op, insert.getSource(), insert.getDest(),
                 loop.getTiedOpResult(loop.getTiedOpOperand(destination)),
                 flow.sizes().elements(insert.getSource()));
    return true;
  }
  std::optional<Stored> stored = storedBy(op);
  if (!stored)
    return false;
  bool isTensor = isa<TensorType>(stored->destination.getType());
  Value result = isTensor && op->getNumResults() ? Value(op->getResult(0)) : Value();
  // The destination's other elements stay.
  if (result)
    flow.pass(stored->destination, result);
  flow.write(op, stored->value, stored->destination, result, flow.sizes().elements(stored->value));
  return true;
}

//===-- Tensors and vectors
//------------------------------------------------------------------------------===//

bool FlowTransfer::visitTensor(Operation *op) {
  if (auto gather = dyn_cast<tensor::GatherOp>(op)) {
    flow.write(op, gather.getSource(), gather.getResult(), gather.getResult(),
               flow.sizes().elements(gather.getResult()));
    return true;
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    for (Value input : concat.getInputs())
      flow.write(op, input, concat.getResult(), concat.getResult(), flow.sizes().elements(input));
    return true;
  }
  auto alloc = dyn_cast<bufferization::AllocTensorOp>(op);
  if (alloc && alloc.getCopy())
    flow.follow(alloc.getCopy(), alloc.getResult(), BufferHop::Copy, op);
  return alloc;
}

/// Vectors are tiles: their parts are followed together.
bool FlowTransfer::visitVector(Operation *op) {
  bool moves =
      isa<vector::BroadcastOp, vector::ExtractOp, vector::InsertOp, vector::ShapeCastOp, vector::TransposeOp,
          vector::ShuffleOp, vector::InterleaveOp, vector::DeinterleaveOp, vector::ExtractStridedSliceOp,
          vector::InsertStridedSliceOp, vector::BitCastOp, vector::ToElementsOp, vector::FromElementsOp,
          vector::TypeCastOp, gpu::ShuffleOp, gpu::RotateOp, gpu::SubgroupBroadcastOp>(op);
  if (!moves)
    return false;
  for (Value from : op->getOperands())
    for (Value to : op->getResults())
      if (isa<vector::BitCastOp>(op))
        flow.follow(from, to, BufferHop::View, op);
      else if (elementTypeOf(from.getType()) == elementTypeOf(to.getType()))
        flow.pass(from, to);
  return true;
}

//===-- Regions
//------------------------------------------------------------------------------------------===//

/// The body of a structured op sees one element of each operand.
bool FlowTransfer::visitStructured(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return false;
  Block *body = structured.getBlock();
  for (OpOperand &operand : op->getOpOperands())
    if (operand.getOperandNumber() < body->getNumArguments())
      flow.pass(operand.get(), body->getArgument(operand.getOperandNumber()));
  return true;
}

/// What a body yields is stored in every element of the result.
bool FlowTransfer::visitYield(Operation *op) {
  Operation *parent = op->getParentOp();
  if (auto structured = dyn_cast_or_null<linalg::LinalgOp>(parent); structured && isa<linalg::YieldOp>(op)) {
    for (auto [index, value] : llvm::enumerate(op->getOperands())) {
      OpOperand *init = structured.getDpsInitOperand(index);
      Value result = structured.hasPureTensorSemantics() ? Value(parent->getResult(index)) : Value();
      flow.write(parent, value, init->get(), result, flow.sizes().elements(init->get()));
    }
    return true;
  }
  if (isa<tensor::YieldOp>(op) && isa_and_nonnull<tensor::GenerateOp>(parent)) {
    Value result = parent->getResult(0);
    flow.write(parent, op->getOperand(0), result, result, flow.sizes().elements(result));
    return true;
  }
  if (isa<vector::YieldOp>(op) && isa_and_nonnull<vector::MaskOp>(parent)) {
    for (auto [value, result] : llvm::zip(op->getOperands(), parent->getResults()))
      flow.pass(value, result);
    return true;
  }
  return false;
}

void FlowTransfer::forward(OperandRange from, ValueRange to, Operation *op) {
  for (auto [source, target] : llvm::zip(from, to))
    flow.follow(source, target, BufferHop::Region, op);
}

void FlowTransfer::branch(Operation *op) {
  auto branch = cast<BranchOpInterface>(op);
  for (unsigned index = 0; index < op->getNumSuccessors(); ++index) {
    SuccessorOperands operands = branch.getSuccessorOperands(index);
    Block *target = op->getSuccessor(index);
    for (unsigned i = operands.getProducedOperandCount(); i < operands.size(); ++i)
      flow.follow(operands[i], target->getArgument(i), BufferHop::Region, op);
  }
}

bool FlowTransfer::visitControlFlow(Operation *op) {
  if (auto loop = dyn_cast<scf::ForallOp>(op))
    for (OpOperand &output : loop.getOutputsMutable())
      flow.follow(output.get(), loop.getTiedBlockArgument(&output), BufferHop::Region, op);
  SmallVector<RegionSuccessor> successors;
  if (auto region = dyn_cast<RegionBranchOpInterface>(op)) {
    region.getSuccessorRegions(RegionBranchPoint::parent(), successors);
    for (const RegionSuccessor &successor : successors)
      forward(region.getEntrySuccessorOperands(successor), successor.getSuccessorInputs(), op);
    return true;
  }
  if (auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(op);
      terminator && isa_and_nonnull<RegionBranchOpInterface>(op->getParentOp())) {
    terminator.getSuccessorRegions(SmallVector<Attribute>(op->getNumOperands()), successors);
    for (const RegionSuccessor &successor : successors)
      forward(terminator.getSuccessorOperands(successor), successor.getSuccessorInputs(), op->getParentOp());
    return true;
  }
  if (isa<BranchOpInterface>(op))
    branch(op);
  else if (op->hasTrait<OpTrait::ReturnLike>() || isa<mla::ReturnOp>(op))
    visitReturn(op);
  return true;
}

//===-- Functions
//----------------------------------------------------------------------------------------===//

bool FlowTransfer::visitCall(Operation *op) {
  FunctionOpInterface callee = flow.calls.callee(op);
  if (!callee)
    return false;
  for (auto [passed, argument] : llvm::zip(BufferCastCalls::arguments(op), callee.getArguments()))
    flow.follow(passed, argument, BufferHop::Call, op);
  return true;
}

void FlowTransfer::visitReturn(Operation *op) {
  Operation *parent = op->getParentOp();
  for (Operation *call : flow.calls.callers(parent))
    if (call->getNumResults() == op->getNumOperands())
      for (auto [value, result] : llvm::zip(op->getOperands(), call->getResults()))
        flow.follow(value, result, BufferHop::Return, call);
  auto kernel = dyn_cast<mla::KernelOp>(parent);
  if (!kernel || !flow.recorder)
    return;
  // A kernel's rows are stored as the result declares.
  for (auto [value, type] : llvm::zip(op->getOperands(), kernel.getResultTypes())) {
    const Trace *trace = flow.at(value);
    if (!trace || !isa<mla::BufferType>(type) || !changesElements(trace->storage, elementTypeOf(type)))
      continue;
    Trace next = *trace;
    next.hops = flow.extend(trace->hops, {BufferHop::Store, op, elementTypeOf(type)});
    flow.recorder->copied(op, *trace, next, value, std::nullopt);
  }
}

} // namespace mlac

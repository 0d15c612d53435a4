// Sizes and repetitions, from types and from the ops around.
#include "passes/BufferCastSizes.h"

#include "dialect/mla/MLA.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mlac {

using Count = std::optional<int64_t>;

static Count times(Count a, Count b) {
  int64_t product;
  if (!a || !b || llvm::MulOverflow(*a, *b, product))
    return std::nullopt;
  return product;
}

/// The larger of two upper bounds.
static Count larger(Count a, Count b) { return a && b ? Count(std::max(*a, *b)) : std::nullopt; }

//===-- Types
//--------------------------------------------------------------------------------------------===//

Type elementTypeOf(Type type) {
  return llvm::TypeSwitch<Type, Type>(type)
      .Case<mla::BufferType, mla::RowsType>([](auto rows) { return rows.getElementType(); })
      .Case<ShapedType>([](ShapedType shaped) { return shaped.getElementType(); })
      .Default([](Type scalar) { return scalar; });
}

int64_t elementsPerToken(Type type, bool isPaged) {
  if (auto buffer = dyn_cast<mla::BufferType>(type))
    return buffer.getHeads() * buffer.getWidth();
  if (auto rows = dyn_cast<mla::RowsType>(type))
    return rows.getHeads() * rows.getWidth();
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return 1;
  ArrayRef<int64_t> shape = shaped.getShape();
  size_t first = std::min<size_t>(isPaged && shape.size() > 2 ? 2 : 1, shape.size());
  for (size_t dim = first; dim < shape.size(); ++dim)
    if (ShapedType::isDynamic(shape[dim]))
      first = dim + 1;
  Count product = 1;
  for (int64_t size : shape.drop_front(first))
    product = times(product, size);
  return product.value_or(1);
}

/// Values of an element type that can be a stored number: no index, no truth value, no page number.
static bool isStoredNumber(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return integer.getWidth() > 1 && integer.getWidth() <= 8;
  return isa<FloatType>(element);
}

static bool isMemory(Type type) { return isa<MemRefType, UnrankedMemRefType, TensorType>(type); }

/// Shared and private memory of a block or thread: never larger than a tile.
static bool isBlockLocal(Type type) {
  auto memref = dyn_cast<BaseMemRefType>(type);
  if (!memref || !memref.getMemorySpace())
    return false;
  if (auto space = dyn_cast<gpu::AddressSpaceAttr>(memref.getMemorySpace()))
    return space.getValue() != gpu::AddressSpace::Global;
  auto number = dyn_cast<IntegerAttr>(memref.getMemorySpace());
  return number && (number.getInt() == 3 || number.getInt() == 5);
}

//===-- Elements
//-----------------------------------------------------------------------------------------===//

/// An upper bound of an index, where the program itself takes a minimum.
static Count boundOf(OpFoldResult size, unsigned depth = 0) {
  if (Count constant = getConstantIntValue(size))
    return constant;
  Operation *op = isa<Value>(size) ? cast<Value>(size).getDefiningOp() : nullptr;
  if (!op || depth > 8)
    return std::nullopt;
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return boundOf(op->getOperand(0), depth + 1);
  Count least;
  auto consider = [&](Count bound) {
    if (bound)
      least = least ? std::min(*least, *bound) : *bound;
  };
  if (isa<arith::MinSIOp, arith::MinUIOp>(op))
    for (Value operand : op->getOperands())
      consider(boundOf(operand, depth + 1));
  if (auto minimum = dyn_cast<affine::AffineMinOp>(op))
    for (AffineExpr expr : minimum.getMap().getResults())
      if (auto constant = dyn_cast<AffineConstantExpr>(expr))
        consider(constant.getValue());
  return least;
}

static Count product(ArrayRef<OpFoldResult> sizes) {
  Count count = 1;
  for (OpFoldResult size : sizes)
    count = times(count, boundOf(size));
  return count;
}

/// Of a type whose dynamic dimensions are, in order, these.
static Count productOfDynamic(ShapedType type, ValueRange sizes) {
  Count count = 1;
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size))
      count = times(count, size);
  for (Value size : sizes)
    count = times(count, boundOf(size));
  return count;
}

Count BufferCastSizes::elementsOfResult(OpResult result) {
  Operation *op = result.getOwner();
  if (auto sliced = dyn_cast<OffsetSizeAndStrideOpInterface>(op))
    if (Count count = product(sliced.getMixedSizes()); count && !isa<tensor::InsertSliceOp>(op))
      return count;
  if (isa<tensor::EmptyOp, memref::AllocOp, memref::AllocaOp, bufferization::AllocTensorOp, gpu::AllocOp>(
          op)) {
    auto sizes = llvm::make_filter_range(op->getOperands(), [](Value v) { return v.getType().isIndex(); });
    return productOfDynamic(cast<ShapedType>(result.getType()), llvm::to_vector(sizes));
  }
  if (auto styled = dyn_cast<DestinationStyleOpInterface>(op))
    return elements(styled.getTiedOpOperand(result)->get());
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    OpOperand *init =
        isa<scf::ForOp, scf::ForallOp, affine::AffineForOp>(op) ? loop.getTiedLoopInit(result) : nullptr;
    return init ? elements(init->get()) : std::nullopt;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.elseBlock())
    return larger(elements(branch.thenYield().getOperand(result.getResultNumber())),
                  elements(branch.elseYield().getOperand(result.getResultNumber())));
  if (isa<arith::SelectOp>(op))
    return larger(elements(op->getOperand(1)), elements(op->getOperand(2)));
  // Views, casts and elementwise ops are as large as what they read.
  bool follows = isa<ViewLikeOpInterface, tensor::CastOp, tensor::BitcastOp, tensor::ExpandShapeOp,
                     tensor::CollapseShapeOp, tensor::ReshapeOp, bufferization::ToTensorOp,
                     bufferization::ToBufferOp, bufferization::CloneOp>(op);
  if ((follows && !isa<memref::ViewOp>(op)) || OpTrait::hasElementwiseMappableTraits(op))
    return op->getNumOperands() ? elements(op->getOperand(0)) : std::nullopt;
  return std::nullopt;
}

Count BufferCastSizes::elementsOfArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (isa<scf::ForOp, scf::ForallOp, affine::AffineForOp>(parent)) {
    OpOperand *init = cast<LoopLikeOpInterface>(parent).getTiedLoopInit(argument);
    return init ? elements(init->get()) : std::nullopt;
  }
  ArrayRef<Operation *> callers = calls.callers(parent);
  if (callers.empty() || !argument.getOwner()->isEntryBlock())
    return std::nullopt;
  Count most = 0;
  for (Operation *call : callers) {
    OperandRange arguments = BufferCastCalls::arguments(call);
    if (argument.getArgNumber() >= arguments.size())
      return std::nullopt;
    most = larger(most, elements(arguments[argument.getArgNumber()]));
  }
  return most;
}

Count BufferCastSizes::findElements(Value value) {
  auto shaped = dyn_cast<ShapedType>(value.getType());
  if (!shaped)
    return isa<mla::BufferType, mla::RowsType>(value.getType()) ? std::nullopt : Count(1);
  if (!shaped.hasRank())
    return std::nullopt;
  if (shaped.hasStaticShape()) {
    Count count = 1;
    for (int64_t size : shaped.getShape())
      count = times(count, size);
    return count;
  }
  if (auto result = dyn_cast<OpResult>(value))
    return elementsOfResult(result);
  return elementsOfArgument(cast<BlockArgument>(value));
}

Count BufferCastSizes::elements(Value value) {
  if (depth >= kDeepest)
    return std::nullopt;
  // The entry made first ends recursion through functions and loops that feed themselves.
  auto [known, isNew] = knownElements.try_emplace(value, std::nullopt);
  if (!isNew)
    return known->second;
  ++depth;
  Count count = findElements(value);
  --depth;
  knownElements[value] = count;
  return count;
}

//===-- Repetitions
//--------------------------------------------------------------------------------------===//

static Count tripCount(OpFoldResult lower, OpFoldResult upper, OpFoldResult step) {
  Count from = getConstantIntValue(lower), to = getConstantIntValue(upper), by = getConstantIntValue(step);
  if (!from || !to || !by || *by <= 0)
    return std::nullopt;
  return *to <= *from ? 0 : (*to - *from + *by - 1) / *by;
}

/// How often an op runs the code inside it; 1 for what is no loop.
static Count repeatsInside(Operation *op) {
  if (isa<gpu::LaunchOp, gpu::GPUFuncOp>(op))
    return std::nullopt;
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (!loop)
    return 1;
  auto lower = loop.getLoopLowerBounds(), upper = loop.getLoopUpperBounds(), steps = loop.getLoopSteps();
  if (!lower || !upper || !steps)
    return std::nullopt;
  Count count = 1;
  for (auto [from, to, by] : llvm::zip_equal(*lower, *upper, *steps))
    count = times(count, tripCount(from, to, by));
  return count;
}

/// The blocks that a branch can lead back to.
static llvm::DenseMap<Block *, bool> findCycles(Region &region) {
  llvm::DenseMap<Block *, bool> cyclic;
  for (auto scc = llvm::scc_begin(&region); !scc.isAtEnd(); ++scc)
    for (Block *block : *scc)
      cyclic[block] = scc.hasCycle();
  return cyclic;
}

Count BufferCastSizes::repeatsOfCalls(Operation *function) {
  ArrayRef<Operation *> callers = calls.callers(function);
  if (callers.empty())
    return 1;
  int64_t total = 0;
  for (Operation *call : callers) {
    Count count = repeats(call);
    if (!count || llvm::AddOverflow(total, *count, total))
      return std::nullopt;
  }
  return total;
}

Count BufferCastSizes::findRepeats(Block *block) {
  Operation *parent = block->getParentOp();
  if (!parent || isa<ModuleOp>(parent))
    return 1;
  Region *region = block->getParent();
  if (!region->hasOneBlock()) {
    auto [cyclic, isNew] = cycles.try_emplace(region);
    if (isNew)
      cyclic->second = findCycles(*region);
    if (cyclic->second.lookup(block))
      return std::nullopt;
  }
  Count inside = repeatsInside(parent);
  return times(inside, isa<FunctionOpInterface>(parent) ? repeatsOfCalls(parent) : repeats(parent));
}

Count BufferCastSizes::repeats(Operation *op) {
  Block *block = op->getBlock();
  if (!block)
    return 1;
  if (depth >= kDeepest)
    return std::nullopt;
  auto [known, isNew] = knownRepeats.try_emplace(block, std::nullopt);
  if (!isNew)
    return known->second;
  ++depth;
  Count count = findRepeats(block);
  --depth;
  knownRepeats[block] = count;
  return count;
}

//===-- The rule
//-----------------------------------------------------------------------------------------===//

static bool hasAttribute(Value value, StringRef name) {
  if (Operation *op = value.getDefiningOp())
    return op->hasAttr(name);
  auto argument = cast<BlockArgument>(value);
  auto function = dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && argument.getOwner()->isEntryBlock() &&
         argument.getArgNumber() < function.getNumArguments() &&
         function.getArgAttr(argument.getArgNumber(), name);
}

static bool isPageTableName(StringRef name) {
  return llvm::is_contained({"page_table", "block_table", "block_tables", "kv_indices"}, name);
}

static bool isPageTable(BlockArgument argument) {
  auto element = dyn_cast<IntegerType>(elementTypeOf(argument.getType()));
  bool isTable = isMemory(argument.getType()) &&
                 (elementTypeOf(argument.getType()).isIndex() || (element && element.getWidth() >= 16));
  if (!isTable)
    return false;
  auto name = dyn_cast<NameLoc>(argument.getLoc());
  return hasAttribute(argument, kPageTableAttr) || (name && isPageTableName(name.getName()));
}

/// The argument of stored rows that stands directly before or after a page table.
static BlockArgument cacheBeside(Block *entry, unsigned table) {
  for (int64_t neighbour : {int64_t(table) - 1, int64_t(table) + 1}) {
    if (neighbour < 0 || neighbour >= int64_t(entry->getNumArguments()))
      continue;
    BlockArgument argument = entry->getArgument(neighbour);
    auto shaped = dyn_cast<ShapedType>(argument.getType());
    if (shaped && shaped.hasRank() && shaped.getRank() >= 2 && isStoredNumber(shaped.getElementType()))
      return argument;
  }
  return {};
}

bool BufferCastSizes::isPaged(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !isMemory(value.getType()) || !argument.getOwner()->isEntryBlock() ||
      !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return false;
  // A key cache and a value cache of one shape are both beside the table.
  for (BlockArgument table : argument.getOwner()->getArguments())
    if (isPageTable(table))
      if (BlockArgument cache = cacheBeside(argument.getOwner(), table.getArgNumber()))
        return cache.getType() == argument.getType();
  return false;
}

bool BufferCastSizes::isLarge(Type element, Count count) {
  if (!count)
    return true;
  Count bits = element.isIntOrFloat() ? times(*count, element.getIntOrFloatBitWidth()) : std::nullopt;
  return !bits || *bits / 8 >= threshold;
}

bool BufferCastSizes::isBuffer(Value value) {
  Type type = value.getType();
  if (isa<mla::BufferType>(type))
    return true;
  if (!isMemory(type) || hasAttribute(value, kTileAttr))
    return false;
  if (hasAttribute(value, kBufferAttr))
    return true;
  if (isBlockLocal(type) || !isStoredNumber(elementTypeOf(type)))
    return false;
  return isPaged(value) || isLarge(elementTypeOf(type), elements(value));
}

bool BufferCastSizes::holdsWhole(Value destination, Value buffer, Count written) {
  Type type = destination.getType();
  if (isBlockLocal(type) || hasAttribute(destination, kTileAttr) || !isMemory(type))
    return false;
  Count size = elements(buffer), room = elements(destination);
  auto reaches = [&](Count count) {
    return isLarge(elementTypeOf(type), count) || (size && *count >= *size);
  };
  return (hasAttribute(destination, kBufferAttr) || reaches(room)) && reaches(written);
}

} // namespace mlac

// tile-to-nvvm: the pass, and what its pattern files share.
#include "passes/Passes.h"

#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "passes/TargetOptions.h"
#include "passes/nvvm/Prefill.h"

namespace mlac {
#define GEN_PASS_DEF_TONVVM
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;

namespace mlac {

//===-- Types ------------------------------------------------------------------------------------------===//

static void convertBuffer(mla::BufferType type, SmallVectorImpl<Type> &results) {
  Type pointer = LLVM::LLVMPointerType::get(type.getContext(), kGlobal);
  Type i64 = IntegerType::get(type.getContext(), 64), i32 = IntegerType::get(type.getContext(), 32);
  if (type.getShape().size() == 2)
    results.append({pointer, i64, i64});
  else if (type.getLayout() == mla::Layout::paged)
    results.append({pointer, i64, i64, pointer, i64, i32, i32, i32});
  else
    results.append({pointer, i64, pointer});
  if (type.getScaleRowBytes())
    results.append({pointer, i64, i64});
}

TileTypeConverter::TileTypeConverter(MLIRContext *context) {
  Type i32 = IntegerType::get(context, 32);
  addConversion([](Type type) { return type; });
  addConversion([](mla::BufferType type, SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
    convertBuffer(type, results);
    return success();
  });
  addConversion([](mla::HeadValuesType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext(), kGlobal);
  });
  addConversion([](tile::PlanType type, SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
    results.append(7, LLVM::LLVMPointerType::get(type.getContext(), kGlobal));
    return success();
  });
  addConversion([i32](tile::BatchType type, SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
    Type pointer = LLVM::LLVMPointerType::get(type.getContext(), kGlobal);
    results.append(3, pointer);
    results.append(10, i32);
    results.append(2, pointer);
    return success();
  });
  addConversion([i32](tile::PlacesType type, SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
    results.append(5, i32);
    results.append(2, LLVM::LLVMPointerType::get(type.getContext(), kGlobal));
    return success();
  });
  addConversion([i32](tile::ItemType, SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
    results.append(ItemView::kRegisters, i32);
    return success();
  });
  addConversion([i32](tile::PiecesType type, SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
    results.append(type.getRegisters(), i32);
    return success();
  });
  addConversion([i32](tile::CursorType, SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
    results.append(CursorView::kRegisters, i32);
    return success();
  });
  addConversion([](tile::AddressType type, SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
    // Page, place in it, valid: kept apart, so that nothing waits for the page table before the copy.
    for (int64_t row = 0; row < type.getRows(); ++row)
      results.append({IntegerType::get(type.getContext(), 32), IntegerType::get(type.getContext(), 32),
                      IntegerType::get(type.getContext(), 1)});
    return success();
  });
  addConversion([](tile::FragmentType type, SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
    bool pairs = type.getRole() == tile::Role::operand;
    results.append(type.getRegisters(),
                   pairs ? IntegerType::get(type.getContext(), 32) : type.getElementType());
    return success();
  });
  addConversion(
      [](tile::SharedType type) -> Type { return LLVM::LLVMPointerType::get(type.getContext(), kShared); });
}

//===-- What a pattern knows of its kernel -------------------------------------------------------------===//

/// The enclosing entry point's attribute, before or after the entry point itself is converted.
template <typename AttrT>
static AttrT kernelAttr(Operation *op, StringRef name) {
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (isa<tile::KernelOp, LLVM::LLVMFuncOp>(parent))
      return parent->getAttrOfType<AttrT>(name);
  return {};
}

tile::ScheduleAttr scheduleOf(Operation *op) { return kernelAttr<tile::ScheduleAttr>(op, "schedule"); }
tile::PrefillScheduleAttr prefillOf(Operation *op) {
  return kernelAttr<tile::PrefillScheduleAttr>(op, "prefill_schedule");
}
int64_t headsPerKvOf(Operation *op) {
  auto kvHeads = kernelAttr<IntegerAttr>(op, "kv_heads");
  return headsOf(op) / (kvHeads ? kvHeads.getInt() : 1);
}
int64_t headsOf(Operation *op) { return kernelAttr<IntegerAttr>(op, "heads").getInt(); }
Element computeOf(Operation *op) { return elementOf(kernelAttr<TypeAttr>(op, "compute").getValue()); }

//===-- Shared pieces ----------------------------------------------------------------------------------===//

Value HeadsView::address(Emitter &e, Value token, Value head, int64_t elementBytes) const {
  // 64-bit from the first multiplication on: token x stride passes 2^31 at 32,768 tokens of 128 x 512.
  Value elements = e.add(e.mul(e.widen(token), strideToken), e.mul(e.widen(head), strideHead));
  return e.offset(data, e.mul(elements, elementBytes));
}

Value stageAddress(Emitter &e, Value shared, tile::SharedType type, Value stage) {
  return e.offset(shared, e.mul(stage, type.getStageBytes()));
}

Value ringAddress(Emitter &e, Value ring, tile::SharedType type, tile::ScheduleAttr schedule,
                  const GroupView &view, Value stage) {
  return stageAddress(e, ring, type, e.add(e.mul(view.group, schedule.getStages()), stage));
}

Value statsRow(Emitter &e, int64_t index) {
  return e.add(e.shl(e.bitAnd(e.lane(), 3), 1), index / 2 * 8 + index % 2);
}

Value convertPair(Emitter &e, Value pair, Element from, Element to) {
  if (from == to)
    return pair;
  Value low, high;
  if (from == Element::BF16) {
    low = e.bitcast(e.shl(pair, 16), e.f32());
    high = e.bitcast(e.bitAnd(pair, 0xffff0000), e.f32());
  } else {
    Value halves = e.bitcast(pair, e.vec(2, e.builder.getF16Type()));
    auto lane = [&](int64_t i) -> Value {
      Value half = LLVM::ExtractElementOp::create(e.builder, e.loc, halves, e.i32(i));
      return LLVM::FPExtOp::create(e.builder, e.loc, e.f32(), half);
    };
    low = lane(0);
    high = lane(1);
  }
  return e.call1(to == Element::F16 ? Instr::F32ToF16 : Instr::F32ToBF16, {high, low});
}

/// The bytes' bits as bf16 2^120 too small: exact for every number, subnormals included. Multiplied by 2^120 if asked.
static Value bytesToBF16(Emitter &e, Value word, bool restore) {
  Value magnitude = e.bitAnd(e.shrU(word, 4), 0x07f007f0);
  Value bits = e.bitOr(e.bitAnd(word, 0x80008000), magnitude);
  if (!restore)
    return bits;
  Type pair = e.vec(2, e.builder.getBF16Type());
  Value scale = e.bitcast(e.i32(0x7b807b80), pair);
  return e.bitcast(LLVM::FMulOp::create(e.builder, e.loc, e.bitcast(bits, pair), scale), e.i32());
}

/// Two values of one 16-bit type, each minus one of the other's.
static Value subtractPairs(Emitter &e, Value a, Value b, Type element) {
  Type pair = e.vec(2, element);
  return e.bitcast(LLVM::FSubOp::create(e.builder, e.loc, e.bitcast(a, pair), e.bitcast(b, pair)), e.i32());
}

/// Bytes 0 and 2: 128 plus the lower seven bits, minus 128 plus what the sign bit takes away.
static Value int8ToBF16(Emitter &e, Value word) {
  Value low = e.bitOr(e.bitAnd(word, 0x007f007f), e.i32(0x43004300));
  Value sign = e.bitOr(e.bitAnd(word, 0x00800080), e.i32(0x43004300)); // 128, or 256
  return subtractPairs(e, low, sign, e.builder.getBF16Type());
}

/// Neighbouring bytes plus 128 become the mantissas of 1024 and more; 1152 is subtracted.
static std::pair<Value, Value> int8ToF16(Emitter &e, Value word) {
  Value moved = e.bitXor(word, 0x80808080);
  auto pair = [&](int64_t selector) {
    Value bits = e.call1(Instr::Permute, {moved, e.i32(0x64646464), e.i32(selector)});
    return subtractPairs(e, bits, e.i32(0x64806480), e.builder.getF16Type());
  };
  return {pair(0x4140), pair(0x4342)};
}

std::pair<Value, Value> convertBytes(Emitter &e, Value word, Element storage, Element compute, const Lift &lift) {
  if (storage == Element::Int8 && compute == Element::BF16)
    return {int8ToBF16(e, word), int8ToBF16(e, e.shrU(word, 8))};
  if (storage == Element::Int8)
    return int8ToF16(e, word);
  if (compute == Element::BF16)
    return {bytesToBF16(e, e.shl(word, 8), !lift.restoreOut), bytesToBF16(e, word, !lift.restoreOut)};
  Instr cvt = storage == Element::E4M3 ? Instr::E4M3ToF16 : Instr::E5M2ToF16;
  auto half = [&](Value v) -> Value { return arith::TruncIOp::create(e.builder, e.loc, e.i16(), v); };
  return {e.call1(cvt, half(word)), e.call1(cvt, half(e.shrU(word, 16)))};
}

std::pair<Value, Value> tokenAndHead(Emitter &e, Value row, int64_t heads) {
  return {e.divU(row, heads), e.remU(row, heads)};
}

Value loadHeadValue(Emitter &e, Value values, Value head) {
  // Nothing writes them during a launch: loads may leave loops.
  Value address = e.offset(values, e.mul(e.widen(head), 4));
  auto load = LLVM::LoadOp::create(e.builder, e.loc, e.f32(), address, /*alignment=*/4);
  load.setInvariant(true);
  return load;
}

void orderGrids(Emitter &e, Instr op, const LoweringOptions &options) {
  if (get(op).legalOn(options.target, options.ptx))
    e.call(op, {});
}

SmallVector<Value> rescaled(Emitter &e, ValueRange accumulators, ValueRange factors,
                            function_ref<int64_t(int64_t)> factorOf) {
  Value changed = e.boolean(false);
  for (Value factor : factors)
    changed = e.bitOr(changed, e.notEqualF(factor, e.f32(1.0)));
  SmallVector<Value> before(accumulators);
  return e.choose(
      e.call1(Instr::VoteAny, {e.i32(-1), changed}),
      [&] {
        SmallVector<Value> scaled;
        for (auto [index, value] : llvm::enumerate(before))
          scaled.push_back(e.mulF(value, factors[factorOf(int64_t(index))]));
        return scaled;
      },
      [&] { return before; });
}

void storeLse(Emitter &e, const HeadsView &lse, Value token, Value head, Value lse2, mla::LseBase base) {
  constexpr double ln2 = 0.6931471805599453;
  Value value = base == mla::LseBase::ln ? e.mulF(lse2, e.f32(ln2)) : lse2;
  e.store(value, lse.address(e, token, head, 4), 4);
}

} // namespace mlac

using namespace mlac;

namespace {

struct ToNVVM : mlac::impl::ToNVVMBase<ToNVVM> {
  using ToNVVMBase::ToNVVMBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<TargetChoice> choice = resolveTarget(module.getLoc(), target, "", ptx);
    if (failed(choice))
      return signalPassFailure();
    declareShared(module);
    MLIRContext *context = &getContext();
    TileTypeConverter converter(context);
    ConversionTarget legal(*context);
    legal.addLegalDialect<LLVM::LLVMDialect, arith::ArithDialect>();
    legal.addIllegalDialect<tile::TileDialect, mla::MLADialect>();
    legal.addLegalOp<ModuleOp>();
    RewritePatternSet patterns(context);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, legal);
    LoweringOptions options{choice->target, choice->ptx};
    populateStructure(converter, patterns, options);
    populateStream(converter, patterns);
    populateCopy(converter, patterns);
    populateQuery(converter, patterns);
    populateScore(converter, patterns, options);
    populateScoreMask(converter, patterns);
    populateWeigh(converter, patterns, options);
    populateSoftmax(converter, patterns);
    populateResult(converter, patterns);
    populateCombine(converter, patterns, options);
    populateMerge(converter, patterns);
    populatePlanner(converter, patterns);
    populateCheckTable(converter, patterns);
    populateWriter(converter, patterns);
    populatePrefillCopy(converter, patterns);
    populatePrefillScore(converter, patterns, options);
    populatePrefillSoftmax(converter, patterns);
    populatePrefillWeigh(converter, patterns, options);
    populatePrefillResult(converter, patterns);
    if (failed(applyPartialConversion(module, legal, std::move(patterns))))
      signalPassFailure();
  }

  /// The name for a block's dynamic shared memory; its size is given at launch.
  void declareShared(ModuleOp module) {
    OpBuilder builder(module.getBodyRegion());
    auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
    LLVM::GlobalOp::create(builder, module.getLoc(), bytes, /*isConstant=*/false, LLVM::Linkage::External,
                           kSharedSymbol, Attribute(), /*alignment=*/1024, kShared);
  }
};

} // namespace

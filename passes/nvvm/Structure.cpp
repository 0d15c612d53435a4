// Entry points, work items, allocations and the block barrier.
#include "passes/nvvm/Prefill.h"

using namespace mlir;
using namespace mlac;

//===-- Parameters -------------------------------------------------------------------------------------===//

/// The parameter names of one argument, in the order of its registers.
static SmallVector<StringRef> partsOf(Type type) {
  if (isa<tile::PlanType>(type))
    return {"q_indptr", "kv_len", "work_indptr", "work", "merges", "partial_out", "partial_lse"};
  if (isa<mla::HeadValuesType>(type))
    return {"data"};
  if (isa<tile::BatchType>(type))
    return {"q_indptr", "kv_len", "cache_indptr", "requests", "rows",  "tokens",  "blocks", "least",
            "fixed",    "items",  "slots",        "merges",   "pages", "scratch", "status"};
  if (isa<tile::PlacesType>(type))
    return {"rows", "requests", "pages", "columns", "slot_bytes", "slots", "kv_len"};
  auto buffer = dyn_cast<mla::BufferType>(type);
  if (!buffer)
    return {""};
  if (buffer.getShape().size() == 2)
    return {"data", "stride_token", "stride_head"};
  SmallVector<StringRef> parts{"data", "stride_token", "indptr"};
  if (buffer.getLayout() == mla::Layout::paged)
    parts = {"data", "stride_page", "stride_token", "table", "table_stride", "page_size", "page_magic", "page_shift"};
  if (buffer.getScaleRowBytes())
    parts.append({"scales", "scale_stride_page", "scale_stride_token"});
  return parts;
}

SmallVector<std::string> mlac::parameterNames(tile::KernelOp kernel) {
  SmallVector<std::string> names;
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
    for (StringRef part : partsOf(type))
      names.push_back((kernel.getArgName(index) + (part.empty() ? "" : ".") + part).str());
  return names;
}

namespace {

//===-- Kernels ----------------------------------------------------------------------------------------===//

struct LowerKernel : OpConversionPattern<tile::KernelOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::KernelOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TypeConverter::SignatureConversion signature(op.getNumArguments());
    for (auto [index, type] : llvm::enumerate(op.getArgumentTypes()))
      if (failed(typeConverter->convertSignatureArg(index, type, signature)))
        return failure();
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(getContext()), signature.getConvertedTypes());
    auto function = LLVM::LLVMFuncOp::create(rewriter, op.getLoc(), op.getSymName(), type);
    describe(op, function, rewriter);
    rewriter.inlineRegionBefore(op.getBody(), function.getBody(), function.getBody().end());
    if (failed(rewriter.convertRegionTypes(&function.getBody(), *typeConverter, &signature)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }

  static int64_t threadsOf(tile::KernelOp op) {
    if (op.getSchedule())
      return op.getSchedule()->getThreads();
    if (op.getPrefillSchedule())
      return op.getPrefillSchedule()->getThreads();
    int64_t threads = 128;
    op.walk([&](tile::CombineOp combine) { threads = combine.getThreads(); });
    op.walk([&](tile::MergeOp merge) { threads = merge.getThreads(); });
    op.walk([&](tile::PlanBatchOp plan) { threads = plan.getThreads(); });
    op.walk([&](tile::AppendOp append) { threads = append.getThreads(); });
    return threads;
  }

  /// What later patterns, the artefact and the report need to know.
  void describe(tile::KernelOp op, LLVM::LLVMFuncOp function, ConversionPatternRewriter &rewriter) const {
    auto threads = int32_t(threadsOf(op));
    function->setAttr("nvvm.kernel", rewriter.getUnitAttr());
    // The combine is launched with fewer, too.
    bool exact = op.getBody().front().getOps<tile::CombineOp>().empty();
    function->setAttr(exact ? "nvvm.reqntid" : "nvvm.maxntid", rewriter.getDenseI32ArrayAttr({threads}));
    // One block's registers: without this ptxas holds small blocks to 168 a thread and spills.
    if (op.getSchedule())
      function->setAttr("nvvm.minctasm", rewriter.getI32IntegerAttr(1));
    for (StringRef name : {"schedule", "prefill_schedule", "heads", "kv_heads", "compute", "mlac.info",
                           "mlac.writer", "shared_bytes"})
      if (Attribute attr = op->getAttr(name))
        function->setAttr(name, attr);
    auto names = parameterNames(op);
    function->setAttr("mlac.params", rewriter.getStrArrayAttr(llvm::map_to_vector(
                                         names, [](const std::string &name) { return StringRef(name); })));
    SmallVector<Attribute> operands;
    for (auto [index, type] : llvm::enumerate(op.getArgumentTypes()))
      if (!isa<tile::PlanType, tile::PlacesType>(type))
        operands.push_back(
            rewriter.getArrayAttr({rewriter.getStringAttr(op.getArgName(index)), TypeAttr::get(type)}));
    function->setAttr("mlac.operands", rewriter.getArrayAttr(operands));
  }
};

struct LowerReturn : OpConversionPattern<tile::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::ReturnOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(op, ValueRange());
    return success();
  }
};

//===-- Work items -------------------------------------------------------------------------------------===//

/// The registers of several values, one after another.
SmallVector<Value> flatten(ArrayRef<ValueRange> values) {
  SmallVector<Value> registers;
  for (ValueRange value : values)
    llvm::append_range(registers, value);
  return registers;
}

struct LowerItems : OpConversionPattern<tile::ItemsOp> {
  LowerItems(TypeConverter &converter, MLIRContext *context, const LoweringOptions &options)
      : OpConversionPattern(converter, context), options(options) {}

  LogicalResult matchAndRewrite(tile::ItemsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    PlanView plan(adaptor.getPlan());
    // The combine's blocks may come as soon as all of this launch's have: they wait for the partial results
    // themselves.
    orderGrids(e, Instr::GridLaunch, options);
    auto [begin, end] = blockItems(e, plan);
    Block *body = &op.getBody().front();
    TypeConverter::SignatureConversion signature(body->getNumArguments());
    if (failed(typeConverter->convertSignatureArgs(body->getArgumentTypes(), signature)))
      return failure();
    body = rewriter.applySignatureConversion(body, signature, typeConverter);
    SmallVector<Value> inits = flatten(adaptor.getInits());
    auto loop = scf::ForOp::create(rewriter, e.loc, begin, end, e.i32(1), inits);
    rewriter.setInsertionPointToStart(loop.getBody());
    auto load = scheduleOf(op) ? loadItem : loadPrefillItem;
    SmallVector<Value> arguments = load(e, plan, loop.getInductionVar(), end);
    llvm::append_range(arguments, loop.getRegionIterArgs());
    if (inits.empty())
      rewriter.eraseOp(loop.getBody()->getTerminator());
    rewriter.inlineBlockBefore(body, loop.getBody(), loop.getBody()->end(), arguments);
    SmallVector<SmallVector<Value>> results;
    size_t at = 0;
    for (ValueRange registers : adaptor.getInits()) {
      results.emplace_back(loop.getResults().slice(at, registers.size()));
      at += registers.size();
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

  LoweringOptions options;
};

/// The end of an item, once its loop is lowered.
struct LowerYield : OpConversionPattern<tile::YieldOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::YieldOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, flatten(adaptor.getValues()));
    return success();
  }
};

struct LowerRange : OpConversionPattern<tile::RangeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::RangeOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ItemView item(adaptor.getItem());
    rewriter.replaceOp(op, {item.tileBegin, item.tileEnd});
    return success();
  }
};

//===-- Shared memory and barriers ---------------------------------------------------------------------===//

struct LowerAlloc : OpConversionPattern<tile::AllocOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::AllocOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    Value base = LLVM::AddressOfOp::create(rewriter, e.loc, e.ptr(kShared), kSharedSymbol);
    rewriter.replaceOp(op, e.offset(base, op.getOffset()));
    return success();
  }
};

struct LowerBarrier : OpConversionPattern<tile::BarrierOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::BarrierOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    e.call(Instr::BlockBarrier, e.i32(0));
    rewriter.eraseOp(op);
    return success();
  }
};

/// A group of one warp meets in the warp; several groups have a named barrier each (0 is the block's).
struct LowerSync : OpConversionPattern<tile::SyncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::SyncOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    tile::ScheduleAttr schedule = scheduleOf(op);
    if (schedule.getWarpsPerGroup() == 1)
      e.call(Instr::WarpBarrier, e.i32(-1));
    else if (schedule.getGroups() == 1)
      e.call(Instr::BlockBarrier, e.i32(0));
    else
      e.call(Instr::GroupBarrier,
             {e.add(GroupView(e, schedule).group, 1), e.i32(schedule.getThreadsPerGroup())});
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlac::populateStructure(TileTypeConverter &converter, RewritePatternSet &patterns,
                             const LoweringOptions &options) {
  patterns.add<LowerKernel, LowerReturn, LowerYield, LowerRange, LowerAlloc, LowerBarrier, LowerSync>(
      converter, patterns.getContext());
  patterns.add<LowerItems>(converter, patterns.getContext(), options);
}

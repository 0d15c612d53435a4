// mlac-emulate: lowered kernels to host code that calls the emulator's hooks.
#include "passes/Passes.h"

#include "codegen/Instructions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/nvvm/Lowering.h"

namespace mlac {
#define GEN_PASS_DEF_EMULATE
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;
using namespace mlac;

namespace {

/// "tile.copy at file.mla:10:11" for a location, as far as it says.
std::string describe(Location loc) {
  std::string op = "an op", place = "unknown place";
  loc->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part); name && op == "an op")
      op = name.getName().str();
    if (auto file = dyn_cast<FileLineColLoc>(part); file && place == "unknown place")
      place =
          (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn())).str();
    return WalkResult::advance();
  });
  return op + " at " + place;
}

class HostRewriter {
public:
  explicit HostRewriter(ModuleOp module)
      : module(module), builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())),
        none(LLVM::LLVMVoidType::get(module.getContext())), i32(builder.getI32Type()),
        f32(builder.getF32Type()) {}

  LogicalResult run() {
    SmallVector<LLVM::LLVMFuncOp> kernels;
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr("nvvm.kernel"))
        kernels.push_back(function);
    for (LLVM::LLVMFuncOp kernel : kernels) {
      if (failed(rewriteBody(kernel)))
        return failure();
      addEntry(kernel);
    }
    if (Operation *shared = module.lookupSymbol(kSharedSymbol))
      shared->erase();
    return success();
  }

private:
  //===-- Bodies --===//

  LogicalResult rewriteBody(LLVM::LLVMFuncOp kernel) {
    for (StringRef name : {"nvvm.kernel", "nvvm.reqntid", "nvvm.maxntid", "nvvm.minctasm"})
      kernel->removeAttr(name);
    SmallVector<Operation *> ops;
    kernel.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (failed(rewrite(op)))
        return failure();
    return success();
  }

  LogicalResult rewrite(Operation *op) {
    builder.setInsertionPoint(op);
    loc = op->getLoc();
    if (auto load = dyn_cast<LLVM::LoadOp>(op))
      check("mlac_emu_load", load.getAddr(), load.getType());
    else if (auto store = dyn_cast<LLVM::StoreOp>(op))
      check("mlac_emu_store", store.getAddr(), store.getValue().getType());
    else if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
      replaceShared(address);
    else if (auto product = dyn_cast<LLVM::FMulOp>(op); product && isa<VectorType>(product.getType()))
      replace(op, asI32({product.getLhs(), product.getRhs()}), "mlac_emu_mul_bf16x2", i32, false);
    else if (auto extend = dyn_cast<LLVM::FPExtOp>(op))
      replaceExtend(extend);
    else if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
      return rewriteCall(call);
    return success();
  }

  void check(StringRef hook, Value address, Type type) {
    int64_t bits = isa<VectorType>(type) ? cast<VectorType>(type).getNumElements() *
                                               cast<VectorType>(type).getElementTypeBitWidth()
                                         : type.getIntOrFloatBitWidth();
    call(hook, none, {generic(address), number(bits / 8), site()});
  }

  void replaceShared(LLVM::AddressOfOp op) {
    if (op.getGlobalName() != kSharedSymbol)
      return;
    Value base = call("mlac_emu_shared_base", pointer, {});
    op.replaceAllUsesWith(LLVM::AddrSpaceCastOp::create(builder, loc, op.getType(), base).getResult());
    op.erase();
  }

  void replaceExtend(LLVM::FPExtOp op) {
    Value bits = LLVM::BitcastOp::create(builder, loc, builder.getI16Type(), op.getArg());
    Value wide = LLVM::ZExtOp::create(builder, loc, i32, bits);
    replace(op, {wide}, "mlac_emu_cvt_f32_f16", f32, false);
  }

  //===-- Instructions --===//

  LogicalResult rewriteCall(LLVM::CallIntrinsicOp op) {
    StringRef name = op.getIntrin();
    const Instruction *row = findInstruction({name.data(), name.size()});
    if (!row || !row->hook)
      return op.emitError() << "the emulator has no model of '" << name << "' [emulate-instruction]";
    SmallVector<Value> a(op.getArgs());
    auto hook = StringRef(row->hook);
    switch (row->op) {
    case Instr::ThreadId:
    case Instr::BlockId:
    case Instr::BlockSize:
      replace(op,
              {number(row->op == Instr::ThreadId  ? 0
                      : row->op == Instr::BlockId ? 1
                                                  : 2)},
              hook, i32, false);
      break;
    case Instr::LdmatrixX2:
    case Instr::LdmatrixX4:
      replaceLdmatrix(op, hook, row->results.size(), false);
      break;
    case Instr::LdmatrixX2Trans:
    case Instr::LdmatrixX4Trans:
      replaceLdmatrix(op, hook, row->results.size(), true);
      break;
    case Instr::MmaF16:
    case Instr::MmaBF16:
    case Instr::MmaE4M3:
    case Instr::MmaKindE4M3:
      replaceMma(op, hook, row->op == Instr::MmaF16 ? 0 : row->op == Instr::MmaBF16 ? 1 : 2);
      break;
    case Instr::ShuffleXor:
    case Instr::ShuffleIndex:
      replace(op, {number(row->op == Instr::ShuffleXor ? 3 : 0), a[0], a[1], a[2], a[3]}, hook, i32, true);
      break;
    case Instr::VoteAny:
      replaceVote(op, hook);
      break;
    case Instr::CopyAsync16:
    case Instr::CopyAsync8:
    case Instr::CopyAsync4: {
      int64_t bytes = row->op == Instr::CopyAsync16 ? 16 : row->op == Instr::CopyAsync8 ? 8 : 4;
      replace(op, {generic(a[0]), generic(a[1]), number(bytes), a[2]}, hook, none, true);
      break;
    }
    case Instr::BlockBarrier:
      replace(op, {a[0], number(0)}, hook, none, true);
      break;
    case Instr::GroupBarrier:
    case Instr::WarpBarrier:
    case Instr::CopyCommit:
    case Instr::GridLaunch:
    case Instr::GridWait:
    case Instr::CopyWait:
      replace(op, a, hook, none, true);
      break;
    default:
      replacePure(op, hook, *row);
    }
    return success();
  }

  /// Conversions and scalars: values in, one value out.
  void replacePure(LLVM::CallIntrinsicOp op, StringRef hook, const Instruction &row) {
    SmallVector<Value> arguments = asI32(op.getArgs());
    Type result = row.results == "f" ? f32 : i32;
    replace(op, arguments, hook, result, false);
  }

  void replaceLdmatrix(LLVM::CallIntrinsicOp op, StringRef hook, int64_t count, bool transpose) {
    Value out = scratch(i32, count);
    call(hook, none, {out, generic(op.getArgs()[0]), number(count), number(transpose), site()});
    replaceStruct(op, out, i32, count);
  }

  void replaceMma(LLVM::CallIntrinsicOp op, StringRef hook, int64_t kind) {
    SmallVector<Value> values = asI32(op.getArgs());
    Value a = spill(ArrayRef(values).slice(0, 4)), b = spill(ArrayRef(values).slice(4, 2));
    Value c = spill(ArrayRef(values).slice(6, 4));
    call(hook, none, {c, a, b, c, number(kind), site()});
    replaceStruct(op, c, f32, 4);
  }

  void replaceVote(LLVM::CallIntrinsicOp op, StringRef hook) {
    Value predicate = LLVM::ZExtOp::create(builder, loc, i32, op.getArgs()[1]);
    Value vote = call(hook, i32, {number(1), op.getArgs()[0], predicate, site()});
    Value any = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, vote, number(0));
    op->getResult(0).replaceAllUsesWith(any);
    op.erase();
  }

  /// Rebuilds the instruction's struct from memory that the hook wrote.
  void replaceStruct(LLVM::CallIntrinsicOp op, Value memory, Type element, int64_t count) {
    Type type = op->getResult(0).getType();
    Value result = LLVM::PoisonOp::create(builder, loc, type);
    for (int64_t i = 0; i < count; ++i) {
      Value value = LLVM::LoadOp::create(builder, loc, element, slot(memory, element, i));
      result = LLVM::InsertValueOp::create(builder, loc, result, value, i);
    }
    op->getResult(0).replaceAllUsesWith(result);
    op.erase();
  }

  /// Replaces an op by a hook's call; 16-bit pairs come back as the op's own type.
  void replace(Operation *op, ArrayRef<Value> arguments, StringRef hook, Type result, bool withSite) {
    SmallVector<Value> all(arguments);
    if (withSite)
      all.push_back(site());
    Value value = call(hook, result, all);
    if (op->getNumResults()) {
      if (op->getResult(0).getType().isInteger(16))
        value = LLVM::TruncOp::create(builder, loc, builder.getI16Type(), value);
      else if (value.getType() != op->getResult(0).getType())
        value = LLVM::BitcastOp::create(builder, loc, op->getResult(0).getType(), value);
      op->getResult(0).replaceAllUsesWith(value);
    }
    op->erase();
  }

  //===-- Pieces --===//

  Value number(int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(int32_t(value)));
  }

  Value generic(Value address) {
    if (address.getType() == pointer)
      return address;
    return LLVM::AddrSpaceCastOp::create(builder, loc, pointer, address);
  }

  /// 16-bit pairs and halves as i32; the rest as it is.
  SmallVector<Value> asI32(ValueRange values) {
    SmallVector<Value> result;
    for (Value value : values) {
      if (isa<VectorType>(value.getType()))
        value = LLVM::BitcastOp::create(builder, loc, i32, value);
      else if (value.getType().isInteger(16))
        value = LLVM::ZExtOp::create(builder, loc, i32, value);
      result.push_back(value);
    }
    return result;
  }

  Value slot(Value memory, Type element, int64_t index) {
    return LLVM::GEPOp::create(builder, loc, pointer, element, memory,
                               ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(index))});
  }

  /// Stack memory, allocated once a function so that loops do not grow the stack.
  Value scratch(Type element, int64_t count) {
    OpBuilder::InsertionGuard guard(builder);
    auto function = builder.getInsertionBlock()->getParentOp();
    builder.setInsertionPointToStart(&cast<LLVM::LLVMFuncOp>(function).getBody().front());
    return LLVM::AllocaOp::create(builder, loc, pointer, element, number(count), 16);
  }

  Value spill(ArrayRef<Value> values) {
    Type element = values.front().getType();
    Value memory = scratch(element, int64_t(values.size()));
    for (auto [index, value] : llvm::enumerate(values))
      LLVM::StoreOp::create(builder, loc, value, slot(memory, element, int64_t(index)));
    return memory;
  }

  /// The current location as a constant C string.
  Value site() {
    std::string text = describe(loc);
    text.push_back('\0');
    LLVM::GlobalOp &global = sites[text];
    if (!global) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(module.getBody());
      auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), text.size());
      global = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                      "site_" + std::to_string(sites.size()), builder.getStringAttr(text));
    }
    return LLVM::AddressOfOp::create(builder, loc, global);
  }

  /// Calls a hook, declaring it at first use. Null for a hook without result.
  Value call(StringRef hook, Type result, ArrayRef<Value> arguments) {
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(hook);
    if (!function) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(module.getBody());
      auto types = llvm::map_to_vector(arguments, [](Value v) { return v.getType(); });
      function = LLVM::LLVMFuncOp::create(builder, module.getLoc(), hook,
                                          LLVM::LLVMFunctionType::get(result, types));
    }
    auto op = LLVM::CallOp::create(builder, loc, function, arguments);
    return op.getNumResults() ? op.getResult() : Value();
  }

  //===-- Entries --===//

  /// void <name>_entry(void **params): loads each argument and calls the kernel.
  void addEntry(LLVM::LLVMFuncOp kernel) {
    loc = kernel.getLoc();
    builder.setInsertionPointAfter(kernel);
    auto entry = LLVM::LLVMFuncOp::create(builder, loc, (kernel.getSymName() + "_entry").str(),
                                          LLVM::LLVMFunctionType::get(none, {pointer}));
    builder.setInsertionPointToStart(entry.addEntryBlock(builder));
    SmallVector<Value> arguments;
    for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
      Value address =
          LLVM::LoadOp::create(builder, loc, pointer, slot(entry.getArgument(0), pointer, int64_t(index)));
      arguments.push_back(LLVM::LoadOp::create(builder, loc, type, address));
    }
    LLVM::CallOp::create(builder, loc, kernel, arguments);
    LLVM::ReturnOp::create(builder, loc, ValueRange());
  }

  ModuleOp module;
  OpBuilder builder;
  Location loc = UnknownLoc::get(builder.getContext());
  Type pointer, none, i32, f32;
  std::map<std::string, LLVM::GlobalOp> sites;
};

struct Emulate : mlac::impl::EmulateBase<Emulate> {
  void runOnOperation() override {
    if (failed(HostRewriter(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace

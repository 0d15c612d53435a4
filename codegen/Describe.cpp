// From attributes of lowered kernels to the manifest.
#include "codegen/Describe.h"

#include "codegen/Instructions.h"
#include "dialect/tile/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "runtime/Abi.h"

using namespace mlir;

namespace mlac {

static ::mla::DType dtypeOf(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return ::mla::DType::e4m3;
  if (isa<Float8E5M2Type>(type))
    return ::mla::DType::e5m2;
  if (type.isInteger(8))
    return ::mla::DType::s8;
  if (type.isF16())
    return ::mla::DType::f16;
  return type.isBF16() ? ::mla::DType::bf16 : ::mla::DType::f32;
}

/// Bytes that the kernel's accesses need the base and the strides to be a multiple of.
static int alignmentOf(::mla::Role role, mlir::mla::BufferType type) {
  switch (role) {
  case ::mla::Role::cache:
  case ::mla::Role::key:
  case ::mla::Role::value:
    return int(type.getAlign());
  case ::mla::Role::query:
    return 8; // two pairs of 16-bit values a load
  case ::mla::Role::output:
    return int(type.getElementType().getIntOrFloatBitWidth() / 4); // a pair of values a store
  default:
    return 4; // a float a store
  }
}

static ::mla::Role roleOf(StringRef name, mlir::mla::BufferType type, DictionaryAttr info) {
  if (name == info.getAs<StringAttr>("query").getValue())
    return ::mla::Role::query;
  StringRef key = info.getAs<StringAttr>("cache").getValue(),
            value = info.getAs<StringAttr>("value").getValue();
  if (name == key)
    return key == value ? ::mla::Role::cache : ::mla::Role::key;
  if (name == value)
    return ::mla::Role::value;
  return type.getElementType().isF32() && type.getWidth() == 1 ? ::mla::Role::lse : ::mla::Role::output;
}

/// What a row is stored as, and as how many: columns of one type, or the bytes of a record.
static void describeStorage(mlir::mla::BufferType type, ::mla::Operand &operand) {
  auto record = dyn_cast<mlir::mla::RecordType>(type.getElementType());
  if (!record) {
    operand.dtype = dtypeOf(type.getElementType());
    operand.shape.assign(type.getShape().begin(), type.getShape().end());
    return;
  }
  operand.dtype = ::mla::DType::u8;
  operand.shape = {record.getBytes()};
  for (mlir::mla::PartAttr part : record.getParts()) {
    StringRef format = mlir::mla::stringifyScaleFormat(part.getFormat());
    operand.record.push_back({.name = part.getName().str(),
                              .dtype = dtypeOf(part.getElementType()),
                              .width = part.getWidth(),
                              .scale = *::mla::parseScaleFormat({format.data(), format.size()}),
                              .group = part.getGroup(),
                              .apart = part.isApart()});
  }
}

static ::mla::Operand describeOperand(ArrayAttr pair, DictionaryAttr info) {
  ::mla::Operand operand;
  auto name = cast<StringAttr>(pair[0]).getValue();
  operand.name = name.str();
  if (auto values = dyn_cast<mlir::mla::HeadValuesType>(cast<TypeAttr>(pair[1]).getValue())) {
    operand.role = ::mla::Role::headValues;
    operand.dtype = ::mla::DType::f32;
    operand.shape = {values.getHeads()};
    operand.alignment = 4;
    return operand;
  }
  auto type = dyn_cast<mlir::mla::BufferType>(cast<TypeAttr>(pair[1]).getValue());
  if (!type) {
    operand.role = ::mla::Role::scalar;
    operand.dtype = ::mla::DType::f32;
    operand.alignment = 4;
    return operand;
  }
  operand.role = roleOf(name, type, info);
  operand.layout = type.getLayout() == mlir::mla::Layout::paged ? ::mla::Layout::paged : ::mla::Layout::ragged;
  describeStorage(type, operand);
  if (operand.role == ::mla::Role::lse)
    operand.shape.pop_back(); // a f32 a head
  operand.alignment = alignmentOf(operand.role, type);
  return operand;
}

static ::mla::Scale describeScale(DictionaryAttr attr) {
  ::mla::Scale scale;
  scale.constant = attr.getAs<FloatAttr>("constant").getValueAsDouble();
  for (Attribute name : attr.getAs<ArrayAttr>("scalars"))
    scale.scalars.push_back(cast<StringAttr>(name).getValue().str());
  return scale;
}

static ::mla::ScoreEdit describeEdit(DictionaryAttr info) {
  ::mla::ScoreEdit edit;
  auto attr = info.getAs<DictionaryAttr>("score_edit");
  if (!attr)
    return edit;
  for (Attribute step : attr.getAs<ArrayAttr>("steps"))
    edit.steps.push_back(cast<StringAttr>(step).getValue().str());
  edit.value = attr.getAs<StringAttr>("value").getValue().str();
  edit.keep = attr.getAs<StringAttr>("keep").getValue().str();
  return edit;
}

static ::mla::Entry describeEntry(LLVM::LLVMFuncOp function) {
  ::mla::Entry entry;
  entry.name = function.getSymName().str();
  auto exact = function->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid");
  entry.threads = (exact ? exact : function->getAttrOfType<DenseI32ArrayAttr>("nvvm.maxntid"))[0];
  if (auto bytes = function->getAttrOfType<IntegerAttr>("shared_bytes"))
    entry.sharedBytes = bytes.getInt();
  for (Attribute name : function->getAttrOfType<ArrayAttr>("mlac.params"))
    entry.params.push_back(cast<StringAttr>(name).getValue().str());
  StringRef wait(get(Instr::GridWait).intrinsic);
  function.walk([&](LLVM::CallIntrinsicOp call) { entry.overlaps |= call.getIntrin() == wait; });
  return entry;
}

static_assert(tile::kMergeStates == ::mla::maxMergeStates);

static ::mla::Tile describeTile(LLVM::LLVMFuncOp main) {
  if (auto schedule = main->getAttrOfType<tile::PrefillScheduleAttr>("prefill_schedule"))
    return {.rows = int(schedule.getRows()),
            .tokens = int(schedule.getTokens()),
            .stages = int(schedule.getStages()),
            .warps = int(schedule.getRowWarps())};
  auto schedule = main->getAttrOfType<tile::ScheduleAttr>("schedule");
  return {.rows = int(schedule.getRows()),
          .tokens = int(schedule.getBlockTokens()),
          .stages = int(schedule.getStages()),
          .warps = int(schedule.getWarps())};
}

static ::mla::KernelInfo describeKernel(LLVM::LLVMFuncOp main) {
  auto info = main->getAttrOfType<DictionaryAttr>("mlac.info");
  auto number = [&](StringRef name) { return int(info.getAs<IntegerAttr>(name).getInt()); };
  ::mla::KernelInfo kernel;
  kernel.name = main.getSymName().str();
  kernel.heads = int(main->getAttrOfType<IntegerAttr>("heads").getInt());
  if (auto kvHeads = main->getAttrOfType<IntegerAttr>("kv_heads"))
    kernel.kvHeads = int(kvHeads.getInt());
  kernel.qkDim = number("qk_dim");
  kernel.vDim = number("v_dim");
  kernel.vOffset = number("v_offset");
  kernel.compute = dtypeOf(main->getAttrOfType<TypeAttr>("compute").getValue());
  kernel.causal = info.getAs<BoolAttr>("causal").getValue();
  if (auto window = info.getAs<IntegerAttr>("window"))
    kernel.window = window.getInt();
  if (auto sink = info.getAs<StringAttr>("sink")) {
    kernel.sink = sink.getValue().str();
    kernel.sinkInLse = info.getAs<BoolAttr>("sink_in_lse").getValue();
  }
  kernel.scoreEdit = describeEdit(info);
  StringRef base = info.getAs<StringAttr>("lse").getValue();
  kernel.lse = ::mla::parseLseBase({base.data(), base.size()}).value_or(::mla::LseBase::none);
  kernel.scoreScale = describeScale(info.getAs<DictionaryAttr>("score_scale"));
  kernel.valueScale = describeScale(info.getAs<DictionaryAttr>("value_scale"));
  for (Attribute pair : main->getAttrOfType<ArrayAttr>("mlac.operands"))
    kernel.operands.push_back(describeOperand(cast<ArrayAttr>(pair), info));
  kernel.tile = describeTile(main);
  kernel.main = describeEntry(main);
  auto beside = [&](StringRef suffix) -> ::mla::Entry {
    auto module = main->getParentOfType<ModuleOp>();
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>((main.getSymName() + suffix).str());
    return function ? describeEntry(function) : ::mla::Entry();
  };
  kernel.combine = beside("_combine");
  kernel.merge = beside("_merge");
  kernel.planner = beside("_plan");
  kernel.check = beside("_check");
  return kernel;
}

/// A row that is found by the row's number or by a slot.
static ::mla::Operand describeRow(StringRef name, mlir::mla::BufferType type) {
  ::mla::Operand operand;
  operand.name = name.str();
  operand.role = ::mla::Role::cache;
  operand.layout = type.getLayout() == mlir::mla::Layout::paged ? ::mla::Layout::paged : ::mla::Layout::ragged;
  describeStorage(type, operand);
  operand.alignment = int(type.getAlign());
  return operand;
}

static ::mla::WriterInfo describeWriter(LLVM::LLVMFuncOp function) {
  auto attr = function->getAttrOfType<DictionaryAttr>("mlac.writer");
  auto row = [&](Attribute name) {
    for (Attribute pair : function->getAttrOfType<ArrayAttr>("mlac.operands"))
      if (cast<ArrayAttr>(pair)[0] == name)
        return describeRow(cast<StringAttr>(name).getValue(),
                           cast<mlir::mla::BufferType>(cast<TypeAttr>(cast<ArrayAttr>(pair)[1]).getValue()));
    llvm_unreachable("the pass names operands of its own");
  };
  ::mla::WriterInfo writer;
  writer.name = function.getSymName().str();
  for (Attribute name : attr.getAs<ArrayAttr>("parts"))
    writer.parts.push_back(row(name));
  writer.cache = row(attr.get("cache"));
  writer.rounded = attr.getAs<BoolAttr>("rounded").getValue();
  writer.divisor = describeScale(attr);
  writer.elements = int(attr.getAs<IntegerAttr>("elements").getInt());
  writer.main = describeEntry(function);
  return writer;
}

::mla::Manifest describeModule(ModuleOp module, const Provenance &provenance) {
  ::mla::Manifest manifest;
  manifest.compiler = "mlac " MLAC_VERSION;
  manifest.sourceHash = provenance.sourceHash;
  manifest.target = provenance.target;
  manifest.profile = provenance.profile;
  manifest.ptxVersion = formatPtxVersion(provenance.ptx);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr("mlac.writer"))
      manifest.writers.push_back(describeWriter(function));
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr("schedule") || function->hasAttr("prefill_schedule"))
      manifest.kernels.push_back(describeKernel(function));
  return manifest;
}

} // namespace mlac

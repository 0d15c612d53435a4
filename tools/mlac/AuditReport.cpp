// From the analysis of a module to rows and findings.
#include "tools/mlac/AuditReport.h"

#include "dialect/mla/MLA.h"
#include "passes/BufferCastMessage.h"
#include "passes/BufferCastSizes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace mlac {

std::string AuditPlace::brief() const {
  return llvm::formatv("{0}:{1}", llvm::sys::path::filename(file), line);
}

std::string AuditPlace::full() const { return llvm::formatv("{0}:{1}:{2}", file, line, column); }

std::string storageName(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  if (type.isInteger(8))
    return "int8";
  if (isa<mla::RecordType>(type))
    return "record";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The first place in a file that a location tells of.
static AuditPlace placeOf(Location location) {
  AuditPlace place{"<unknown>", 0, 0};
  location->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file)
      return WalkResult::advance();
    place = {file.getFilename().str(), file.getLine(), file.getColumn()};
    return WalkResult::interrupt();
  });
  return place;
}

static Operation *functionOf(Value value) {
  Operation *op = value.getParentRegion()->getParentOp();
  return isa<FunctionOpInterface>(op) ? op : op->getParentOfType<FunctionOpInterface>().getOperation();
}

static std::string kernelOf(Value value) {
  Operation *function = functionOf(value);
  return function ? SymbolTable::getSymbolName(function).str() : "-";
}

/// The name in the source; where MLIR has none, the argument's number or the op.
static std::string nameOf(Value value) {
  if (Operation *op = value.getDefiningOp())
    return op->getName().getStringRef().str();
  auto argument = cast<BlockArgument>(value);
  if (auto kernel = dyn_cast_or_null<mla::KernelOp>(functionOf(value)))
    if (StringRef name = kernel.getArgName(argument.getArgNumber()); !name.empty())
      return name.str();
  if (auto name = dyn_cast<NameLoc>(argument.getLoc()))
    return name.getName().str();
  return "arg" + std::to_string(argument.getArgNumber());
}

//===-- Rows
//---------------------------------------------------------------------------------------------===//

static void complete(AuditTraffic &traffic, std::optional<double> perLayer, const AuditOptions &options) {
  traffic.bytesPerLayer = perLayer;
  if (perLayer && options.deployment.layers > 0)
    traffic.bytesPerStep = *perLayer * double(options.deployment.layers);
  if (perLayer)
    traffic.milliseconds = traffic.bytesPerStep.value_or(*perLayer) / options.bandwidth * 1e3;
}

/// Whether the rows, or what is read from them, are the query of a product.
static bool isQuery(Value rows) {
  return llvm::any_of(rows.getUses(), [](OpOperand &use) {
    if (isa<mla::DotOp>(use.getOwner()))
      return use.getOperandNumber() == 0;
    return isa<mla::DequantOp, mla::SliceOp, mla::ScaleOp, mla::CastOp>(use.getOwner()) &&
           isQuery(use.getOwner()->getResult(0));
  });
}

static std::string roleOf(Value value) {
  if (!isa<mla::BufferType>(value.getType()))
    return "buffer";
  return isQuery(value) ? "query" : "cache";
}

namespace {
/// What is done to one buffer.
struct Uses {
  SmallVector<const TileConversion *> conversions;
  SmallVector<const BufferCast *> casts;
};
} // namespace

/// The type of the matrix products: declared by a kernel, elsewhere what the buffer is converted to.
static std::string computeOf(Value buffer, const Uses &uses) {
  if (auto kernel = dyn_cast_or_null<mla::KernelOp>(functionOf(buffer)))
    return storageName(kernel.getCompute());
  llvm::SmallSetVector<Type, 4> types;
  for (const TileConversion *conversion : uses.conversions)
    if (!conversion->isDetour)
      types.insert(conversion->to);
  for (const BufferCast *cast : uses.casts)
    types.insert(cast->to);
  return types.empty() ? "-" : llvm::join(llvm::map_range(types, storageName), ",");
}

static AuditOperand makeOperand(const StoredBuffer &buffer, const Uses &uses, const AuditOptions &options) {
  Type element = elementTypeOf(buffer.value.getType());
  AuditOperand operand{.kernel = kernelOf(buffer.value),
                       .name = nameOf(buffer.value),
                       .role = roleOf(buffer.value),
                       .storage = storageName(element),
                       .compute = computeOf(buffer.value, uses),
                       .place = placeOf(buffer.value.getLoc()),
                       .dequantised = {},
                       .cast = {},
                       .traffic = {}};
  for (const TileConversion *conversion : uses.conversions)
    if (conversion->isFirst)
      operand.dequantised.push_back(placeOf(conversion->op->getLoc()));
  for (const BufferCast *cast : uses.casts)
    operand.cast.push_back(placeOf(cast->cast->getLoc()));
  operand.traffic.bytesPerToken = mla::bytesOf(element, buffer.elementsPerToken);
  if (auto record = dyn_cast<mla::RecordType>(element))
    operand.traffic.bytesPerToken += record.getScaleRowBytes();
  if (operand.role == "query")
    return operand;
  if (buffer.elements)
    complete(operand.traffic, double(mla::bytesOf(element, *buffer.elements)), options);
  else if (options.deployment.poolTokens > 0)
    complete(operand.traffic, double(operand.traffic.bytesPerToken) * double(options.deployment.poolTokens),
             options);
  return operand;
}

static AuditOperand makeOutput(mla::KernelOp kernel, unsigned index) {
  auto type = cast<mla::BufferType>(kernel.getResultTypes()[index]);
  AuditOperand operand{.kernel = kernel.getSymName().str(),
                       .name = kernel.getResName(index).str(),
                       .role = "output",
                       .storage = storageName(type.getElementType()),
                       .compute = storageName(kernel.getCompute()),
                       .place = placeOf(kernel.getLoc()),
                       .dequantised = {},
                       .cast = {},
                       .traffic = {}};
  operand.traffic.bytesPerToken = type.getTokenBytes();
  return operand;
}

//===-- Findings
//-----------------------------------------------------------------------------------------===//

static AuditFinding makeFinding(const BufferCast &cast, const AuditOptions &options) {
  const DeploymentOptions &deployment = options.deployment;
  AuditFinding finding{.kernel = kernelOf(cast.buffer),
                       .operand = nameOf(cast.buffer),
                       .from = storageName(cast.from),
                       .to = storageName(cast.to),
                       .place = placeOf(cast.cast->getLoc()),
                       .message = describeCast(cast, deployment.layers, deployment.poolTokens),
                       .notes = {{placeOf(cast.buffer.getLoc()), kBufferNote.str()}},
                       .fix = describeFix(cast),
                       .traffic = {}};
  for (const BufferHop &hop : ArrayRef(cast.hops).take_front(kMostHopNotes))
    finding.notes.push_back({placeOf(hop.op->getLoc()), describeHop(hop)});
  if (cast.hops.size() > kMostHopNotes)
    finding.notes.push_back({finding.place, describeMoreHops(cast)});
  finding.traffic.bytesPerToken = cast.traffic.readPerToken + cast.traffic.writtenPerToken;
  complete(finding.traffic, cast.traffic.bytesPerCall(deployment.poolTokens), options);
  return finding;
}

static void addOperands(AuditReport &report, ModuleOp module, const BufferCastAnalysis &analysis,
                        const AuditOptions &options) {
  llvm::DenseMap<Value, Uses> uses;
  for (const TileConversion &conversion : analysis.tileConversions())
    uses[conversion.buffer].conversions.push_back(&conversion);
  for (const BufferCast &cast : analysis.casts())
    uses[cast.buffer].casts.push_back(&cast);
  for (const StoredBuffer &buffer : analysis.buffers())
    report.operands.push_back(makeOperand(buffer, uses[buffer.value], options));
  for (auto kernel : module.getOps<mla::KernelOp>())
    for (unsigned index = 0; index < kernel.getResultTypes().size(); ++index)
      if (isa<mla::BufferType>(kernel.getResultTypes()[index]))
        report.operands.push_back(makeOutput(kernel, index));
}

void addModule(AuditReport &report, ModuleOp module, const AuditOptions &options) {
  BufferCastAnalysis analysis(module, options.threshold);
  addOperands(report, module, analysis, options);
  for (const BufferCast &cast : analysis.casts())
    report.findings.push_back(makeFinding(cast, options));
  for (Operation *op : analysis.unknown())
    report.skipped.push_back(
        {placeOf(op->getLoc()), ("ops of the dialect '" + op->getName().getDialectNamespace() +
                                 "' are not known: buffers are not followed through them")
                                    .str()});
  module.walk([&](Operation *) { ++report.ops; });
  report.visits += analysis.visits();
}

} // namespace mlac

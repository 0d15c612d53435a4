// mla-tile-writer: a kernel whose result is a cache becomes one op that appends rows to it.
#include "passes/Passes.h"

#include "dialect/tile/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace mlac {
#define GEN_PASS_DEF_TILEWRITER
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;

namespace {

constexpr int64_t kThreads = 256;

/// What a writer's result amounts to.
struct Writing {
  SmallVector<Value> sources; // buffers, side by side
  bool divided = false;
  double divisor = 1; // times the product of:
  SmallVector<Value> scalars;
  mla::BufferType cache;
  bool rounded = false; // by quant; else the bits are copied
};

LogicalResult formError(Operation *op, StringRef what) {
  return op->emitError() << what << "; a writer stores quant(concat(buffers...) / scale) in one cache [writer-form]";
}

/// A product of scalars and numbers.
LogicalResult matchDivisor(Value value, Writing &writing) {
  if (isa<BlockArgument>(value)) {
    writing.scalars.push_back(value);
    return success();
  }
  if (auto mul = value.getDefiningOp<arith::MulFOp>())
    return failure(failed(matchDivisor(mul.getLhs(), writing)) || failed(matchDivisor(mul.getRhs(), writing)));
  if (auto number = value.getDefiningOp<arith::ConstantOp>()) {
    writing.divisor *= cast<FloatAttr>(number.getValue()).getValueAsDouble();
    return success();
  }
  return emitError(value.getLoc()) << "a scale is a product of scalars and numbers [scale-form]";
}

LogicalResult matchSources(Operation *user, Value rows, Writing &writing) {
  if (isa<mla::BufferType>(rows.getType())) {
    writing.sources.push_back(rows);
    return success();
  }
  if (auto concat = rows.getDefiningOp<mla::ConcatOp>())
    return failure(failed(matchSources(concat, concat.getLeft(), writing)) ||
                   failed(matchSources(concat, concat.getRight(), writing)));
  if (auto slice = rows.getDefiningOp<mla::SliceOp>()) {
    auto buffer = dyn_cast<mla::BufferType>(slice.getSource().getType());
    if (buffer && buffer.getWidth() == int64_t(slice.getEnd() - slice.getBegin()))
      return matchSources(slice, slice.getSource(), writing);
  }
  return formError(user, "the rows are not whole buffers side by side");
}

/// What each thread's loads, conversions and stores can handle.
LogicalResult checkSources(mla::KernelOp kernel, const Writing &writing) {
  for (Value source : writing.sources) {
    auto type = cast<mla::BufferType>(source.getType());
    if (type.getLayout() != mla::Layout::ragged || type.getShape().size() != 1 ||
        !isa<Float16Type, BFloat16Type>(type.getElementType()))
      return kernel.emitError() << "new rows are read from " << type << "; ragged f16 or bf16 without heads [writer-source]";
    if (type.getWidth() % 4)
      return kernel.emitError() << "a part of the row is " << type.getWidth() << " wide; a multiple of 4 [writer-width]";
  }
  Type stored = writing.cache.getElementType();
  if (writing.cache.getShape().size() != 1 || stored.isF32())
    return kernel.emitError() << "rows are written to " << writing.cache
                              << "; a cache without heads, of e4m3, e5m2, int8, f16 or bf16 [writer-cache]";
  return success();
}

FailureOr<Writing> matchWriting(mla::KernelOp kernel) {
  Writing writing;
  auto ret = cast<mla::ReturnOp>(kernel.getBody().front().getTerminator());
  if (ret.getValues().size() != 1)
    return formError(kernel, "there is more than one result"), failure();
  writing.cache = cast<mla::BufferType>(kernel.getResultTypes().front());
  Value rows = ret.getValues().front();
  if (auto quant = rows.getDefiningOp<mla::QuantOp>()) {
    writing.rounded = true;
    rows = quant.getSource();
    if (auto divide = rows.getDefiningOp<mla::DivideOp>()) {
      writing.divided = true;
      if (failed(matchDivisor(divide.getDivisor(), writing)))
        return failure();
      rows = divide.getSource();
    }
  }
  if (failed(matchSources(ret, rows, writing)) || failed(checkSources(kernel, writing)))
    return failure();
  return writing;
}

/// The most elements that divide all parts of a row and whose stored bytes are one access: fewer where rows are less aligned.
int64_t elementsOf(const Writing &writing) {
  int64_t most = 16 * 8 / writing.cache.getElementType().getIntOrFloatBitWidth();
  for (Value source : writing.sources)
    while (cast<mla::BufferType>(source.getType()).getWidth() % most)
      most /= 2;
  return most;
}

class WriterBuilder {
public:
  WriterBuilder(mla::KernelOp source, const Writing &writing)
      : source(source), writing(writing), builder(source), loc(source.getLoc()) {}

  void build() {
    for (Value buffer : writing.sources)
      addArgument(buffer);
    for (Value scalar : writing.scalars)
      addArgument(scalar);
    addType(source.getResName(0), writing.cache);
    addType("places", tile::PlacesType::get(builder.getContext()));
    buildKernel();
  }

private:
  void addArgument(Value value) {
    if (mapping.contains(value))
      return;
    mapping.map(value, value); // its place in the list is known once the block is there
    arguments.push_back(value);
    addType(source.getArgName(cast<BlockArgument>(value).getArgNumber()), value.getType());
  }

  void addType(StringRef name, Type type) {
    types.push_back(type);
    names.push_back(builder.getDictionaryAttr(builder.getNamedAttr(mla::kNameAttr, builder.getStringAttr(name))));
  }

  void buildKernel() {
    auto kernel = tile::KernelOp::create(
        builder, loc, builder.getStringAttr(source.getSymName()), TypeAttr::get(builder.getFunctionType(types, {})),
        TypeAttr::get(builder.getF32Type()), builder.getI64IntegerAttr(1), IntegerAttr(), tile::ScheduleAttr(),
        tile::PrefillScheduleAttr(), DictionaryAttr(), builder.getArrayAttr(names), ArrayAttr());
    if (source->hasAttr("mla.hints"))
      source.emitWarning() << "hints say nothing to a kernel that writes into a cache [hint-family]";
    Block &body = kernel.getBody().emplaceBlock();
    body.addArguments(types, SmallVector<Location>(types.size(), loc));
    builder.setInsertionPointToStart(&body);
    for (auto [index, value] : llvm::enumerate(arguments))
      mapping.map(value, body.getArgument(index));
    kernel->setAttr("mlac.writer", describe());
    auto sources = llvm::map_to_vector(writing.sources, [&](Value buffer) { return mapping.lookup(buffer); });
    Location at = source.getBody().front().getTerminator()->getOperand(0).getLoc();
    tile::AppendOp::create(builder, at, sources, divisor(), body.getArguments().back(),
                           body.getArgument(types.size() - 2), writing.rounded, elementsOf(writing), kThreads);
    tile::ReturnOp::create(builder, loc);
  }

  /// The factors in the order of the manifest, so that both round alike.
  Value divisor() {
    if (!writing.divided)
      return {};
    Value product = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(float(writing.divisor)));
    for (Value scalar : writing.scalars)
      product = arith::MulFOp::create(builder, loc, product, mapping.lookup(scalar));
    return product;
  }

  ArrayAttr namesOf(ArrayRef<Value> values) {
    return builder.getArrayAttr(llvm::map_to_vector(values, [&](Value value) -> Attribute {
      return builder.getStringAttr(source.getArgName(cast<BlockArgument>(value).getArgNumber()));
    }));
  }

  /// For the artefact's manifest.
  DictionaryAttr describe() {
    return builder.getDictionaryAttr({builder.getNamedAttr("parts", namesOf(writing.sources)),
                                      builder.getNamedAttr("constant", builder.getF64FloatAttr(float(writing.divisor))),
                                      builder.getNamedAttr("scalars", namesOf(writing.scalars)),
                                      builder.getNamedAttr("rounded", builder.getBoolAttr(writing.rounded)),
                                      builder.getNamedAttr("cache", builder.getStringAttr(source.getResName(0))),
                                      builder.getNamedAttr("elements", builder.getI64IntegerAttr(elementsOf(writing)))});
  }

  mla::KernelOp source;
  const Writing &writing;
  OpBuilder builder;
  Location loc;
  IRMapping mapping;
  SmallVector<Value> arguments;
  SmallVector<Type> types;
  SmallVector<Attribute> names;
};

struct TileWriter : mlac::impl::TileWriterBase<TileWriter> {
  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<mla::KernelOp>())) {
      if (!kernel.isWriter())
        continue;
      FailureOr<Writing> writing = matchWriting(kernel);
      if (failed(writing)) {
        signalPassFailure();
        continue;
      }
      WriterBuilder(kernel, *writing).build();
      kernel.erase();
    }
  }
};

} // namespace

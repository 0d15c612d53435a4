// mla-tile: attention becomes a loop over KV tiles, and a combine for rows that several blocks share. Keys
// and values from one buffer make a decode kernel, from two a prefill kernel, whose rows are never split.
#include "passes/Passes.h"

#include "passes/ScoreEdit.h"
#include "passes/SharedLayout.h"

#include <limits>
#include <numbers>

namespace mlac {
#define GEN_PASS_DEF_TILE
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;

namespace {

constexpr int64_t kOpen = ShapedType::kDynamic;

/// Threads of the combine's large blocks: enough to have many slots' loads under way at once.
constexpr int64_t kCombineThreads = 512;

/// The attention that a kernel's results amount to.
struct Attention {
  Value query, cache, value; // buffers; decode: cache and value are the same
  bool dequantised = false;
  int64_t valueColumn = 0, valueWidth = 0;
  bool causal = false;
  std::optional<int64_t> window;
  mla::EditOp edit; // null if the scores are only scaled and masked
  SmallVector<Value> scoreFactors, resultFactors;
  Value scores;     // what softmax reads
  mla::SinkOp sink; // null if it has none
  bool sinkInLse = false;
  std::optional<mla::LseBase> base;

  bool isPrefill() const { return value != cache; }
};

/// Strips scales off a value and collects their factors.
Value stripScales(Value value, SmallVectorImpl<Value> &factors) {
  while (auto scale = value.getDefiningOp<mla::ScaleOp>()) {
    factors.push_back(scale.getFactor());
    value = scale.getSource();
  }
  return value;
}

//===-- Recognising ------------------------------------------------------------------------------------===//

LogicalResult formError(Operation *op, StringRef what) {
  return op->emitError()
         << what
         << "; a kernel computes softmax(scores) @ value and logsumexp(scores) of one query, one key "
            "and one value [attention-form]";
}

/// The cached rows a product reads: through slices and dequant to the buffer.
FailureOr<Value> cacheOf(Operation *user, Value rows, int64_t &column, int64_t &width, bool &dequantised) {
  width = isa<mla::BufferType>(rows.getType()) ? cast<mla::BufferType>(rows.getType()).getWidth()
                                               : cast<mla::RowsType>(rows.getType()).getWidth();
  column = 0;
  while (!isa<mla::BufferType>(rows.getType())) {
    Operation *def = rows.getDefiningOp();
    if (auto slice = dyn_cast_or_null<mla::SliceOp>(def)) {
      column += slice.getBegin();
      rows = slice.getSource();
    } else if (auto dequant = dyn_cast_or_null<mla::DequantOp>(def)) {
      dequantised = true;
      rows = dequant.getSource();
    } else {
      return formError(user, "the cached rows are not a slice of a cache");
    }
  }
  return rows;
}

LogicalResult matchScores(Operation *user, Value scores, Attention &attention) {
  attention.scores = scores;
  if ((attention.sink = scores.getDefiningOp<mla::SinkOp>()))
    scores = attention.sink.getScores();
  if (auto mask = scores.getDefiningOp<mla::WindowOp>()) {
    attention.window = mask.getLeft();
    scores = mask.getScores();
  }
  if (auto mask = scores.getDefiningOp<mla::CausalOp>()) {
    attention.causal = true;
    scores = mask.getScores();
  }
  if ((attention.edit = scores.getDefiningOp<mla::EditOp>())) {
    if (attention.edit.getScores().size() != 1)
      return formError(user, "the scores are edited more than once");
    scores = attention.edit.getScores().front();
  }
  auto dot = stripScales(scores, attention.scoreFactors).getDefiningOp<mla::DotOp>();
  if (!dot)
    return formError(user, "the scores are not a dot product, scaled, edited and masked once");
  if (!isa<mla::BufferType>(dot.getQuery().getType()))
    return formError(dot, "the query is not a whole buffer");
  attention.query = dot.getQuery();
  int64_t column, width;
  FailureOr<Value> cache = cacheOf(dot, dot.getKey(), column, width, attention.dequantised);
  if (failed(cache))
    return failure();
  if (width != cast<mla::BufferType>(cache->getType()).getWidth())
    return formError(dot, "the key is not the whole cached row");
  attention.cache = *cache;
  return success();
}

LogicalResult matchResult(mla::ReturnOp ret, Value result, Attention &attention) {
  auto attend = stripScales(result, attention.resultFactors).getDefiningOp<mla::AttendOp>();
  if (!attend)
    return formError(ret, "a result is not softmax(scores) @ value");
  auto softmax = attend.getProbs().getDefiningOp<mla::SoftmaxOp>();
  if (!softmax || failed(matchScores(softmax, softmax.getScores(), attention)))
    return softmax ? failure() : formError(attend, "the probabilities are not a softmax");
  FailureOr<Value> cache =
      cacheOf(attend, attend.getValue(), attention.valueColumn, attention.valueWidth, attention.dequantised);
  if (failed(cache))
    return failure();
  attention.value = *cache;
  if (attention.isPrefill() && attention.valueWidth != cast<mla::BufferType>(cache->getType()).getWidth())
    return formError(attend, "the value is not the whole row of its buffer");
  return success();
}

LogicalResult matchLse(mla::ReturnOp ret, Value result, Attention &attention) {
  auto lse = result.getDefiningOp<mla::LogSumExpOp>();
  if (!lse)
    return formError(ret, "a log-sum-exp result is not logsumexp(scores)");
  bool withoutSink = attention.sink && attention.sink.getScores() == lse.getScores();
  if (attention.scores && attention.scores != lse.getScores() && !withoutSink)
    return formError(lse, "softmax and logsumexp read different scores");
  attention.sinkInLse = attention.sink && !withoutSink;
  attention.base = lse.getType().getBase();
  return success();
}

/// Keys and values of their own: as many heads, ragged, and widths that a warp's registers hold.
LogicalResult checkPrefill(Operation *op, const Attention &attention) {
  auto query = cast<mla::BufferType>(attention.query.getType());
  auto key = cast<mla::BufferType>(attention.cache.getType()),
       value = cast<mla::BufferType>(attention.value.getType());
  if (key.getShape().size() != 2 || value.getShape().size() != 2 || key.getHeads() != value.getHeads() ||
      query.getHeads() % key.getHeads())
    return op->emitError() << "key and value of two buffers have as many heads, which divide the query's "
                           << query.getHeads() << " [kv-heads]";
  if (key.getLayout() != mla::Layout::ragged || value.getLayout() != mla::Layout::ragged)
    return op->emitError() << "key and value of two buffers are ragged [kv-layout]";
  for (auto [type, what] : {std::pair(key, "key"), std::pair(value, "value")})
    if (type.getWidth() % 16 || type.getWidth() > 256)
      return op->emitError() << "no tile covers a " << what << " " << type.getWidth()
                             << " wide; a multiple of 16 from 16 to 256 [prefill-width]";
  return success();
}

/// Of a record, the columns of the value are of one part, and begin with one of its groups.
LogicalResult checkValuePart(Operation *op, const Attention &attention, mla::BufferType cache) {
  int64_t begin = attention.valueColumn, end = begin + attention.valueWidth;
  mla::StoredPart part = mla::partOf(cache.getElementType(), cache.getWidth(), begin, end);
  if (!part.element)
    return op->emitError() << "the value's columns " << begin << " to " << end - 1
                           << " lie in several parts of the record; in one [record-value]";
  if (part.isScaled() && (begin - part.column) % part.group)
    return op->emitError() << "the value starts at column " << begin << ", within a group of " << part.group
                           << " columns that share a scale; where one starts [record-value]";
  return success();
}

/// Widths that the tiles cover; each rule names what is allowed.
LogicalResult checkWidths(Operation *op, const Attention &attention) {
  auto query = cast<mla::BufferType>(attention.query.getType());
  auto cache = cast<mla::BufferType>(attention.cache.getType());
  if (query.getHeads() < 1 || query.getHeads() > 128)
    return op->emitError() << query.getHeads() << " heads; 1 to 128 [heads-range]";
  if (attention.isPrefill())
    return checkPrefill(op, attention);
  if (cache.getShape().size() != 1)
    return op->emitError()
           << "the row that is key and value has heads; a latent row is shared by all heads [latent-heads]";
  int64_t latent = attention.valueWidth, rope = cache.getWidth() - latent;
  if (latent % 64 || latent < 64 || latent > 512)
    return op->emitError() << "no tile covers a value " << latent
                           << " wide; a multiple of 64 from 64 to 512 [latent-width]";
  if (rope != 0 && rope != 16 && rope != 32 && rope != 64)
    return op->emitError() << "the key is " << rope << " wider than the value; 0, 16, 32 or 64 [rope-width]";
  if (attention.valueColumn % 16)
    return op->emitError() << "the value starts at column " << attention.valueColumn
                           << "; a multiple of 16 [value-offset]";
  return checkValuePart(op, attention, cache);
}

/// Storage of what the tiles load and store, apart from the cache: its conversions are the target's to allow.
LogicalResult checkStorage(mla::KernelOp kernel, const Attention &attention) {
  Type query = cast<mla::BufferType>(attention.query.getType()).getElementType();
  if (!isa<Float16Type, BFloat16Type>(query))
    return kernel.emitError() << "the query is stored as " << query << "; f16 or bf16 [query-storage]";
  for (Type type : kernel.getResultTypes())
    if (auto buffer = dyn_cast<mla::BufferType>(type))
      if (!isa<Float16Type, BFloat16Type, Float32Type>(buffer.getElementType()))
        return kernel.emitError() << "the output is stored as " << buffer.getElementType()
                                  << "; f16, bf16 or f32 [output-storage]";
  return success();
}

FailureOr<Attention> matchAttention(mla::KernelOp kernel) {
  Attention attention;
  auto ret = cast<mla::ReturnOp>(kernel.getBody().front().getTerminator());
  unsigned outputs = llvm::count_if(ret.getValues(), [](Value v) { return isa<mla::RowsType>(v.getType()); });
  if (outputs != 1 || ret.getValues().size() > 2)
    return formError(kernel, "a kernel has one output and at most one log-sum-exp"), failure();
  for (Value value : ret.getValues())
    if (isa<mla::RowsType>(value.getType()) && failed(matchResult(ret, value, attention)))
      return failure();
  for (Value value : ret.getValues())
    if (isa<mla::LseType>(value.getType()) && failed(matchLse(ret, value, attention)))
      return failure();
  if (failed(checkWidths(kernel, attention)) || failed(checkStorage(kernel, attention)))
    return failure();
  return attention;
}

//===-- Describing -------------------------------------------------------------------------------------===//

/// A product of scalars and numbers as {constant, scalars}, for the artefact's manifest.
LogicalResult flattenFactor(mla::KernelOp kernel, Value value, double &constant,
                            SmallVectorImpl<Attribute> &names) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    names.push_back(StringAttr::get(value.getContext(), kernel.getArgName(argument.getArgNumber())));
    return success();
  }
  if (auto mul = value.getDefiningOp<arith::MulFOp>())
    return failure(failed(flattenFactor(kernel, mul.getLhs(), constant, names)) ||
                   failed(flattenFactor(kernel, mul.getRhs(), constant, names)));
  if (auto number = value.getDefiningOp<arith::ConstantOp>()) {
    constant *= cast<FloatAttr>(number.getValue()).getValueAsDouble();
    return success();
  }
  return emitError(value.getLoc()) << "a scale is a product of scalars and numbers [scale-form]";
}

FailureOr<DictionaryAttr> describeFactors(mla::KernelOp kernel, ArrayRef<Value> factors) {
  double constant = 1;
  SmallVector<Attribute> names;
  for (Value factor : factors)
    if (failed(flattenFactor(kernel, factor, constant, names)))
      return failure();
  Builder builder(kernel.getContext());
  return builder.getDictionaryAttr({builder.getNamedAttr("constant", builder.getF64FloatAttr(constant)),
                                    builder.getNamedAttr("scalars", builder.getArrayAttr(names))});
}

/// What the kernel means, for the manifest: survives every lowering as the attribute `mlac.info`.
FailureOr<DictionaryAttr> describe(mla::KernelOp kernel, const Attention &attention) {
  FailureOr<DictionaryAttr> score = describeFactors(kernel, attention.scoreFactors);
  FailureOr<DictionaryAttr> value = describeFactors(kernel, attention.resultFactors);
  if (failed(score) || failed(value))
    return failure();
  Builder b(kernel.getContext());
  auto name = [&](Value v) {
    return b.getStringAttr(kernel.getArgName(cast<BlockArgument>(v).getArgNumber()));
  };
  auto number = [&](int64_t n) { return b.getI64IntegerAttr(n); };
  auto named = [&](StringRef key, Attribute value) { return b.getNamedAttr(key, value); };
  SmallVector<NamedAttribute> scores{named("causal", b.getBoolAttr(attention.causal))};
  if (attention.window)
    scores.push_back(named("window", number(*attention.window)));
  if (mla::SinkOp sink = attention.sink) {
    scores.push_back(named("sink", name(sink.getLogits())));
    scores.push_back(named("sink_in_lse", b.getBoolAttr(attention.sinkInLse)));
  }
  if (attention.edit)
    scores.push_back(named("score_edit", mlac::describeEdit(kernel, attention.edit)));
  SmallVector<NamedAttribute> all{
      b.getNamedAttr("query", name(attention.query)),
      b.getNamedAttr("cache", name(attention.cache)),
      b.getNamedAttr("value", name(attention.value)),
      b.getNamedAttr("qk_dim", number(cast<mla::BufferType>(attention.cache.getType()).getWidth())),
      b.getNamedAttr("v_dim", number(attention.valueWidth)),
      b.getNamedAttr("v_offset", number(attention.valueColumn)),
      b.getNamedAttr("lse",
                     b.getStringAttr(attention.base ? mla::stringifyLseBase(*attention.base) : "none")),
      b.getNamedAttr("score_scale", *score),
      b.getNamedAttr("value_scale", *value)};
  llvm::append_range(all, scores);
  return b.getDictionaryAttr(all);
}

//===-- Building ---------------------------------------------------------------------------------------===//

/// Builds the two entry points of one kernel.
class TileBuilder {
public:
  TileBuilder(mla::KernelOp source, const Attention &attention, DictionaryAttr info)
      : source(source), attention(attention), info(info), builder(source), loc(source.getLoc()),
        context(source.getContext()), compute(source.getCompute()), f32(builder.getF32Type()) {}

  void build() {
    buildWalk();
    if (!attention.isPrefill())
      buildCombine();
    if (attention.base)
      buildMerge();
  }

private:
  tile::TileType tileOf(int64_t rows, int64_t columns, Type element) {
    return tile::TileType::get(context, {rows, columns}, element);
  }

  /// The declared results as buffers: rows as they are, a log-sum-exp as one f32 a head.
  SmallVector<std::pair<StringRef, mla::BufferType>> outputs() {
    SmallVector<std::pair<StringRef, mla::BufferType>> result;
    for (auto [index, type] : llvm::enumerate(source.getResultTypes())) {
      auto buffer = dyn_cast<mla::BufferType>(type);
      if (auto lse = dyn_cast<mla::LseType>(type))
        buffer = mla::BufferType::get(context, mla::Layout::ragged, {lse.getHeads(), 1}, f32, 4);
      result.push_back({source.getResName(index), buffer});
    }
    return result;
  }

  /// An empty entry point; its arguments are `inputs`, the outputs and, if it walks one, the plan.
  tile::KernelOp buildEntry(StringRef name, ArrayRef<std::pair<StringRef, Type>> inputs,
                            bool planned = true) {
    SmallVector<Type> types;
    SmallVector<Attribute> attrs;
    auto add = [&](StringRef argName, Type type) {
      types.push_back(type);
      attrs.push_back(
          builder.getDictionaryAttr(builder.getNamedAttr(mla::kNameAttr, builder.getStringAttr(argName))));
    };
    for (auto [argName, type] : inputs)
      add(argName, type);
    for (auto [argName, type] : outputs())
      add(argName, type);
    if (planned)
      add("plan", tile::PlanType::get(context));
    auto kernel = tile::KernelOp::create(
        builder, loc, builder.getStringAttr(name), TypeAttr::get(builder.getFunctionType(types, {})),
        TypeAttr::get(compute),
        builder.getI64IntegerAttr(cast<mla::BufferType>(attention.query.getType()).getHeads()), IntegerAttr(),
        tile::ScheduleAttr(), tile::PrefillScheduleAttr(), DictionaryAttr(), builder.getArrayAttr(attrs),
        ArrayAttr());
    kernel->setAttr("mlac.info", info);
    kernel.getBody().emplaceBlock().addArguments(types, SmallVector<Location>(types.size(), loc));
    return kernel;
  }

  /// The output's block argument, and the log-sum-exp's or null.
  std::pair<Value, Value> outputArguments(tile::KernelOp kernel, unsigned first) {
    std::pair<Value, Value> result;
    for (auto [index, type] : llvm::enumerate(source.getResultTypes()))
      (isa<mla::LseType>(type) ? result.second : result.first) = kernel.getArgument(first + index);
    return result;
  }

  Value constant(double value) {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(float(value)));
  }

  Value product(ArrayRef<Value> factors, double initial, IRMapping &mapping) {
    Value result = constant(initial);
    for (Value factor : factors)
      result = arith::MulFOp::create(builder, loc, result, mapping.lookup(factor));
    return result;
  }

  void buildWalk() {
    SmallVector<std::pair<StringRef, Type>> inputs;
    for (auto [index, type] : llvm::enumerate(source.getArgumentTypes()))
      inputs.push_back({source.getArgName(index), type});
    tile::KernelOp kernel = buildEntry(source.getSymName(), inputs);
    if (auto hints = source->getAttrOfType<DictionaryAttr>("mla.hints"))
      kernel.setHintsAttr(hints);
    if (attention.isPrefill())
      kernel.setKvHeads(cast<mla::BufferType>(attention.cache.getType()).getHeads());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&kernel.getBody().front());
    IRMapping mapping;
    for (auto [index, argument] : llvm::enumerate(source.getArguments()))
      mapping.map(argument, kernel.getArgument(index));
    for (Operation &op : source.getBody().front())
      if (isa<arith::ArithDialect>(op.getDialect()))
        builder.clone(op, mapping);
    // Of edited scores the edit itself changes to base 2.
    Value scale = product(attention.scoreFactors, attention.edit ? 1.0 : std::numbers::log2e, mapping);
    Value factor = product(attention.resultFactors, 1.0, mapping);
    Region edit;
    if (attention.edit)
      mlac::buildEdit(builder, attention.edit, mapping, edit, scale);
    Value plan = kernel.getBody().front().getArguments().back();
    auto items = tile::ItemsOp::create(builder, loc, plan, ValueRange());
    tile::ReturnOp::create(builder, loc);
    buildItem(items, kernel, mapping, scale, factor, edit);
  }

  void buildItem(tile::ItemsOp items, tile::KernelOp kernel, IRMapping &mapping, Value scale, Value factor,
                 Region &edit) {
    Block &body = items.getBody().emplaceBlock();
    Value item = body.addArgument(tile::ItemType::get(context), loc);
    builder.setInsertionPointToStart(&body);
    Value query = tile::QueryOp::create(
        builder, attention.query.getLoc(),
        tileOf(kOpen, cast<mla::BufferType>(attention.query.getType()).getWidth(), compute),
        mapping.lookup(attention.query), item);
    auto range = tile::RangeOp::create(builder, loc, item);
    auto stats = tileOf(kOpen, 1, f32);
    float infinity = std::numeric_limits<float>::infinity();
    Value zero = tile::FillOp::create(builder, loc, tileOf(kOpen, attention.valueWidth, f32),
                                      builder.getF32FloatAttr(0));
    Value lowest = tile::FillOp::create(builder, loc, stats, builder.getF32FloatAttr(-infinity));
    Value none = tile::FillOp::create(builder, loc, stats, builder.getF32FloatAttr(0));
    Value step = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(1));
    auto loop = scf::ForOp::create(builder, loc, range.getBegin(), range.getEnd(), step,
                                   ValueRange{zero, lowest, none});
    buildStep(loop, query, mapping, item, scale, edit);
    auto [out, lse] = outputArguments(kernel, source.getNumArguments());
    tile::FinishOp::create(builder, loc, item, kernel.getBody().front().getArguments().back(),
                           loop.getResult(0), loop.getResult(1), loop.getResult(2), factor, out, lse,
                           sink(mapping), attention.base.value_or(mla::LseBase::log2), attention.sinkInLse);
    tile::YieldOp::create(builder, loc);
  }

  /// One KV tile: load, score, mask, softmax, accumulate.
  void buildStep(scf::ForOp loop, Value query, IRMapping &mapping, Value item, Value scale, Region &edit) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value tileIndex = loop.getInductionVar(), maximum = loop.getRegionIterArg(1);
    Value key = loadTile(attention.cache, mapping, item, tileIndex);
    Location scoreLoc = attention.scores.getLoc();
    auto scoreType = tileOf(kOpen, kOpen, f32);
    Value scores = tile::DotOp::create(builder, scoreLoc, scoreType, query, key);
    scores = tile::ScaleOp::create(builder, scoreLoc, scoreType, scores, scale);
    auto mask = tile::MaskOp::create(builder, scoreLoc, scoreType, scores, item, tileIndex, attention.causal,
                                     window());
    mask.getEdit().takeBody(edit);
    scores = mask.getResult();
    auto softmax = tile::OnlineSoftmaxOp::create(
        builder, scoreLoc,
        TypeRange{tileOf(kOpen, kOpen, compute), maximum.getType(), maximum.getType(), maximum.getType()},
        scores, maximum, loop.getRegionIterArg(2));
    Value value = attention.isPrefill() ? loadTile(attention.value, mapping, item, tileIndex) : key;
    if (attention.valueWidth != cast<tile::TileType>(value.getType()).getColumns())
      value = tile::SliceOp::create(builder, attention.value.getLoc(),
                                    tileOf(kOpen, attention.valueWidth, compute), key, attention.valueColumn,
                                    attention.valueColumn + attention.valueWidth);
    Value accumulator = tile::AccumulateOp::create(builder, loc, loop.getRegionIterArg(0),
                                                   softmax.getShrink(), softmax.getProbs(), value);
    scf::YieldOp::create(builder, loc, ValueRange{accumulator, softmax.getNewMaximum(), softmax.getNewSum()});
  }

  IntegerAttr window() {
    return attention.window ? builder.getI64IntegerAttr(*attention.window) : IntegerAttr();
  }

  Value sink(IRMapping &mapping) {
    mla::SinkOp sink = attention.sink;
    return sink ? mapping.lookup(sink.getLogits()) : Value();
  }

  /// A tile of a buffer, in the compute type.
  Value loadTile(Value buffer, IRMapping &mapping, Value item, Value tileIndex) {
    auto type = cast<mla::BufferType>(buffer.getType());
    Location at = buffer.getLoc();
    Value rows = tile::LoadOp::create(builder, at, tileOf(kOpen, type.getWidth(), type.getElementType()),
                                      mapping.lookup(buffer), item, tileIndex);
    if (type.getElementType() == compute)
      return rows;
    return tile::DequantOp::create(builder, at, tileOf(kOpen, type.getWidth(), compute), rows);
  }

  void buildCombine() {
    SmallVector<std::pair<StringRef, Type>> inputs;
    IRMapping mapping;
    if (mla::SinkOp sink = attention.sink)
      inputs.push_back({source.getArgName(cast<BlockArgument>(sink.getLogits()).getArgNumber()),
                        sink.getLogits().getType()});
    tile::KernelOp kernel = buildEntry((source.getSymName() + "_combine").str(), inputs);
    if (mla::SinkOp sink = attention.sink)
      mapping.map(sink.getLogits(), kernel.getArgument(0));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&kernel.getBody().front());
    auto [out, lse] = outputArguments(kernel, inputs.size());
    tile::CombineOp::create(builder, loc, kernel.getBody().front().getArguments().back(), out, lse,
                            sink(mapping), attention.base.value_or(mla::LseBase::log2), attention.sinkInLse,
                            /*rows=*/0, kCombineThreads);
    kernel->setAttr("shared_bytes", builder.getI64IntegerAttr(mlac::combineSharedBytes(kCombineThreads)));
    tile::ReturnOp::create(builder, loc);
  }

  /// Merges results that several calls of the kernel left, over disjoint parts of the context.
  void buildMerge() {
    SmallVector<std::string> names;
    for (int64_t state = 0; state < tile::kMergeStates; ++state)
      for (auto [name, type] : outputs())
        names.push_back(("state" + Twine(state) + "." + (isLse(type) ? "lse" : "out")).str());
    SmallVector<std::pair<StringRef, Type>> inputs{{"states", builder.getI32Type()}};
    for (const std::string &name : names)
      inputs.push_back({name, outputs()[(inputs.size() - 1) % 2].second});
    tile::KernelOp kernel = buildEntry((source.getSymName() + "_merge").str(), inputs, /*planned=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&kernel.getBody().front());
    SmallVector<Value> outs, lses;
    for (Value argument : kernel.getArguments().slice(1, names.size()))
      (isLse(argument.getType()) ? lses : outs).push_back(argument);
    auto [out, lse] = outputArguments(kernel, inputs.size());
    tile::MergeOp::create(builder, loc, kernel.getArgument(0), outs, lses, out, lse, *attention.base,
                          /*threads=*/128);
    tile::ReturnOp::create(builder, loc);
  }

  static bool isLse(Type type) { return cast<mla::BufferType>(type).getWidth() == 1; }

  mla::KernelOp source;
  const Attention &attention;
  DictionaryAttr info;
  OpBuilder builder;
  Location loc;
  MLIRContext *context;
  Type compute, f32;
};

struct Tile : mlac::impl::TileBase<Tile> {
  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<mla::KernelOp>())) {
      FailureOr<Attention> attention = matchAttention(kernel);
      FailureOr<DictionaryAttr> info = failure();
      if (succeeded(attention))
        info = describe(kernel, *attention);
      if (failed(info)) {
        signalPassFailure();
        continue;
      }
      TileBuilder(kernel, *attention, *info).build();
      kernel.erase();
    }
  }
};

} // namespace

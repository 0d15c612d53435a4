// Types of parameters and results, the compute type and the hints.
#include "frontend/Checker.h"

#include "frontend/Suggest.h"

using namespace llvm;
using namespace mlac;
using mlir::mla::Layout;

static constexpr int64_t kMostHeads = 128;
static constexpr int64_t kWidestRow = 65536;
static constexpr int64_t kLargestHint = 65536;
static constexpr Dtype kInputs[] = {Dtype::E4M3, Dtype::E5M2, Dtype::Int8, Dtype::BF16, Dtype::F16};
static constexpr Dtype kOutputs[] = {Dtype::BF16, Dtype::F16, Dtype::F32};
static constexpr Dtype kCached[] = {Dtype::E4M3, Dtype::E5M2, Dtype::Int8, Dtype::BF16, Dtype::F16};
static constexpr StringRef kHints[] = {"rows",   "tokens",      "stages",    "query_tokens",
                                       "groups", "token_warps", "row_warps"};

void HeaderChecker::check(KernelDecl &kernel) {
  for (ParamDecl &param : kernel.params)
    checkParam(param);
  for (ResultDecl &result : kernel.results) {
    checkResult(result);
    kernel.isWriter |= result.isCache();
  }
  if (kernel.results.empty())
    diagnostics.error(kernel.name.loc, "result-missing", "kernel '" + kernel.name.text + "' has no results");
  if (kernel.isWriter)
    checkWriter(kernel);
  else
    checkCompute(kernel);
  checkHints(kernel);
}

void HeaderChecker::checkBufferParam(ParamDecl &param) {
  std::optional<Layout> layout = layoutOf(param.spec);
  std::optional<Dtype> storage =
      param.spec.parts ? recordOf(param) : storageOf(param.spec.storage, kInputs, "an input");
  auto shape = param.spec.parts ? widthOf(param.record) : rowShapeOf(param.spec);
  std::optional<int64_t> align = alignOf(param.spec);
  if (!layout || !storage || !shape || !align || !checkRecordAlign(param, *align))
    return;
  param.layout = *layout;
  param.align = *align;
  param.type = {.kind = ValueType::Stored,
                .element = *storage,
                .heads = shape->first,
                .width = shape->second,
                .buffer = &param};
}

/// `f32[8]` or `f32[heads = 8]`.
void HeaderChecker::checkHeadValues(ParamDecl &param) {
  const TypeSpec::Dim &dim = param.spec.dims.front();
  bool named = dim.name.text.empty() || dim.name.text == "heads";
  if (param.spec.dims.size() != 1 || !named) {
    diagnostics.error(param.spec.layout.loc, "head-values", "a list of f32 has one dimension, its heads")
        .fix("write f32[heads = 8]");
    return;
  }
  if (auto heads = constants.evaluate(*dim.extent, "heads-range", "a number of heads", 1, kMostHeads))
    param.type = {.kind = ValueType::HeadValues, .heads = *heads};
}

void HeaderChecker::checkParam(ParamDecl &param) {
  if (param.spec.isBuffer()) {
    checkBufferParam(param);
  } else if (!param.spec.dims.empty()) {
    checkHeadValues(param);
  } else if (param.spec.layout.text == "f32") {
    param.type = {.kind = ValueType::Scalar};
    param.type.scale.params.push_back(&param);
  } else {
    diagnostics
        .error(param.spec.layout.loc, "param-type",
               "'" + param.spec.layout.text + "' is not a parameter's type")
        .fix("a parameter is f32, f32[heads] or a buffer, such as paged e4m3[576]");
  }
}

void HeaderChecker::checkResult(ResultDecl &result) {
  StringRef word = result.spec.layout.text;
  if (result.spec.isBuffer()) {
    std::optional<Layout> layout = layoutOf(result.spec);
    result.layout = layout.value_or(Layout::ragged);
    if (result.layout != Layout::ragged && !result.isCache())
      diagnostics.error(result.spec.layout.loc, "result-layout", "a result cannot be " + word)
          .fix("results are ragged, a row for each query token, or a cache that is written into, paged");
    std::optional<Dtype> storage = result.isCache() ? storageOf(result.spec.storage, kCached, "a cache")
                                                    : storageOf(result.spec.storage, kOutputs, "a result");
    auto shape = result.spec.parts ? std::nullopt : rowShapeOf(result.spec);
    std::optional<int64_t> align = alignOf(result.spec);
    if (!layout || !storage || !shape || !align)
      return;
    result.align = *align;
    result.type = {
        .kind = ValueType::Rows, .element = *storage, .heads = shape->first, .width = shape->second};
  } else if (auto base = mlir::mla::symbolizeLseBase(word)) {
    result.type = {.kind = ValueType::Lse, .base = base};
  } else {
    diagnostics.error(result.spec.layout.loc, "result-type", "'" + word + "' is not a result's type")
        .fix("a result is log2, ln or a buffer, such as ragged bf16[heads = 8, 512]");
  }
}

std::optional<Layout> HeaderChecker::layoutOf(const TypeSpec &spec) {
  std::optional<Layout> layout = mlir::mla::symbolizeLayout(spec.layout.text);
  if (!layout)
    diagnostics.error(spec.layout.loc, "layout-name", "unknown layout '" + spec.layout.text + "'")
        .fix(suggestName(spec.layout.text, {"ragged", "paged"}));
  return layout;
}

/// What to write instead of a record without parts, or where no record can be.
static std::string recordInstead(ArrayRef<Dtype> allowed) {
  return allowed.data() == kInputs
             ? "a record lists its parts: record { latent : e4m3[512] scaled f32 per 128 inline; "
               "rope : bf16[64] }"
             : "records are read, and not written";
}

std::optional<Dtype> HeaderChecker::storageOf(const Identifier &storage, ArrayRef<Dtype> allowed,
                                              StringRef role) {
  std::optional<Dtype> dtype = parseDtype(storage.text);
  if (dtype && is_contained(allowed, *dtype))
    return dtype;
  SmallVector<StringRef> names;
  for (Dtype candidate : allowed)
    names.push_back(spell(candidate));
  diagnostics.error(storage.loc, "storage-type", "'" + storage.text + "' is not a storage type of " + role)
      .fix(storage.text == "record" ? recordInstead(allowed)
           : dtype                  ? "it is " + listNames(names)
                                    : suggestName(storage.text, names));
  return std::nullopt;
}

std::optional<int64_t> HeaderChecker::alignOf(const TypeSpec &spec) {
  if (!spec.align)
    return 16;
  std::optional<int64_t> align = constants.evaluate(*spec.align);
  if (!align || *align == 4 || *align == 8 || *align == 16)
    return align;
  diagnostics
      .error(spec.align->begin(), "buffer-align", "alignment of " + Twine(*align) + " bytes is not supported")
      .fix("it is 4, 8 or 16");
  return std::nullopt;
}

bool HeaderChecker::checkDimName(const TypeSpec &spec, size_t index) {
  const Identifier &name = spec.dims[index].name;
  bool isHeads = spec.dims.size() == 2 && index == 0;
  if (name.text.empty() || name.text == (isHeads ? "heads" : "width"))
    return true;
  diagnostics
      .error(
          name.loc, "dim-name",
          (isHeads ? "the first of two dimensions is heads, not '" : "the last dimension is width, not '") +
              name.text + "'")
      .fix("a row is [width] or [heads = ..., width]");
  return false;
}

/// A kernel whose result is a cache writes new rows into it, and does nothing else.
void HeaderChecker::checkWriter(KernelDecl &kernel) {
  for (const ResultDecl &result : kernel.results) {
    if (&result != &kernel.results.front())
      diagnostics.error(result.name.loc, "result-layout", "a second result beside a cache")
          .note(kernel.results.front().name.loc, "the first is here")
          .fix("a kernel that writes into a cache has that one result; attention, whose results are ragged, is another kernel");
    else if (result.type.heads)
      diagnostics.error(result.spec.storage.loc, "writer-heads", "the rows of the cache have heads")
          .fix("a latent row is shared by all heads: paged e4m3[576]");
  }
  if (!kernel.compute.text.empty())
    diagnostics.error(kernel.compute.loc, "writer-compute", "a kernel that writes into a cache multiplies nothing")
        .fix("leave out compute: it computes in f32");
}

/// Heads (0 where the row has none) and width.
std::optional<std::pair<int64_t, int64_t>> HeaderChecker::rowShapeOf(const TypeSpec &spec) {
  if (spec.dims.size() > 2) {
    diagnostics
        .error(spec.storage.loc, "row-shape", "a token's row has " + Twine(spec.dims.size()) + " dimensions")
        .fix("a row is [width] or [heads = ..., width]");
    return std::nullopt;
  }
  bool named = true;
  for (size_t i = 0; i < spec.dims.size(); ++i)
    named &= checkDimName(spec, i);
  std::optional<int64_t> heads = 0;
  if (spec.dims.size() == 2)
    heads = constants.evaluate(*spec.dims[0].extent, "heads-range", "a number of heads", 1, kMostHeads);
  auto width = constants.evaluate(*spec.dims.back().extent, "width-range", "a row width", 1, kWidestRow);
  if (!named || !heads || !width)
    return std::nullopt;
  return std::make_pair(*heads, *width);
}

void HeaderChecker::checkCompute(KernelDecl &kernel) {
  if (kernel.compute.text.empty()) {
    diagnostics
        .error(kernel.name.loc, "kernel-compute",
               "kernel '" + kernel.name.text + "' does not say what it computes in")
        .fix("write compute f16 or compute bf16 before the body");
    return;
  }
  std::optional<Dtype> dtype = parseDtype(kernel.compute.text);
  if (dtype == Dtype::F16 || dtype == Dtype::BF16)
    kernel.computeType = dtype;
  else
    diagnostics.error(kernel.compute.loc, "kernel-compute", "cannot compute in '" + kernel.compute.text + "'")
        .fix("it is f16 or bf16");
}

void HeaderChecker::checkHints(KernelDecl &kernel) {
  StringMap<SMLoc> seen;
  for (Hint &hint : kernel.hints) {
    if (!is_contained(kHints, hint.name.text))
      diagnostics.error(hint.name.loc, "hint-name", "unknown hint '" + hint.name.text + "'")
          .fix(suggestName(hint.name.text, kHints));
    auto [entry, isNew] = seen.try_emplace(hint.name.text, hint.name.loc);
    if (!isNew)
      diagnostics.error(hint.name.loc, "duplicate-name", "hint '" + hint.name.text + "' is given twice")
          .note(entry->second, "the first is here");
    if (auto value = constants.evaluate(*hint.value, "hint-value", "a hint", 1, kLargestHint))
      hint.evaluated = *value;
  }
}

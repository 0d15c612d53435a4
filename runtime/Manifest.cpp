// The manifest as JSON, and what a manifest must satisfy to be believed.
#include "runtime/Manifest.h"

#include "runtime/Abi.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <limits>

namespace mla {

using Json = nlohmann::ordered_json;

const Operand *KernelInfo::find(std::string_view operandName) const {
  for (const Operand &operand : operands)
    if (operand.name == operandName)
      return &operand;
  return nullptr;
}

const Operand *KernelInfo::find(Role role) const {
  for (const Operand &operand : operands)
    if (operand.role == role)
      return &operand;
  return nullptr;
}

const KernelInfo *Manifest::find(std::string_view kernelName) const {
  for (const KernelInfo &kernel : kernels)
    if (kernel.name == kernelName)
      return &kernel;
  return nullptr;
}

const WriterInfo *Manifest::findWriter(std::string_view writerName) const {
  for (const WriterInfo &writer : writers)
    if (writer.name == writerName)
      return &writer;
  return nullptr;
}

//===--- Writing
//------------------------------------------------------------------------------------------===//

template <typename T>
static Json writeList(const std::vector<T> &list, Json (*writeOne)(const T &)) {
  Json json = Json::array();
  for (const T &element : list)
    json.push_back(writeOne(element));
  return json;
}

static Json write(const RecordPart &part) {
  return {{"name", part.name},         {"dtype", name(part.dtype)}, {"width", part.width},
          {"scale", name(part.scale)}, {"group", part.group},       {"apart", part.apart}};
}

static Json write(const Operand &operand) {
  Json json = {{"name", operand.name},           {"role", name(operand.role)},
               {"layout", name(operand.layout)}, {"dtype", name(operand.dtype)},
               {"shape", operand.shape},         {"alignment", operand.alignment}};
  if (!operand.record.empty())
    json["record"] = writeList<RecordPart>(operand.record, write);
  return json;
}

static Json write(const Tile &tile) {
  return {{"rows", tile.rows}, {"tokens", tile.tokens}, {"stages", tile.stages}, {"warps", tile.warps}};
}

static Json write(const Entry &entry) {
  return {{"name", entry.name},
          {"threads", entry.threads},
          {"shared_bytes", entry.sharedBytes},
          {"params", entry.params},
          {"overlaps", entry.overlaps}};
}

static Json write(const Scale &scale) { return {{"constant", scale.constant}, {"scalars", scale.scalars}}; }

static Json write(const ScoreEdit &edit) {
  return {{"steps", edit.steps}, {"value", edit.value}, {"keep", edit.keep}};
}

static Json write(const KernelInfo &kernel) {
  return {{"name", kernel.name},
          {"heads", kernel.heads},
          {"kv_heads", kernel.kvHeads},
          {"qk_dim", kernel.qkDim},
          {"v_dim", kernel.vDim},
          {"v_offset", kernel.vOffset},
          {"compute", name(kernel.compute)},
          {"causal", kernel.causal},
          {"window", kernel.window},
          {"sink", kernel.sink},
          {"sink_in_lse", kernel.sinkInLse},
          {"lse", name(kernel.lse)},
          {"score_scale", write(kernel.scoreScale)},
          {"value_scale", write(kernel.valueScale)},
          {"score_edit", write(kernel.scoreEdit)},
          {"operands", writeList<Operand>(kernel.operands, write)},
          {"tile", write(kernel.tile)},
          {"main", write(kernel.main)},
          {"combine", write(kernel.combine)},
          {"merge", write(kernel.merge)},
          {"planner", write(kernel.planner)},
          {"check", write(kernel.check)}};
}

static Json write(const WriterInfo &writer) {
  return {{"name", writer.name},
          {"parts", writeList<Operand>(writer.parts, write)},
          {"cache", write(writer.cache)},
          {"rounded", writer.rounded},
          {"divisor", write(writer.divisor)},
          {"elements", writer.elements},
          {"main", write(writer.main)}};
}

std::string toJson(const Manifest &manifest) {
  Json json = {{"version", manifest.version},
               {"compiler", manifest.compiler},
               {"source_hash", manifest.sourceHash},
               {"target", manifest.target},
               {"profile", manifest.profile},
               {"ptx_version", manifest.ptxVersion},
               {"kernels", writeList<KernelInfo>(manifest.kernels, write)}};
  if (!manifest.writers.empty()) // which older readers do not know
    json["writers"] = writeList<WriterInfo>(manifest.writers, write);
  // Text that is no UTF-8, say of a file name, must not stop the compiler.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

//===--- Reading
//------------------------------------------------------------------------------------------===//

namespace {

[[noreturn]] void invalid(const std::string &path, std::string value, std::string allowed) {
  throw Error(Error::Code::manifestInvalid, "manifest field " + path, std::move(value), std::move(allowed),
              "recompile the kernel");
}

/// An object of the JSON together with its path, which errors name.
class Reader {
public:
  Reader(const Json &json, std::string path) : json(json), path(std::move(path)) {
    if (!json.is_object())
      invalid(this->path, json.type_name(), "an object");
  }

  template <typename T>
  void read(const char *key, T &into) const {
    const Json &value = at(key);
    try {
      value.get_to(into);
    } catch (const Json::exception &) {
      invalid(pathOf(key), value.dump(), "of another type");
    }
  }

  /// An integer, of which JSON numbers like 2.5 or 1e99 are none.
  template <typename T>
  void readInteger(const char *key, T &into, int64_t least) const {
    const Json &value = at(key);
    bool fits = value.is_number_integer() && value.get<int64_t>() >= least &&
                value.get<int64_t>() <= std::numeric_limits<T>::max();
    if (!fits)
      invalid(pathOf(key), value.dump(), fmt::format("an integer of at least {}", least));
    into = value.get<T>();
  }

  template <typename Enum>
  void readEnum(const char *key, Enum &into, std::optional<Enum> (*parse)(std::string_view)) const {
    std::string text;
    read(key, text);
    std::optional<Enum> value = parse(text);
    if (!value)
      invalid(pathOf(key), '"' + text + '"', "a known name");
    into = *value;
  }

  Reader object(const char *key) const { return Reader(at(key), pathOf(key)); }

  template <typename T>
  void readList(const char *key, std::vector<T> &into, T (*readOne)(const Reader &)) const {
    const Json &list = at(key);
    if (!list.is_array())
      invalid(pathOf(key), list.type_name(), "a list");
    for (size_t i = 0; i < list.size(); ++i)
      into.push_back(readOne(Reader(list[i], fmt::format("{}[{}]", pathOf(key), i))));
  }

  bool has(const char *key) const { return json.contains(key); }
  std::string pathOf(const char *key) const { return path.empty() ? key : path + "." + key; }

private:
  const Json &at(const char *key) const {
    auto found = json.find(key);
    if (found == json.end())
      invalid(pathOf(key), "absent", "present");
    return *found;
  }

  const Json &json;
  std::string path;
};

RecordPart readPart(const Reader &reader) {
  RecordPart part;
  reader.read("name", part.name);
  reader.readEnum("dtype", part.dtype, parseDType);
  reader.readInteger("width", part.width, 1);
  reader.readEnum("scale", part.scale, parseScaleFormat);
  reader.readInteger("group", part.group, part.scale == ScaleFormat::none ? 0 : 1);
  reader.read("apart", part.apart);
  return part;
}

Operand readOperand(const Reader &reader) {
  Operand operand;
  reader.read("name", operand.name);
  reader.readEnum("role", operand.role, parseRole);
  reader.readEnum("layout", operand.layout, parseLayout);
  reader.readEnum("dtype", operand.dtype, parseDType);
  reader.read("shape", operand.shape);
  reader.readInteger("alignment", operand.alignment, 1);
  if (reader.has("record"))
    reader.readList("record", operand.record, readPart);
  return operand;
}

Tile readTile(const Reader &reader) {
  Tile tile;
  reader.readInteger("rows", tile.rows, 1);
  reader.readInteger("tokens", tile.tokens, 1);
  reader.readInteger("stages", tile.stages, 1);
  reader.readInteger("warps", tile.warps, 1);
  return tile;
}

Entry readEntry(const Reader &reader) {
  Entry entry;
  reader.read("name", entry.name);
  reader.readInteger("threads", entry.threads, 0);
  reader.readInteger("shared_bytes", entry.sharedBytes, 0);
  reader.read("params", entry.params);
  reader.read("overlaps", entry.overlaps);
  return entry;
}

Scale readScale(const Reader &reader) {
  Scale scale;
  reader.read("constant", scale.constant);
  reader.read("scalars", scale.scalars);
  return scale;
}

ScoreEdit readEdit(const Reader &reader) {
  ScoreEdit edit;
  reader.read("steps", edit.steps);
  reader.read("value", edit.value);
  reader.read("keep", edit.keep);
  return edit;
}

} // namespace

//===--- What a kernel must satisfy
//-----------------------------------------------------------------------===//

static void checkShape(const KernelInfo &kernel, Role role, const std::vector<int64_t> &shape,
                       const Reader &reader) {
  const Operand *operand = kernel.find(role);
  if (!operand)
    invalid(reader.pathOf("operands"), fmt::format("without a {}", name(role)), "with one");
  if (operand->shape != shape)
    invalid(reader.pathOf("operands") + "." + operand->name,
            fmt::format("[{}]", fmt::join(operand->shape, ", ")),
            fmt::format("[{}]", fmt::join(shape, ", ")));
}

static void checkScale(const KernelInfo &kernel, const Scale &scale, const std::string &path) {
  if (!std::isfinite(scale.constant))
    invalid(path + ".constant", fmt::format("{}", scale.constant), "finite");
  for (const std::string &scalar : scale.scalars) {
    const Operand *operand = kernel.find(scalar);
    if (!operand || operand->role != Role::scalar)
      invalid(path + ".scalars", scalar, "the name of a scalar operand");
  }
}

/// Edits may read scalars and head values.
static void checkEdit(const KernelInfo &kernel, const std::string &path) {
  auto known = [&](std::string_view name) {
    const Operand *operand = kernel.find(name);
    return operand && (operand->role == Role::scalar || operand->role == Role::headValues);
  };
  if (std::string problem = problemOf(kernel.scoreEdit, known); !problem.empty())
    invalid(path, problem, "steps of runtime/ScoreEdit.h");
}

static void checkSink(const KernelInfo &kernel, const std::string &path) {
  const Operand *operand = kernel.find(kernel.sink);
  if (!kernel.sink.empty() && (!operand || operand->role != Role::headValues))
    invalid(path, kernel.sink, "the name of head values");
  for (const Operand &values : kernel.operands)
    if (values.role == Role::headValues && values.shape != std::vector<int64_t>{kernel.heads})
      invalid(path, fmt::format("{} of shape [{}]", values.name, fmt::join(values.shape, ", ")),
              fmt::format("[{}]", kernel.heads));
}

static void checkEntry(const Entry &entry, const std::string &path,
                       const std::function<std::optional<ParamType>(const std::string &)> &typeOf) {
  constexpr int mostThreads = 1024;
  if (entry.name.empty())
    invalid(path + ".name", "empty", "the name of a function");
  if (entry.threads < 1 || entry.threads > mostThreads)
    invalid(path + ".threads", std::to_string(entry.threads), fmt::format("between 1 and {}", mostThreads));
  if (entry.sharedBytes > std::numeric_limits<int32_t>::max())
    invalid(path + ".shared_bytes", std::to_string(entry.sharedBytes), "a 32-bit number");
  for (const std::string &param : entry.params)
    if (!typeOf(param))
      invalid(path + ".params", param, "a word of the parameter vocabulary");
}

static void checkEntry(const KernelInfo &kernel, const Entry &entry, const std::string &path) {
  checkEntry(entry, path, [&](const std::string &param) { return paramType(kernel, param); });
}

/// Elements of a cached row of `width` columns: of a record, whose columns must be as many, its bytes.
static int64_t rowElements(const Operand &cache, int64_t width, const Reader &reader) {
  if (cache.record.empty())
    return width;
  int64_t columns = 0, bytes = 0;
  for (const RecordPart &part : cache.record) {
    columns += part.width;
    bytes += part.valueBytes() + (part.apart ? 0 : part.scaleBytes());
  }
  if (columns != width || cache.dtype != DType::u8)
    invalid(reader.pathOf("operands") + "." + cache.name,
            fmt::format("a record of {} columns, stored as {}", columns, name(cache.dtype)),
            fmt::format("{} columns, stored as u8", width));
  return bytes;
}

/// A decode kernel's cache holds the values too; a prefill kernel has keys and values of as many heads.
static void checkStored(const KernelInfo &kernel, const Reader &reader) {
  if (kernel.isPrefill()) {
    if (kernel.heads % kernel.kvHeads)
      invalid(reader.pathOf("kv_heads"), std::to_string(kernel.kvHeads),
              fmt::format("a divisor of the {} heads", kernel.heads));
    checkShape(kernel, Role::key, {kernel.kvHeads, kernel.qkDim}, reader);
    checkShape(kernel, Role::value, {kernel.kvHeads, kernel.vDim}, reader);
    return;
  }
  if (kernel.vOffset > kernel.qkDim - kernel.vDim)
    invalid(reader.pathOf("v_offset"), fmt::format("{} with v_dim {}", kernel.vOffset, kernel.vDim),
            fmt::format("such that the values lie within the {} cached dims", kernel.qkDim));
  const Operand *cache = kernel.find(Role::cache);
  checkShape(kernel, Role::cache, {cache ? rowElements(*cache, kernel.qkDim, reader) : 0}, reader);
}

static void checkKernel(const KernelInfo &kernel, const Reader &reader) {
  checkStored(kernel, reader);
  checkShape(kernel, Role::query, {kernel.heads, kernel.qkDim}, reader);
  checkShape(kernel, Role::output, {kernel.heads, kernel.vDim}, reader);
  if (kernel.lse != LseBase::none)
    checkShape(kernel, Role::lse, {kernel.heads}, reader);
  checkScale(kernel, kernel.scoreScale, reader.pathOf("score_scale"));
  checkScale(kernel, kernel.valueScale, reader.pathOf("value_scale"));
  checkEdit(kernel, reader.pathOf("score_edit"));
  checkSink(kernel, reader.pathOf("sink"));
  checkEntry(kernel, kernel.main, reader.pathOf("main"));
  for (auto [entry, key] : {std::pair(&kernel.combine, "combine"),
                            {&kernel.merge, "merge"},
                            {&kernel.planner, "planner"},
                            {&kernel.check, "check"}})
    if (!entry->name.empty())
      checkEntry(kernel, *entry, reader.pathOf(key));
}

static KernelInfo readKernel(const Reader &reader) {
  KernelInfo kernel;
  reader.read("name", kernel.name);
  reader.readInteger("heads", kernel.heads, 1);
  reader.readInteger("kv_heads", kernel.kvHeads, 0);
  reader.readInteger("qk_dim", kernel.qkDim, 1);
  reader.readInteger("v_dim", kernel.vDim, 1);
  reader.readInteger("v_offset", kernel.vOffset, 0);
  reader.readEnum("compute", kernel.compute, parseDType);
  reader.read("causal", kernel.causal);
  reader.readInteger("window", kernel.window, -1);
  reader.read("sink", kernel.sink);
  reader.read("sink_in_lse", kernel.sinkInLse);
  reader.readEnum("lse", kernel.lse, parseLseBase);
  kernel.scoreScale = readScale(reader.object("score_scale"));
  kernel.valueScale = readScale(reader.object("value_scale"));
  kernel.scoreEdit = readEdit(reader.object("score_edit"));
  reader.readList("operands", kernel.operands, readOperand);
  kernel.tile = readTile(reader.object("tile"));
  kernel.main = readEntry(reader.object("main"));
  kernel.combine = readEntry(reader.object("combine"));
  kernel.merge = readEntry(reader.object("merge"));
  kernel.planner = readEntry(reader.object("planner"));
  kernel.check = readEntry(reader.object("check"));
  checkKernel(kernel, reader);
  return kernel;
}

static void checkWriter(const WriterInfo &writer, const Reader &reader) {
  int64_t width = 0;
  auto checkRow = [&](const Operand &operand, Layout layout) {
    if (operand.role != Role::cache || operand.layout != layout || operand.shape.size() != 1 || operand.shape[0] < 1)
      invalid(reader.pathOf("parts"), operand.name, fmt::format("rows, {}", name(layout)));
  };
  for (const Operand &part : writer.parts) {
    checkRow(part, Layout::ragged);
    width += part.shape[0];
  }
  checkRow(writer.cache, Layout::paged);
  if (writer.parts.empty() || width != writer.width() || width % writer.elements)
    invalid(reader.pathOf("parts"), fmt::format("{} wide", width),
            fmt::format("{} wide, as the cache, and a multiple of {}", writer.width(), writer.elements));
  if (!std::isfinite(writer.divisor.constant))
    invalid(reader.pathOf("divisor") + ".constant", fmt::format("{}", writer.divisor.constant), "finite");
  checkEntry(writer.main, reader.pathOf("main"), [&](const std::string &param) { return paramType(writer, param); });
}

static WriterInfo readWriter(const Reader &reader) {
  WriterInfo writer;
  reader.read("name", writer.name);
  reader.readList("parts", writer.parts, readOperand);
  writer.cache = readOperand(reader.object("cache"));
  reader.read("rounded", writer.rounded);
  writer.divisor = readScale(reader.object("divisor"));
  reader.readInteger("elements", writer.elements, 1);
  writer.main = readEntry(reader.object("main"));
  checkWriter(writer, reader);
  return writer;
}

static Json parseJson(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception &error) {
    throw Error(Error::Code::artefactDamaged, "the manifest", "no JSON", "JSON", error.what());
  }
}

Manifest manifestFromJson(std::string_view text) {
  Json json = parseJson(text);
  Reader reader(json, "");
  Manifest manifest;
  reader.readInteger("version", manifest.version, 1);
  if (manifest.version > manifestVersion)
    throw Error(Error::Code::artefactNewer, "the manifest's version", std::to_string(manifest.version),
                fmt::format("at most {}", manifestVersion), "use a newer runtime or recompile with this one");
  reader.read("compiler", manifest.compiler);
  reader.read("source_hash", manifest.sourceHash);
  reader.read("target", manifest.target);
  reader.read("profile", manifest.profile);
  reader.read("ptx_version", manifest.ptxVersion);
  reader.readList("kernels", manifest.kernels, readKernel);
  if (reader.has("writers"))
    reader.readList("writers", manifest.writers, readWriter);
  return manifest;
}

} // namespace mla

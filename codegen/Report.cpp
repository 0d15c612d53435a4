// The resource report.
#include "codegen/Report.h"

#include "passes/PrefillCost.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
namespace json = llvm::json;

namespace mlac {

static std::string place(Location loc) {
  std::string text = "unknown place";
  loc->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file)
      return WalkResult::advance();
    text = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn())).str();
    return WalkResult::interrupt();
  });
  return text;
}

/// The shape of a scheduled kernel, whose values are fragments by now.
static KernelShape scheduledShape(tile::KernelOp kernel) {
  KernelShape shape{};
  shape.compute = kernel.getCompute();
  shape.heads = kernel.getHeads();
  kernel.walk([&](tile::FetchQueryOp op) { shape.query = op.getSource().getType(); });
  kernel.walk([&](tile::MaskScoresOp op) { shape.editInstructions = costOfEdit(op.getEdit()).instructions; });
  kernel.walk([&](tile::CopyOp op) { shape.cache = op.getSource().getType(); });
  kernel.walk([&](tile::WeighOp op) {
    shape.valueColumn = op.getColumn();
    shape.valueWidth = op.getWidth();
  });
  return shape;
}

static std::string nameOfType(Type type) { return std::string(nameOf(elementOf(type))); }

/// What a row is stored as; of a record, its parts.
static std::string nameOfStorage(mlir::mla::BufferType buffer) {
  std::string names;
  for (const mlir::mla::StoredPart &part : mlir::mla::partsOf(buffer.getElementType(), buffer.getWidth()))
    names += (names.empty() ? "" : ", ") + nameOfType(part.element);
  return names;
}

static ScheduledFacts factsOf(tile::KernelOp kernel, tile::ScheduleAttr schedule) {
  KernelShape shape = scheduledShape(kernel);
  ScheduledFacts facts;
  facts.storage = nameOfStorage(shape.cache);
  facts.bytesPerToken = shape.cache.getTokenBytes() + shape.cache.getScaleRowBytes();
  facts.tile = {{"rows", schedule.getRows()},     {"tokens", schedule.getTokens()},
                {"stages", schedule.getStages()}, {"groups", schedule.getGroups()},
                {"token_warps", schedule.getTokenWarps()}, {"row_warps", schedule.getRowWarps()}};
  facts.cost = [=](const Profile &profile) { return costOfTile(shape, schedule, profile); };
  facts.predict = [=](const Profile &profile, const ::mla::KernelInfo &info, const BatchLengths &batch, std::string &problem) {
    return predict(shape, schedule, profile, info, batch, problem);
  };
  return facts;
}

static ScheduledFacts factsOf(tile::KernelOp kernel, tile::PrefillScheduleAttr schedule) {
  PrefillShape shape = prefillShapeOf(kernel);
  std::string key = nameOfType(shape.key.getElementType()), value = nameOfType(shape.value.getElementType());
  ScheduledFacts facts;
  facts.storage = key == value ? key : key + ", " + value;
  facts.bytesPerToken = shape.key.getTokenBytes() + shape.value.getTokenBytes();
  facts.tile = {{"rows", schedule.getRows()},
                {"tokens", schedule.getTokens()},
                {"stages", schedule.getStages()},
                {"row_warps", schedule.getRowWarps()}};
  facts.cost = [=](const Profile &profile) { return costOfPrefillTile(shape, schedule, profile); };
  facts.predict = [=](const Profile &profile, const ::mla::KernelInfo &info, const BatchLengths &batch, std::string &problem) {
    return predict(shape, schedule, profile, info, batch, problem);
  };
  return facts;
}

/// Where stored elements become compute values: products that read another type than the kernel computes in.
static std::vector<std::string> conversionsOf(tile::KernelOp kernel) {
  std::vector<std::string> conversions;
  auto add = [&](Operation *op, tile::SharedType ring) {
    if (ring.getElementType() != kernel.getCompute())
      conversions.push_back((op->getName().getStringRef() + " at " + place(op->getLoc())).str());
  };
  kernel.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op).Case<tile::ScoreOp, tile::WeighOp, tile::ScoreRowsOp, tile::WeighRowsOp>(
        [&](auto product) { add(product, product.getRing().getType()); });
  });
  return conversions;
}

std::vector<ScheduledFacts> collectFacts(ModuleOp module) {
  std::vector<ScheduledFacts> all;
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    if (!kernel.getSchedule() && !kernel.getPrefillSchedule())
      continue;
    ScheduledFacts facts = kernel.isPrefill() ? factsOf(kernel, *kernel.getPrefillSchedule())
                                              : factsOf(kernel, *kernel.getSchedule());
    facts.kernel = kernel.getSymName().str();
    facts.compute = nameOfType(kernel.getCompute());
    kernel.walk([&](tile::AllocOp op) { facts.allocations.push_back({op.getName().str(), op.getType().getBytes()}); });
    kernel.walk([&](tile::MaskScoresOp op) { facts.scores = costOfScores(op); });
    if (kernel.isPrefill())
      facts.scores = prefillShapeOf(kernel).scores;
    facts.conversions = conversionsOf(kernel);
    all.push_back(std::move(facts));
  }
  return all;
}

/// The most KV tiles that a row tile visits; null where they grow with the context.
static json::Value windowTiles(const ::mla::KernelInfo &kernel) {
  if (kernel.window < 0 || !kernel.causal)
    return nullptr;
  int64_t queries = (kernel.tile.rows + kernel.headsPerKv() - 2) / kernel.headsPerKv() +
                    1; // of a row tile that starts within a token
  int64_t tokens = kernel.window + queries;
  return (tokens - 2 + kernel.tile.tokens) / kernel.tile.tokens + 1;
}

/// What is done to a score, and what it costs.
static json::Value describeScores(const ::mla::KernelInfo &kernel, const ScoreCost &cost) {
  json::Array steps(kernel.scoreEdit.steps);
  return json::Object{{"causal", kernel.causal},
                      {"window", kernel.window < 0 ? json::Value(nullptr) : json::Value(kernel.window)},
                      {"most_tiles_visited", windowTiles(kernel)},
                      {"edit", std::move(steps)},
                      {"sink", kernel.sink.empty() ? json::Value(nullptr) : json::Value(kernel.sink)},
                      {"instructions_per_score", cost.instructions},
                      {"special_per_score", cost.special}};
}

static json::Value describeCost(const ScheduledFacts &facts, const Profile &profile) {
  TileCost cost = facts.cost(profile);
  return json::Object{{"cycles_per_tile", int64_t(cost.cycles())}, {"memory", int64_t(cost.memory)},
                      {"matrix", int64_t(cost.matrix)},            {"convert", int64_t(cost.convert)},
                      {"shared", int64_t(cost.shared)},            {"issue", int64_t(cost.issue)},
                      {"bound", cost.bound().str()}};
}

static json::Value describePrediction(const ::mla::KernelInfo &kernel, const ScheduledFacts &facts, const Profile &profile,
                                      const BatchLengths &batch) {
  std::string problem;
  std::optional<Prediction> found = facts.predict(profile, kernel, batch, problem);
  if (!found)
    return json::Object{{"problem", problem}};
  return json::Object{{"requests", int64_t(batch.kvLens.size())},
                      {"microseconds", found->microseconds},
                      {"bound", found->bound},
                      {"memory_floor", found->memoryFloor},
                      {"matrix_floor", found->matrixFloor},
                      {"blocks", found->plan.blocks},
                      {"blocks_per_sm", found->blocksPerSM},
                      {"busiest_tiles", found->plan.busiestTiles},
                      {"busiest_items", found->plan.busiestItems},
                      {"splits", found->plan.splits}};
}

static json::Value describeResources(const ::mla::Entry &entry, const Profile &profile, const Assembled *assembled) {
  json::Object object{{"entry", entry.name}, {"threads", entry.threads}, {"shared_bytes", entry.sharedBytes}};
  if (!assembled)
    return object;
  auto it = assembled->entries.find(entry.name);
  if (it == assembled->entries.end())
    return object;
  const EntryResources &used = it->second;
  int64_t shared = entry.sharedBytes + used.staticShared;
  object["registers"] = used.registers;
  object["spill_bytes"] = used.spillStores + used.spillLoads;
  object["stack_bytes"] = used.stack;
  object["static_shared_bytes"] = used.staticShared;
  int64_t blocks = blocksPerSM(profile, entry.threads, used.registers, shared);
  object["blocks_per_sm"] = blocks;
  object["occupancy"] = double(blocks * entry.threads / 32) / double(profile.warpsPerSM);
  return object;
}

static json::Value describeKernel(const ::mla::KernelInfo &kernel, const ScheduledFacts &facts, const Profile &profile,
                                  const Assembled *assembled, const std::optional<BatchLengths> &batch) {
  json::Array allocations, conversions;
  json::Object tile;
  for (const auto &[name, number] : facts.tile)
    tile[name] = number;
  for (const auto &[name, bytes] : facts.allocations)
    allocations.push_back(json::Object{{"name", name}, {"bytes", bytes}});
  for (const std::string &where : facts.conversions)
    conversions.push_back(where);
  json::Object object{
      {"kernel", kernel.name},
      {"storage", facts.storage},
      {"compute", facts.compute},
      {"bytes_per_cached_token", facts.bytesPerToken},
      {"tile", std::move(tile)},
      {"shared_limit", profile.sharedPerBlock},
      {"allocations", std::move(allocations)},
      {"dequantised_in", std::move(conversions)},
      {"scores", describeScores(kernel, facts.scores)},
      {"main", describeResources(kernel.main, profile, assembled)},
      {"combine", kernel.combine.name.empty() ? json::Value(nullptr) : describeResources(kernel.combine, profile, assembled)},
      {"cost", describeCost(facts, profile)}};
  if (batch)
    object["prediction"] = describePrediction(kernel, facts, profile, *batch);
  return object;
}

static json::Value describeWriter(const ::mla::WriterInfo &writer, const Profile &profile, const Assembled *assembled) {
  int64_t read = 0;
  for (const ::mla::Operand &part : writer.parts)
    read += part.shape[0] * ::mla::bytes(part.dtype);
  return json::Object{{"writer", writer.name},
                      {"storage", std::string(name(writer.cache.dtype))},
                      {"bytes_read_per_row", read},
                      {"bytes_written_per_row", writer.width() * ::mla::bytes(writer.cache.dtype)},
                      {"elements_per_thread", writer.elements},
                      {"main", describeResources(writer.main, profile, assembled)}};
}

std::string writeReport(const ::mla::Manifest &manifest, const std::vector<ScheduledFacts> &facts,
                        const Profile &profile, const Assembled *assembled, const std::optional<BatchLengths> &batch) {
  json::Array kernels;
  for (const ::mla::KernelInfo &kernel : manifest.kernels)
    for (const ScheduledFacts &fact : facts)
      if (fact.kernel == kernel.name)
        kernels.push_back(describeKernel(kernel, fact, profile, assembled, batch));
  json::Array writers;
  for (const ::mla::WriterInfo &writer : manifest.writers)
    writers.push_back(describeWriter(writer, profile, assembled));
  json::Object report{{"target", manifest.target},
                      {"profile", manifest.profile},
                      {"ptx", manifest.ptxVersion},
                      {"ptxas", assembled != nullptr},
                      {"kernels", std::move(kernels)}};
  if (!writers.empty())
    report["writers"] = std::move(writers);
  return llvm::formatv("{0:2}\n", json::Value(std::move(report))).str();
}

} // namespace mlac

// The resource report.
#include "codegen/Report.h"

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
  kernel.walk([&](tile::LoadQueryOp op) { shape.query = op.getSource().getType(); });
  kernel.walk([&](tile::MaskScoresOp op) { shape.editInstructions = costOfEdit(op.getEdit()).instructions; });
  kernel.walk([&](tile::CopyOp op) { shape.cache = op.getSource().getType(); });
  kernel.walk([&](tile::WeighOp op) {
    shape.valueColumn = op.getColumn();
    shape.valueWidth = op.getWidth();
  });
  return shape;
}

std::vector<ScheduledFacts> collectFacts(ModuleOp module) {
  std::vector<ScheduledFacts> all;
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    if (!kernel.getSchedule())
      continue;
    ScheduledFacts facts{
        kernel.getSymName().str(), scheduledShape(kernel), *kernel.getSchedule(), {}, {}, {}};
    kernel.walk([&](tile::AllocOp op) { facts.allocations.push_back({op.getName().str(), op.getType().getBytes()}); });
    kernel.walk([&](tile::MaskScoresOp op) { facts.scores = costOfScores(op); });
    bool converts = facts.shape.cache.getElementType() != facts.shape.compute;
    kernel.walk([&](Operation *op) {
      if (converts && isa<tile::ScoreOp, tile::WeighOp>(op))
        facts.conversions.push_back((op->getName().getStringRef() + " at " + place(op->getLoc())).str());
    });
    all.push_back(std::move(facts));
  }
  return all;
}

/// The most KV tiles that a row tile visits; null where they grow with the context.
static json::Value windowTiles(const ::mla::KernelInfo &kernel) {
  if (kernel.window < 0 || !kernel.causal)
    return nullptr;
  int64_t queries =
      (kernel.tile.rows + kernel.heads - 2) / kernel.heads + 1; // of a row tile that starts within a token
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

static std::string nameOfType(Type type) { return std::string(nameOf(elementOf(type))); }

static json::Value describeCost(const ScheduledFacts &facts, const Profile &profile) {
  TileCost cost = costOfTile(facts.shape, facts.schedule, profile);
  return json::Object{{"cycles_per_tile", int64_t(cost.cycles())}, {"memory", int64_t(cost.memory)},
                      {"matrix", int64_t(cost.matrix)},            {"convert", int64_t(cost.convert)},
                      {"shared", int64_t(cost.shared)},            {"issue", int64_t(cost.issue)},
                      {"bound", cost.bound().str()}};
}

static json::Value describePrediction(const ::mla::KernelInfo &kernel, const ScheduledFacts &facts, const Profile &profile,
                                      const BatchLengths &batch) {
  std::string problem;
  std::optional<Prediction> found = predict(facts.shape, facts.schedule, profile, kernel, batch, problem);
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
  for (const auto &[name, bytes] : facts.allocations)
    allocations.push_back(json::Object{{"name", name}, {"bytes", bytes}});
  for (const std::string &where : facts.conversions)
    conversions.push_back(where);
  json::Object object{{"kernel", kernel.name},
                      {"storage", nameOfType(facts.shape.cache.getElementType())},
                      {"compute", nameOfType(facts.shape.compute)},
                      {"bytes_per_cached_token", facts.shape.cache.getTokenBytes()},
                      {"tile", json::Object{{"rows", facts.schedule.getRows()},
                                            {"tokens", facts.schedule.getTokens()},
                                            {"stages", facts.schedule.getStages()},
                                            {"groups", facts.schedule.getGroups()},
                                            {"token_warps", facts.schedule.getTokenWarps()},
                                            {"row_warps", facts.schedule.getRowWarps()}}},
                      {"shared_limit", profile.sharedPerBlock},
                      {"allocations", std::move(allocations)},
                      {"dequantised_in", std::move(conversions)},
                      {"scores", describeScores(kernel, facts.scores)},
                      {"main", describeResources(kernel.main, profile, assembled)},
                      {"combine", describeResources(kernel.combine, profile, assembled)},
                      {"cost", describeCost(facts, profile)}};
  if (batch)
    object["prediction"] = describePrediction(kernel, facts, profile, *batch);
  return object;
}

std::string writeReport(const ::mla::Manifest &manifest, const std::vector<ScheduledFacts> &facts,
                        const Profile &profile, const Assembled *assembled, const std::optional<BatchLengths> &batch) {
  json::Array kernels;
  for (const ::mla::KernelInfo &kernel : manifest.kernels)
    for (const ScheduledFacts &fact : facts)
      if (fact.kernel == kernel.name)
        kernels.push_back(describeKernel(kernel, fact, profile, assembled, batch));
  json::Object report{{"target", manifest.target},
                      {"profile", manifest.profile},
                      {"ptx", manifest.ptxVersion},
                      {"ptxas", assembled != nullptr},
                      {"kernels", std::move(kernels)}};
  return llvm::formatv("{0:2}\n", json::Value(std::move(report))).str();
}

} // namespace mlac

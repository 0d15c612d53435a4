// Findings from traces: one for each first conversion, with all copies that follow from it.
#include "passes/BufferCastAnalysis.h"

#include "dialect/mla/MLA.h"
#include "passes/BufferCastFlow.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace mlac {

std::optional<double> BufferTraffic::bytesPerCall(int64_t poolTokens) const {
  if (elements)
    return double(read + written);
  if (poolTokens <= 0)
    return std::nullopt;
  return double(readPerToken + writtenPerToken) * double(poolTokens);
}

namespace {

/// How far back a copy looks for the copy that it reads from.
constexpr unsigned kMostStepsBack = 64;

/// Bodies of named structured ops have no place in the source: the op around them stands for them.
Operation *visible(Operation *op) {
  while (isa<UnknownLoc>(op->getLoc()) && op->getParentOp() && !isa<ModuleOp>(op->getParentOp()))
    op = op->getParentOp();
  return op;
}

class Collector : public FlowRecorder {
public:
  explicit Collector(BufferCastSizes &sizes) : sizes(sizes) {}

  void copied(Operation *op, const Trace &before, const Trace &after, Value destination,
              std::optional<int64_t> elements) override;
  void converted(Operation *op, const Trace &after, Type element) override;

  SmallVector<BufferCast> takeCasts(ModuleOp module);
  /// Conversions that no finding is about.
  SmallVector<TileConversion> takeConversions();

private:
  Type readAs(const Trace &before) const;
  std::optional<int64_t> countElements(Value buffer, Value destination, std::optional<int64_t> written);
  int64_t countPerToken(Value buffer, Value destination);
  void addTraffic(BufferTraffic &traffic, Type from, Type to, int64_t perToken,
                  std::optional<int64_t> elements);

  BufferCastSizes &sizes;
  llvm::MapVector<Operation *, BufferCast> casts;
  llvm::MapVector<Operation *, TileConversion> conversions;
  llvm::DenseMap<Operation *, const HopChain *> chains; // of each cast, the longest
  llvm::DenseMap<Operation *, Type> copies;
};

void Collector::converted(Operation *op, const Trace &after, Type element) {
  bool isFirst = !after.cast || after.cast == op;
  conversions.insert({visible(op), TileConversion{visible(op), after.buffer, element, isFirst}});
  const HopChain *before = after.hops ? after.hops->previous : nullptr;
  if (!before || before->hop.kind != BufferHop::Cast)
    return;
  if (auto found = conversions.find(visible(before->hop.op)); found != conversions.end())
    found->second.isDetour = true;
}

/// The type in which the elements were last stored.
Type Collector::readAs(const Trace &before) const {
  unsigned steps = 0;
  for (const HopChain *chain = before.hops; chain && steps < kMostStepsBack; chain = chain->previous, ++steps)
    if (Type stored = copies.lookup(chain->hop.op))
      return stored;
  return before.storage;
}

std::optional<int64_t> Collector::countElements(Value buffer, Value destination,
                                                std::optional<int64_t> written) {
  if (written)
    return written;
  std::optional<int64_t> most = sizes.elements(buffer), room = sizes.elements(destination);
  return most && room ? std::min(most, room) : most ? most : room;
}

int64_t Collector::countPerToken(Value buffer, Value destination) {
  auto shaped = dyn_cast<ShapedType>(destination.getType()), stored = dyn_cast<ShapedType>(buffer.getType());
  bool isFlat = shaped && (!shaped.hasRank() || shaped.getRank() < 2);
  bool isSameShape =
      shaped && stored && shaped.hasRank() && stored.hasRank() && shaped.getRank() == stored.getRank();
  if (isFlat)
    return elementsPerToken(buffer.getType(), sizes.isPaged(buffer));
  return elementsPerToken(destination.getType(), isSameShape && sizes.isPaged(buffer));
}

void Collector::addTraffic(BufferTraffic &traffic, Type from, Type to, int64_t perToken,
                           std::optional<int64_t> elements) {
  bool isFirst = traffic.writtenPerToken == 0;
  if (isFirst) {
    traffic.perToken = perToken;
    traffic.elements = elements;
  }
  traffic.readPerToken += mla::bytesOf(from, perToken);
  traffic.writtenPerToken += mla::bytesOf(to, perToken);
  if (!traffic.elements)
    return;
  traffic.read += mla::bytesOf(from, elements.value_or(*traffic.elements));
  traffic.written += mla::bytesOf(to, elements.value_or(*traffic.elements));
}

void Collector::copied(Operation *op, const Trace &before, const Trace &after, Value destination,
                       std::optional<int64_t> elements) {
  Operation *key = visible(after.cast ? after.cast : op);
  Type element = after.hops->hop.element;
  auto [found, isNew] = casts.insert({key, BufferCast{key, after.buffer, after.storage, element, {}, {}}});
  BufferCast &cast = found->second;
  addTraffic(cast.traffic, readAs(before), element, countPerToken(after.buffer, destination),
             countElements(after.buffer, destination, elements));
  copies[op] = element;
  const HopChain *&longest = chains[key];
  if (isNew || longest->length < after.hops->length)
    longest = after.hops;
}

/// The steps from the buffer on, without the conversion that the finding is about.
SmallVector<BufferHop> listHops(const HopChain *chain, Operation *cast) {
  SmallVector<BufferHop> hops;
  for (; chain; chain = chain->previous)
    if (visible(chain->hop.op) != cast)
      hops.push_back(chain->hop);
  std::reverse(hops.begin(), hops.end());
  return hops;
}

SmallVector<BufferCast> Collector::takeCasts(ModuleOp module) {
  SmallVector<BufferCast> ordered;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto found = casts.find(op);
    if (found == casts.end())
      return;
    ordered.push_back(found->second);
    ordered.back().hops = listHops(chains[op], op);
  });
  return ordered;
}

SmallVector<TileConversion> Collector::takeConversions() {
  SmallVector<TileConversion> kept;
  for (auto &[op, conversion] : conversions)
    if (!casts.contains(op))
      kept.push_back(conversion);
  return kept;
}

/// The first op of each dialect that no rule is about.
SmallVector<Operation *> findUnknown(ModuleOp module) {
  SmallVector<Operation *> first;
  llvm::StringSet<> seen;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    if (!isFollowedDialect(dialect) && seen.insert(dialect).second)
      first.push_back(op);
  });
  return first;
}

} // namespace

BufferCastAnalysis::BufferCastAnalysis(ModuleOp module, int64_t threshold) {
  BufferFlow flow(module, threshold);
  flow.run();
  Collector collector(flow.sizes());
  flow.record(collector);
  conversions = collector.takeConversions();
  found = collector.takeCasts(module);
  for (Value buffer : flow.buffers())
    roots.push_back({buffer, elementsPerToken(buffer.getType(), flow.sizes().isPaged(buffer)),
                     flow.sizes().elements(buffer)});
  unknownOps = findUnknown(module);
  visited = flow.visits();
}

} // namespace mlac

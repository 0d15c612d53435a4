// tile-planner: the entry points beside a kernel that plan its batches and check page tables.
#include "passes/Passes.h"

#include "dialect/tile/Tile.h"
#include "mlir/IR/Builders.h"

namespace mlac {
#define GEN_PASS_DEF_PLANNER
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;
using namespace mlac;

namespace {

constexpr int64_t kPlannerThreads = 256;
constexpr int64_t kCheckThreads = 128;

class PlannerBuilder {
public:
  explicit PlannerBuilder(tile::KernelOp kernel)
      : kernel(kernel), builder(kernel.getContext()), loc(kernel.getLoc()), batch(tile::BatchType::get(kernel.getContext())),
        plan(tile::PlanType::get(kernel.getContext())) {
    builder.setInsertionPointAfter(kernel);
    for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
      if (auto buffer = dyn_cast<mla::BufferType>(type); buffer && buffer.getShape().size() == 1)
        cache = {kernel.getArgName(index), buffer};
  }

  LogicalResult build() {
    if (failed(buildPlanner()))
      return failure();
    return isPaged() ? buildCheck() : success();
  }

private:
  bool isPaged() const { return cache.second.getLayout() == mla::Layout::paged; }

  LogicalResult buildPlanner() {
    // Three 64-bit sums of every thread meet at a time.
    tile::KernelOp entry = buildEntry("_plan", {{"batch", batch}, {"plan", plan}}, 3 * kPlannerThreads * 8);
    if (!entry)
      return failure();
    bool causal = false;
    IntegerAttr window;
    if (auto info = kernel->getAttrOfType<DictionaryAttr>("mlac.info")) {
      window = info.getAs<IntegerAttr>("window");
      if (auto attr = info.getAs<BoolAttr>("causal"))
        causal = attr.getValue();
    }
    tile::ScheduleAttr schedule = *kernel.getSchedule();
    OpBuilder body = OpBuilder::atBlockBegin(&entry.getBody().front());
    tile::PlanBatchOp::create(body, loc, entry.getArgument(0), entry.getArgument(1), schedule.getRows(),
                              schedule.getBlockTokens(), kPlannerThreads, causal, !isPaged(), window);
    tile::ReturnOp::create(body, loc);
    return success();
  }

  LogicalResult buildCheck() {
    tile::KernelOp entry =
        buildEntry("_check", {{cache.first, cache.second}, {"batch", batch}, {"plan", plan}}, kCheckThreads * 4);
    if (!entry)
      return failure();
    OpBuilder body = OpBuilder::atBlockBegin(&entry.getBody().front());
    tile::CheckTableOp::create(body, loc, entry.getArgument(0), entry.getArgument(1), entry.getArgument(2));
    tile::ReturnOp::create(body, loc);
    return success();
  }

  /// An empty entry point of the kernel's name and a suffix; null if the name is taken.
  tile::KernelOp buildEntry(StringRef suffix, ArrayRef<std::pair<StringRef, Type>> arguments, int64_t sharedBytes) {
    std::string name = (kernel.getSymName() + suffix).str();
    if (Operation *taken = SymbolTable::lookupNearestSymbolFrom(kernel->getParentOp(), builder.getStringAttr(name))) {
      (kernel.emitError() << "needs the name '" << name << "' for an entry point of its own; rename the other kernel "
                          << "[planner-name]")
              .attachNote(taken->getLoc())
          << "the other kernel";
      return {};
    }
    SmallVector<Type> types;
    SmallVector<Attribute> attrs;
    for (auto [argument, type] : arguments) {
      types.push_back(type);
      attrs.push_back(builder.getDictionaryAttr(builder.getNamedAttr(mla::kNameAttr, builder.getStringAttr(argument))));
    }
    auto entry = tile::KernelOp::create(builder, loc, builder.getStringAttr(name),
                                        TypeAttr::get(builder.getFunctionType(types, {})), kernel.getComputeAttr(),
                                        kernel.getHeadsAttr(), IntegerAttr(), tile::ScheduleAttr(),
                                        tile::PrefillScheduleAttr(), DictionaryAttr(),
                                        builder.getArrayAttr(attrs), ArrayAttr());
    entry->setAttr("shared_bytes", builder.getI64IntegerAttr(sharedBytes));
    entry.getBody().emplaceBlock().addArguments(types, SmallVector<Location>(types.size(), loc));
    return entry;
  }

  tile::KernelOp kernel;
  OpBuilder builder;
  Location loc;
  Type batch, plan;
  std::pair<StringRef, mla::BufferType> cache;
};

struct Planner : mlac::impl::PlannerBase<Planner> {
  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>())) {
      bool walks = false;
      kernel.walk([&](tile::ItemsOp) { walks = true; });
      bool cached = llvm::any_of(kernel.getArgumentTypes(), [](Type type) {
        auto buffer = dyn_cast<mla::BufferType>(type);
        return buffer && buffer.getShape().size() == 1;
      });
      if (kernel.getSchedule() && walks && cached && failed(PlannerBuilder(kernel).build()))
        signalPassFailure();
    }
  }
};

} // namespace

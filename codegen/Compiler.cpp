// Stages of a compilation.
#include "codegen/Compiler.h"

#include "codegen/Describe.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

using namespace mlir;

namespace mlac {

FailureOr<Compiler> Compiler::create(ModuleOp module, CompilerOptions options) {
  FailureOr<TargetChoice> choice = resolveTarget(module.getLoc(), options.target, options.profile, options.ptx);
  if (failed(choice))
    return failure();
  return Compiler(module, std::move(options), *choice);
}

/// The pipelines' options from the compiler's.
static void fill(PipelineOptions &to, const CompilerOptions &from) {
  to.target = from.target;
  to.profile = from.profile;
  to.ptx = from.ptx;
  to.layers = from.layers;
  to.poolTokens = from.poolTokens;
}

LogicalResult Compiler::run(function_ref<void(OpPassManager &)> build) {
  PassManager manager(module.getContext());
  build(manager);
  if (options.configure && failed(options.configure(manager)))
    return failure();
  return manager.run(module);
}

LogicalResult Compiler::lowerToTiles() {
  return run([&](OpPassManager &manager) {
    PipelineOptions pipeline;
    fill(pipeline, options);
    buildMlaToTile(manager, pipeline);
  });
}

template <typename OptionsT>
static OptionsT listing(const CompilerOptions &options, int64_t count) {
  OptionsT schedule;
  schedule.target = options.target;
  schedule.profile = options.profile;
  schedule.ptx = options.ptx;
  schedule.candidates = count;
  return schedule;
}

FailureOr<std::vector<Ranked>> Compiler::candidates(int64_t count) {
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager manager(module.getContext());
  manager.addPass(createSchedule(listing<ScheduleOptions>(options, count)));
  manager.addPass(createSchedulePrefill(listing<SchedulePrefillOptions>(options, count)));
  if (failed(manager.run(*copy)))
    return failure();
  std::vector<Ranked> all;
  for (auto kernel : copy->getOps<tile::KernelOp>())
    if (auto list = kernel->getAttrOfType<ArrayAttr>("tile.candidates")) {
      kernel->removeAttr("tile.candidates");
      Ranked ranked{kernel.getSymName().str(), tunedKey(kernel, choice, ""), {}};
      for (Attribute schedule : list)
        ranked.schedules.push_back(schedule);
      all.push_back(std::move(ranked));
    }
  return all;
}

void Compiler::tune(Attribute schedule) {
  for (auto kernel : module.getOps<tile::KernelOp>())
    kernel->setAttr("tile.tuned", schedule);
}

LogicalResult Compiler::schedule() {
  if (!options.tunedDevice.empty())
    takeTuned(module, choice, options.tunedDevice, options.tunedDirectory);
  LogicalResult result = run([&](OpPassManager &manager) {
    PipelineOptions pipeline;
    fill(pipeline, options);
    buildScheduleTile(manager, pipeline);
  });
  if (succeeded(result))
    facts = collectFacts(module);
  return result;
}

LogicalResult Compiler::lowerToLLVM() {
  return run([&](OpPassManager &manager) {
    PipelineOptions pipeline;
    fill(pipeline, options);
    buildTileToLLVM(manager, pipeline);
  });
}

FailureOr<std::string> Compiler::llvmText() { return emitLLVM(module, ptxOptions()); }

::mla::Manifest Compiler::manifest() const {
  return describeModule(module, {options.sourceHash, std::string(choice.target.name), std::string(choice.profile.name),
                                 choice.ptx});
}

FailureOr<std::string> Compiler::artefact() {
  FailureOr<std::string> ptx = emitPTX(module, ptxOptions());
  if (failed(ptx))
    return failure();
  return ::mla::writeArtefact(manifest(), *ptx);
}

FailureOr<Assembled> Compiler::assembled() {
  std::optional<Ptxas> ptxas = Ptxas::find();
  if (!ptxas)
    return module.emitError() << "no ptxas on PATH; a cubin needs the CUDA toolkit's, or set MLAC_PTXAS to its path; "
                                 "--emit=ptx needs none [ptxas-missing]",
           failure();
  FailureOr<std::string> ptx = emitPTX(module, ptxOptions());
  if (failed(ptx))
    return failure();
  return assemble(module.getLoc(), *ptxas, *ptx, StringRef(choice.target.name), choice.ptx);
}

FailureOr<std::string> Compiler::cubin() {
  FailureOr<Assembled> result = assembled();
  if (failed(result))
    return failure();
  return result->cubin;
}

FailureOr<std::string> Compiler::report(const std::optional<BatchLengths> &batch) {
  if (!Ptxas::find())
    return writeReport(manifest(), facts, choice.profile, nullptr, batch);
  FailureOr<Assembled> result = assembled();
  if (failed(result))
    return failure();
  return writeReport(manifest(), facts, choice.profile, &*result, batch);
}

FailureOr<Prediction> Compiler::predict(StringRef name, const BatchLengths &batch) {
  ::mla::Manifest described = manifest();
  for (const ScheduledFacts &fact : facts)
    if (fact.kernel == name) {
      std::string problem;
      if (auto found = fact.predict(choice.profile, *described.find(fact.kernel), batch, problem))
        return *found;
      return module.emitError() << problem << " [predict-batch]", failure();
    }
  return failure();
}

FailureOr<std::unique_ptr<HostCode>> Compiler::host(std::span<const HostCode::Symbol> hooks) {
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager manager(module.getContext());
  manager.addPass(createEmulate());
  if (failed(manager.run(*copy)))
    return failure();
  return HostCode::compile(*copy, hooks);
}

} // namespace mlac

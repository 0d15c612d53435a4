// `mlac tune`: the cost model's best schedules, measured.
#include "tools/mlac/Commands.h"
#include "tools/mlac/Compile.h"
#include "tools/mlac/Execute.h"
#include "tools/mlac/MlirSwitches.h"
#include "tools/mlac/Table.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/WithColor.h"

using namespace mlac;

namespace {

/// A schedule on its way to a verdict.
struct Trial {
  std::string schedule;
  std::string artefact;
  Prediction prediction;
  mla::Measurement measured;

  /// What the model is off, relative to what was measured.
  std::optional<double> modelError() const {
    if (!measured.passed || !measured.time)
      return std::nullopt;
    return prediction.microseconds / measured.time->median - 1;
  }
};

struct Tuning {
  std::string kernel, device;
  mla::TunedKey key; // without the device
  std::vector<Trial> trials;
  std::optional<size_t> best;
};

} // namespace

static std::string textOf(mlir::Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

static BatchLengths lengthsOf(const BatchOptions &batch) {
  return {batch.qLens, batch.kvLens, batch.pageSize};
}

/// The program with one schedule, compiled.
static mlir::FailureOr<Trial> compileTrial(mlir::ModuleOp program, const CompilerOptions &options,
                                           llvm::StringRef kernel, mlir::Attribute schedule,
                                           const BatchLengths &batch) {
  mlir::OwningOpRef<mlir::ModuleOp> module = program.clone();
  mlir::FailureOr<Compiler> compiler = Compiler::create(*module, options);
  if (failed(compiler) || failed(compiler->lowerToTiles()))
    return mlir::failure();
  compiler->tune(schedule);
  if (failed(compiler->schedule()) || failed(compiler->lowerToLLVM()))
    return mlir::failure();
  mlir::FailureOr<std::string> artefact = compiler->artefact();
  mlir::FailureOr<Prediction> prediction = compiler->predict(kernel, batch);
  if (failed(artefact) || failed(prediction))
    return mlir::failure();
  return Trial{textOf(schedule), std::move(*artefact), std::move(*prediction), {}};
}

/// The candidates, compiled; the model's best first.
static mlir::LogicalResult compileTrials(mlir::ModuleOp program, const CompilerOptions &compilerOptions,
                                         const TuneOptions &options, Tuning &tuning) {
  mlir::OwningOpRef<mlir::ModuleOp> module = program.clone();
  mlir::FailureOr<Compiler> compiler = Compiler::create(*module, compilerOptions);
  if (failed(compiler) || failed(compiler->lowerToTiles()))
    return mlir::failure();
  mlir::FailureOr<std::vector<Ranked>> ranked = compiler->candidates(options.candidates);
  if (failed(ranked))
    return mlir::failure();
  for (const Ranked &kernel : *ranked) {
    tuning.key = kernel.key;
    for (mlir::Attribute schedule : kernel.schedules) {
      mlir::FailureOr<Trial> trial =
          compileTrial(program, compilerOptions, tuning.kernel, schedule, lengthsOf(options.batch));
      if (failed(trial))
        return mlir::failure();
      tuning.trials.push_back(std::move(*trial));
    }
  }
  if (tuning.trials.empty())
    return mlir::emitError(program.getLoc()) << tuning.kernel << " has no schedules to choose among";
  return mlir::success();
}

static bool measure(Tuning &tuning, const TuneOptions &options) {
  std::vector<std::string> artefacts;
  for (const Trial &trial : tuning.trials)
    artefacts.push_back(trial.artefact);
  std::optional<std::vector<mla::Measurement>> all = measureOnDevice(artefacts, tuning.kernel, options);
  if (!all)
    return false;
  for (size_t i = 0; i < all->size(); ++i)
    tuning.trials[i].measured = (*all)[i];
  tuning.best = mla::fastest(*all);
  return true;
}

//===-- Output --===//

static std::string microseconds(double value) { return llvm::formatv("{0:F1}", value).str(); }

static std::string percent(std::optional<double> share) {
  return share ? llvm::formatv("{0}{1:F0} %", *share < 0 ? "" : "+", *share * 100).str() : "-";
}

/// Mean of the model's errors' sizes; empty without one.
static std::optional<double> meanError(const Tuning &tuning) {
  double sum = 0, count = 0;
  for (const Trial &trial : tuning.trials)
    if (std::optional<double> error = trial.modelError())
      sum += std::abs(*error), ++count;
  return count ? std::optional<double>(sum / count) : std::nullopt;
}

static void printText(const Tuning &tuning, bool dryRun) {
  Table table{{"schedule", "bound", "predicted us"}};
  if (!dryRun)
    table.header.insert(table.header.end(), {"measured us", "min-max", "model off by", ""});
  for (const auto &[index, trial] : llvm::enumerate(tuning.trials)) {
    std::vector<std::string> row{trial.schedule, trial.prediction.bound,
                                 microseconds(trial.prediction.microseconds)};
    if (const std::optional<mla::Timing> &time = trial.measured.time; !dryRun)
      row.insert(row.end(), {time ? microseconds(time->median) : "-",
                             time ? microseconds(time->min) + "-" + microseconds(time->max) : "-",
                             percent(trial.modelError()),
                             tuning.best == index             ? "fastest"
                             : trial.measured.problem.empty() ? ""
                                                              : "does not count"});
    table.rows.push_back(std::move(row));
  }
  llvm::outs() << tuning.kernel << ", " << tuning.key.target << ", profile " << tuning.key.profile
               << (dryRun ? "" : ", on " + tuning.device) << ": " << tuning.trials.size()
               << " schedules, the model's best first\n";
  table.print(llvm::outs());
  for (const Trial &trial : tuning.trials)
    if (!trial.measured.problem.empty())
      llvm::outs() << trial.schedule << " does not count: " << trial.measured.problem << '\n';
  if (std::optional<double> mean = meanError(tuning))
    llvm::outs() << "the model is off by " << llvm::formatv("{0:F0}", *mean * 100) << " % on average\n";
}

static llvm::json::Value toJson(const Trial &trial) {
  llvm::json::Object object{{"schedule", trial.schedule},
                            {"bound", trial.prediction.bound},
                            {"predicted", trial.prediction.microseconds},
                            {"passed", trial.measured.passed}};
  if (const std::optional<mla::Timing> &time = trial.measured.time) {
    object["microseconds"] = time->median;
    object["min"] = time->min;
    object["max"] = time->max;
  }
  if (!trial.measured.problem.empty())
    object["problem"] = trial.measured.problem;
  return object;
}

static void printJson(const Tuning &tuning) {
  llvm::json::Array trials;
  for (const Trial &trial : tuning.trials)
    trials.push_back(toJson(trial));
  llvm::json::Object object{{"kernel", tuning.kernel},       {"target", tuning.key.target},
                            {"profile", tuning.key.profile}, {"device", tuning.device},
                            {"form", tuning.key.form},       {"trials", std::move(trials)}};
  if (tuning.best)
    object["fastest"] = int64_t(*tuning.best);
  llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object)));
}

//===-- The command --===//

static std::string describe(const BatchOptions &batch) {
  auto [least, most] = std::minmax_element(batch.kvLens.begin(), batch.kvLens.end());
  return llvm::formatv("{0} requests of {1} to {2} cached tokens, pages of {3}", batch.kvLens.size(), *least,
                       *most, batch.pageSize);
}

static int save(const Tuning &tuning, const TuneOptions &options) {
  const Trial &best = tuning.trials[*tuning.best];
  mla::TunedKey key = tuning.key;
  key.device = tuning.device;
  mla::TunedStore store;
  std::string problem;
  if (!store.save({key, best.schedule, best.measured.time->median, best.prediction.microseconds,
                   tuning.kernel, describe(options.batch), "mlac " MLAC_VERSION},
                  problem)) {
    llvm::WithColor::error() << "the fastest schedule cannot be stored: " << problem << '\n';
    return 1;
  }
  if (!options.json)
    llvm::outs() << "stored in " << store.directory().string() << "; compile and run with --tuned '"
                 << key.device << "'\n";
  return 0;
}

static int finish(const Tuning &tuning, const TuneOptions &options) {
  options.json ? printJson(tuning) : printText(tuning, options.dryRun);
  if (options.dryRun)
    return 0;
  if (!tuning.best) {
    llvm::outs().flush();
    llvm::WithColor::error() << "no schedule ran with the right values\n";
    return 1;
  }
  return options.save ? save(tuning, options) : 0;
}

/// Something that tells time, if anything is to be measured.
static bool canMeasure(const TuneOptions &options, std::string &device) {
  if (options.dryRun)
    return true;
  std::string problem;
  if (options.device == "emulator")
    problem = "the emulator has no time to measure";
  else if (std::optional<std::string> present = presentDevice(problem))
    return device = *present, true;
  else
    problem = "no CUDA device to measure on, `mlac doctor` says why";
  llvm::WithColor::error()
      << problem << ": tune on a machine with a CUDA device, or list what would be measured with --dry-run\n";
  return false;
}

int mlac::runTune(const TuneOptions &options) {
  Tuning tuning;
  if (!canMeasure(options, tuning.device))
    return 1;
  if (!applyMlirSwitches({}))
    return kUsageError;
  Session session;
  std::optional<LoadedKernel> kernel = loadKernel(session, options.source, options.kernel);
  if (!kernel)
    return 1;
  tuning.kernel = kernel->name;
  if (failed(compileTrials(*kernel->module, compilerOptions(session, options.target, {}), options, tuning)))
    return 1;
  if (!options.dryRun && !measure(tuning, options))
    return 1;
  return finish(tuning, options);
}

// The command line, with CLI11.
#include "tools/mlac/CommandLine.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <climits>

using namespace mlac;

static constexpr const char *kExamples = R"(Examples:
  mlac check kernel.mla
  mlac compile kernel.mla -D heads=16 --target sm_120 -o kernel.ptx
  mlac compile kernel.mla --emit=mla
  mlac run kernel.mla --kv-len 1000,37 --q-len 1,1 --page 64
  mlac tune kernel.mla --kv-len 8192 --batch 64 --target sm_90 --save
  mlac audit kernel.mla model.mlir --layers 78 --pool-tokens 495000

compile hands --mlir-... switches on to MLIR: --mlir-print-ir-after-all, --mlir-timing, --mlir-print-debuginfo.
)";

static const std::map<std::string, Level> kLevels = {
    {"mla", Level::Mla}, {"tile", Level::Tile},   {"nvvm", Level::Nvvm},    {"llvm", Level::Llvm},
    {"ptx", Level::Ptx}, {"cubin", Level::Cubin}, {"report", Level::Report}};

/// Checks `NAME=INTEGER` and adds it to `defines`; an empty string if it is well formed.
static std::string addDefine(const std::string &text, std::map<std::string, int64_t> &defines) {
  size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    return "'" + text + "' is not NAME=INTEGER";
  const char *end = text.data() + text.size();
  int64_t value;
  auto [rest, error] = std::from_chars(text.data() + equals + 1, end, value);
  if (error != std::errc() || rest != end)
    return "'" + text.substr(equals + 1) + "' is not a 64-bit integer";
  defines[text.substr(0, equals)] = value;
  return "";
}

/// One value each, so that `-D heads=16 kernel.mla` does not take the file for a second one.
static void addDefines(CLI::App &app, std::map<std::string, int64_t> &defines) {
  app.add_option_function<std::vector<std::string>>(
         "-D",
         [&defines](const std::vector<std::string> &texts) {
           for (const std::string &text : texts)
             if (std::string problem = addDefine(text, defines); !problem.empty())
               throw CLI::ValidationError("-D", problem);
         },
         "gives a constant of the program another value")
      ->type_name("NAME=INTEGER")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

static void addSource(CLI::App &app, SourceOptions &options) {
  app.add_option("FILE", options.file, "the program; - is standard input")->required()->type_name("");
  addDefines(app, options.defines);
}

static void addDeployment(CLI::App &app, DeploymentOptions &options, const std::string &purpose) {
  app.add_option("--layers", options.layers, "layers of the model, for " + purpose)
      ->check(CLI::Range(int64_t(1), int64_t(1) << 20))
      ->type_name("N");
  app.add_option("--pool-tokens", options.poolTokens, "tokens of the cache, for the same")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40))
      ->type_name("N");
}

static void addTarget(CLI::App &app, TargetNames &options) {
  app.add_option("--target", options.target, "instruction target")->capture_default_str();
  app.add_option("--profile", options.profile, "card whose limits hold; the target's own if not given");
  app.add_option("--ptx", options.ptx, "PTX version, such as 8.7; the lowest of the target if not given");
}

static void addTuned(CLI::App &app, std::string &device) {
  app.add_option("--tuned", device,
                 "take the schedules that `mlac tune --save` stored for this device, by the driver's name; here is the "
                 "CUDA device of this machine")
      ->type_name("DEVICE");
}

/// `purpose` is empty where the lengths are needed.
static void addBatch(CLI::App &app, BatchOptions &options, const std::string &purpose) {
  CLI::Range length(0, INT_MAX), count(1, INT_MAX);
  CLI::Option *kvLens =
      app.add_option("--kv-len", options.kvLens, "cached tokens of each request, as 1000,37" + purpose)
          ->delimiter(',')
          ->allow_extra_args(false)
          ->check(length)
          ->type_name("N,...");
  kvLens->required(purpose.empty());
  CLI::Option *rest[] = {
      app.add_option("--q-len", options.qLens, "query tokens of each request; 1 if not given")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->check(length)
          ->type_name("N,..."),
      app.add_option("--batch", options.batch, "repeats the requests' lengths")
          ->check(count)
          ->type_name("N")
          ->capture_default_str(),
      app.add_option("--page", options.pageSize, "tokens of a page")
          ->check(count)
          ->type_name("N")
          ->capture_default_str()};
  for (CLI::Option *option : rest)
    option->needs(kvLens);
}

static CLI::App *addCheck(CLI::App &app, Command &command) {
  CLI::App *check = app.add_subcommand("check", "checks a program and prints what is wrong with it");
  addSource(*check, command.check);
  return check;
}

static CLI::App *addCompile(CLI::App &app, Command &command) {
  CompileOptions &options = command.compile;
  CLI::App *compile = app.add_subcommand("compile", "compiles a program");
  addSource(*compile, options.source);
  addTarget(*compile, options.target);
  compile->allow_extras();
  compile
      ->add_option_function<std::string>(
          "--emit", [&options](const std::string &name) { options.emit = kLevels.at(name); },
          "what to print: mla, tile, nvvm, llvm, ptx, cubin or report")
      ->check(CLI::IsMember(kLevels).description(""))
      ->type_name("LEVEL")
      ->default_str("ptx");
  compile->add_option("-o,--output", options.output, "where to print; - is standard output")
      ->capture_default_str();
  compile->add_option("--kernel", options.kernel, "only the kernel of this name");
  addTuned(*compile, options.tuned);
  addBatch(*compile, options.batch, ", for a prediction in the report");
  compile->add_flag("--remarks", options.remarks, "say which schedule was chosen and why");
  addDeployment(*compile, options.deployment, "messages about its cost");
  return compile;
}

static CLI::App *addRun(CLI::App &app, Command &command) {
  RunOptions &options = command.run;
  CLI::App *run =
      app.add_subcommand("run", "runs a program on random operands and compares with a reference");
  addSource(*run, options.source);
  addTarget(*run, options.target);
  CLI::Range count(1, INT_MAX);
  addBatch(*run, options.batch, "");
  addTuned(*run, options.tuned);
  run->add_option("--seed", options.seed, "seed of the random operands")->capture_default_str();
  run->add_flag("--packed", options.packed, "lay rows and pages out without gaps, for measuring");
  run->add_option("--check-every", options.checkEvery,
                  "compare every N-th query token of a request, the last one always; the reference is slow")
      ->check(count)
      ->type_name("N")
      ->capture_default_str();
  run->add_option("--repeat", options.repeat,
                  "readings of the time, each of several launches; on the emulator, launches")
      ->check(count)
      ->type_name("N")
      ->capture_default_str();
  run->add_option(
         "--rotate", options.rotate,
         "bytes that repeated launches read, from copies of the cache, before they come back to the first; "
         "300,000,000 where time is measured, 0 for no copies")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 40))
      ->type_name("BYTES");
  run->add_flag("!--no-overlap", options.overlap, "the combine waits for the whole main kernel, for measuring");
  run->add_option("--device", options.device, "emulator or cuda")
      ->check(CLI::IsMember({"emulator", "cuda"}).description(""))
      ->type_name("DEVICE")
      ->capture_default_str();
  run->add_option("--kernel", options.kernel, "the kernel to run, of several");
  run->add_option("--tolerance", options.tolerance,
                  "allowed relative error of a row; 4e-3 for f16 and 1.2e-2 for bf16 arithmetic if not given")
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("ERROR");
  run->add_flag("--json", options.json, "prints the result as JSON");
  return run;
}

static CLI::App *addTune(CLI::App &app, Command &command) {
  TuneOptions &options = command.tune;
  CLI::App *tune = app.add_subcommand("tune", "measures a kernel's schedules on the device and keeps the fastest");
  addSource(*tune, options.source);
  addTarget(*tune, options.target);
  addBatch(*tune, options.batch, "");
  CLI::Range count(1, INT_MAX);
  tune->add_option("--candidates", options.candidates, "schedules to measure, the cost model's best")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  tune->add_option("--repeat", options.repeat, "readings of each one's time")
      ->check(CLI::Range(2, INT_MAX))
      ->type_name("N")
      ->capture_default_str();
  tune->add_option("--seed", options.seed, "seed of the random operands")->capture_default_str();
  tune->add_option("--device", options.device, "cuda; the emulator has no time")
      ->check(CLI::IsMember({"emulator", "cuda"}).description(""))
      ->type_name("DEVICE")
      ->capture_default_str();
  tune->add_option("--kernel", options.kernel, "the kernel to tune, of several");
  CLI::Option *dryRun = tune->add_flag("--dry-run", options.dryRun, "list the candidates and measure none");
  tune->add_flag("--save", options.save, "store the fastest for --tuned")->excludes(dryRun);
  tune->add_flag("--json", options.json, "prints the result as JSON");
  return tune;
}

static const std::map<std::string, AuditFormat> kAuditFormats = {
    {"text", AuditFormat::Text}, {"json", AuditFormat::Json}, {"sarif", AuditFormat::Sarif}};

static CLI::App *addAudit(CLI::App &app, Command &command) {
  AuditOptions &options = command.audit;
  CLI::App *audit = app.add_subcommand(
      "audit", "lists what kernels store and where they convert it; finds whole-buffer casts");
  audit->add_option("FILE", options.files, "programs (.mla) and MLIR modules (.mlir)")->type_name("");
  addDefines(*audit, options.defines);
  addDeployment(*audit, options.deployment, "bytes and milliseconds a step");
  audit->add_option("--bandwidth", options.bandwidth, "bytes a second of the card's memory")
      ->check(CLI::Range(1.0, 1e18))
      ->type_name("B")
      ->capture_default_str();
  audit->add_option("--threshold", options.threshold, "bytes from which a memref or tensor is a buffer")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 50))
      ->type_name("N")
      ->capture_default_str();
  audit
      ->add_option_function<std::string>(
          "--format", [&options](const std::string &name) { options.format = kAuditFormats.at(name); },
          "text, json or sarif")
      ->check(CLI::IsMember(kAuditFormats).description(""))
      ->type_name("FORMAT")
      ->default_str("text");
  audit->add_option("--trace", options.trace, "a trace of plan() and run() calls (MLAC_TRACE), to be checked")
      ->type_name("LOG");
  return audit;
}

static CLI::App *addCache(CLI::App &app, Command &command) {
  CLI::App *cache =
      app.add_subcommand("cache", "lists, checks or removes the compiled programs that were kept");
  cache->require_subcommand(1);
  auto add = [&](const char *name, const char *what, CacheAction action) {
    CLI::App *sub = cache->add_subcommand(name, what);
    sub->add_option("--dir", command.cache.directory, "another directory than the default one")
        ->type_name("DIR");
    sub->callback([&command, action] { command.cache.action = action; });
  };
  add("list", "lists the entries", CacheAction::List);
  add("clear", "removes all entries", CacheAction::Clear);
  add("verify", "compares entries with their checksums; the exit status is 1 if one is damaged",
      CacheAction::Verify);
  return cache;
}

static CLI::App *addDoctor(CLI::App &app, Command &command) {
  CLI::App *doctor = app.add_subcommand(
      "doctor", "says what device, driver, toolkit, cache and targets are there and what follows");
  doctor->add_flag("--json", command.doctor.json, "prints it as JSON");
  return doctor;
}

static void completeAudit(const AuditOptions &options) {
  if (options.files.empty() && options.trace.empty())
    throw CLI::RequiredError("FILE or --trace");
}

static std::vector<int32_t> repeated(const std::vector<int32_t> &lengths, int times) {
  std::vector<int32_t> all;
  for (int i = 0; i < times; ++i)
    all.insert(all.end(), lengths.begin(), lengths.end());
  return all;
}

/// Requests without a query length have one query token.
static void completeBatch(BatchOptions &options) {
  if (options.qLens.empty())
    options.qLens.assign(options.kvLens.size(), 1);
  if (options.qLens.size() != options.kvLens.size())
    throw CLI::ValidationError("--q-len", "as many lengths as --kv-len has");
  constexpr int64_t mostRequests = 1 << 20;
  if (static_cast<int64_t>(options.kvLens.size()) * options.batch > mostRequests)
    throw CLI::ValidationError("--batch", std::to_string(options.batch) + " times " +
                                              std::to_string(options.kvLens.size()) + " requests are more than " +
                                              std::to_string(mostRequests));
  options.kvLens = repeated(options.kvLens, options.batch);
  options.qLens = repeated(options.qLens, options.batch);
}

/// MLIR's own switches are handed on; anything else that is left over is an error.
static void completeCompile(const CLI::App &app, CompileOptions &options) {
  options.mlirSwitches = app.remaining();
  completeBatch(options.batch);
  if (!options.batch.kvLens.empty() && options.emit != Level::Report)
    throw CLI::ValidationError("--kv-len", "lengths are for the prediction of --emit=report");
  for (const std::string &text : options.mlirSwitches)
    if (text.rfind("--mlir-", 0) != 0)
      throw CLI::ExtrasError(app.get_name(), {text});
}

std::variant<Command, int> mlac::parseCommandLine(int argc, char **argv) {
  CLI::App app("Compiler for multi-head latent attention kernels", "mlac");
  app.set_version_flag("--version", "mlac " MLAC_VERSION);
  app.require_subcommand(1);
  app.footer(kExamples);
  Command command{};
  CLI::App *check = addCheck(app, command);
  CLI::App *compile = addCompile(app, command);
  CLI::App *run = addRun(app, command);
  CLI::App *tune = addTune(app, command);
  CLI::App *audit = addAudit(app, command);
  CLI::App *cache = addCache(app, command);
  addDoctor(app, command);
  try {
    app.parse(argc, argv);
    if (compile->parsed())
      completeCompile(*compile, command.compile);
    if (run->parsed())
      completeBatch(command.run.batch);
    if (tune->parsed())
      completeBatch(command.tune.batch);
    if (audit->parsed())
      completeAudit(command.audit);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  command.kind = check->parsed()     ? Command::Check
                 : compile->parsed() ? Command::Compile
                 : run->parsed()     ? Command::Run
                 : tune->parsed()    ? Command::Tune
                 : audit->parsed()   ? Command::Audit
                 : cache->parsed()   ? Command::Cache
                                     : Command::Doctor;
  return command;
}

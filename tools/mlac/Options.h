// What the command line asks for, as plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mlac {

/// Exit status of a command line that makes no sense; that of a program that does not compile is 1.
inline constexpr int kUsageError = 2;

/// What `compile` can print, from the source towards the machine.
enum class Level { Mla, Tile, Nvvm, Llvm, Ptx, Cubin, Report };

/// A source file and its constants.
struct SourceOptions {
  std::string file; // `-` is standard input
  std::map<std::string, int64_t> defines;
};

struct TargetNames {
  std::string target = "sm_120";
  std::string profile; // empty: the target's own
  std::string ptx;     // empty: the lowest version that the target takes
};

/// Sizes of a deployment, for messages that say what a mistake costs.
struct DeploymentOptions {
  int64_t layers = 0;     // 0: not given
  int64_t poolTokens = 0; // 0: not given
};

/// A batch of requests.
struct BatchOptions {
  std::vector<int32_t> kvLens;
  std::vector<int32_t> qLens; // one a request
  int batch = 1;              // times that the lengths stand for
  int32_t pageSize = 64;
};

struct CompileOptions {
  SourceOptions source;
  TargetNames target;
  DeploymentOptions deployment;
  Level emit = Level::Ptx;
  std::string kernel; // empty: all
  std::string output = "-";
  std::string tuned;                     // device whose tuned schedules are taken; `here`, or empty for none
  BatchOptions batch;                    // for the report's prediction; no lengths: none
  bool remarks = false;                  // say what the compiler chose and why
  std::vector<std::string> mlirSwitches; // such as --mlir-timing
};

struct RunOptions {
  SourceOptions source;
  TargetNames target;
  std::string kernel; // empty: the only one
  std::string tuned;  // as in CompileOptions
  BatchOptions batch;
  uint64_t seed = 0;
  bool packed = false; // no gaps between rows and pages
  int checkEvery = 1;  // query tokens compared, one of that many
  int repeat = 1;
  std::optional<int64_t> rotate; // bytes; if not given, beyond L2 where time is measured
  bool overlap = true; // the combine may begin before the main kernel's end
  std::string device = "emulator"; // or cuda
  std::optional<double> tolerance; // of a row's relative error; if not given, what the compute type allows
  bool json = false;
};

struct TuneOptions {
  SourceOptions source;
  TargetNames target;
  std::string kernel; // empty: the only one
  BatchOptions batch;
  int64_t candidates = 8;
  int repeat = 21;
  uint64_t seed = 0;
  std::string device = "cuda"; // or emulator, which is refused
  bool dryRun = false;         // list the candidates and measure none
  bool save = false;
  bool json = false;
};

/// How `audit` prints.
enum class AuditFormat { Text, Json, Sarif };

struct AuditOptions {
  std::vector<std::string> files; // .mla and .mlir
  std::map<std::string, int64_t> defines;
  DeploymentOptions deployment;
  double bandwidth = 1.79e12;       // bytes a second: that of the RTX PRO 6000
  int64_t threshold = 1 << 20;      // bytes from which a memref or tensor is a buffer
  AuditFormat format = AuditFormat::Text;
  std::string trace; // a log of calls; empty: none
};

enum class CacheAction { List, Clear, Verify };

struct CacheOptions {
  CacheAction action = CacheAction::List;
  std::string directory; // empty: the default one
};

struct DoctorOptions {
  bool json = false;
};

/// The one subcommand that was asked for.
struct Command {
  enum Kind { Check, Compile, Run, Tune, Audit, Cache, Doctor };

  Kind kind;
  SourceOptions check;
  CompileOptions compile;
  RunOptions run;
  TuneOptions tune;
  AuditOptions audit;
  CacheOptions cache;
  DoctorOptions doctor;
};

} // namespace mlac

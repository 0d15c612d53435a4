// Running ptxas and reading what it says.
#include "codegen/Ptxas.h"

#include "codegen/Target.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace mlac {

namespace {

/// A file that goes when its owner goes.
struct TemporaryFile {
  llvm::SmallString<128> path;
  llvm::FileRemover remover;

  explicit TemporaryFile(StringRef suffix) {
    if (!llvm::sys::fs::createTemporaryFile("mlac", suffix, path))
      remover.setFile(path);
  }
};

struct Outcome {
  int status;
  std::string text;
};

} // namespace

static std::string contents(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// Runs a program with its output in one text.
static Outcome runProgram(StringRef program, ArrayRef<StringRef> arguments) {
  TemporaryFile log("log");
  std::optional<StringRef> redirects[] = {StringRef(), log.path.str(), log.path.str()};
  std::string error;
  int status = llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, redirects, 600, 0, &error);
  return {status, contents(log.path) + error};
}

int parsePtxasRelease(StringRef text) {
  SmallVector<StringRef> match;
  unsigned major = 0, minor = 0;
  if (!llvm::Regex("release ([0-9]+)\\.([0-9]+)").match(text, &match) || match[1].getAsInteger(10, major) ||
      match[2].getAsInteger(10, minor))
    return 0;
  return int(10 * major + minor);
}

int ptxForRelease(int release) { return ptxForDriver(release / 10 * 1000 + release % 10 * 10); }

std::optional<Ptxas> Ptxas::find() {
  std::string path;
  if (const char *named = std::getenv("MLAC_PTXAS"))
    path = named;
  else if (auto found = llvm::sys::findProgramByName("ptxas"))
    path = *found;
  if (path.empty())
    return std::nullopt;
  Outcome version = runProgram(path, {path, "--version"});
  int release = parsePtxasRelease(version.text);
  if (version.status != 0 || !release)
    return std::nullopt;
  return Ptxas{path, release};
}

std::map<std::string, EntryResources> parseResourceText(StringRef text) {
  std::map<std::string, EntryResources> entries;
  EntryResources *current = nullptr;
  auto number = [](StringRef line, const char *pattern) -> int64_t {
    SmallVector<StringRef> match;
    int64_t value = 0;
    if (llvm::Regex(pattern).match(line, &match))
      match[1].getAsInteger(10, value);
    return value;
  };
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    SmallVector<StringRef> match;
    if (llvm::Regex("Compiling entry function '([^']+)'").match(line, &match))
      current = &entries[match[1].str()];
    if (!current)
      continue;
    if (line.contains("bytes stack frame")) {
      current->stack = number(line, "([0-9]+) bytes stack frame");
      current->spillStores = number(line, "([0-9]+) bytes spill stores");
      current->spillLoads = number(line, "([0-9]+) bytes spill loads");
    }
    if (line.contains("Used ")) {
      current->registers = int(number(line, "Used ([0-9]+) registers"));
      current->staticShared = number(line, "([0-9]+) bytes smem");
    }
  }
  return entries;
}

/// A ptxas that is older than the PTX refuses it in words of its own; these say what to do.
static LogicalResult checkRelease(Location loc, const Ptxas &ptxas, StringRef target, int ptx) {
  int highest = ptxForRelease(ptxas.release);
  if (ptx <= highest)
    return success();
  std::optional<Target> known = Target::find({target.data(), target.size()});
  bool lowers = known && known->minPtx <= highest;
  InFlightDiagnostic error = emitError(loc) << "ptxas of CUDA " << ptxas.release / 10 << "." << ptxas.release % 10
                                            << " takes PTX up to " << formatPtxVersion(highest) << "; ";
  if (lowers)
    return error << "this is PTX " << formatPtxVersion(ptx) << ": choose a lower --ptx [ptxas-release]";
  int least = known ? known->minPtx : ptx, driver = driverForPtx(least);
  return error << target << " needs " << formatPtxVersion(least) << ", from CUDA " << driver / 1000 << "."
               << driver % 1000 / 10 << " [ptxas-release]";
}

FailureOr<Assembled> assemble(Location loc, const Ptxas &ptxas, StringRef text, StringRef target, int ptx) {
  if (failed(checkRelease(loc, ptxas, target, ptx)))
    return failure();
  TemporaryFile source("ptx"), cubin("cubin");
  std::error_code error;
  llvm::raw_fd_ostream stream(source.path, error);
  if (error)
    return emitError(loc) << "cannot write " << source.path << ": " << error.message(), failure();
  stream << text;
  stream.close();
  std::string arch = ("-arch=" + target).str();
  Outcome outcome = runProgram(ptxas.path, {ptxas.path, arch, "-v", source.path, "-o", cubin.path});
  if (outcome.status != 0)
    return emitError(loc) << "ptxas refuses the PTX: " << StringRef(outcome.text).trim() << " [ptxas-refused]",
           failure();
  return Assembled{contents(cubin.path), parseResourceText(outcome.text)};
}

} // namespace mlac

// The mlac command.
#include "tools/mlac/CommandLine.h"
#include "tools/mlac/Commands.h"

using namespace mlac;

static int runCommand(const Command &command) {
  switch (command.kind) {
  case Command::Check:
    return runCheck(command.check);
  case Command::Compile:
    return runCompile(command.compile);
  case Command::Run:
    return runRun(command.run);
  case Command::Tune:
    return runTune(command.tune);
  case Command::Audit:
    return runAudit(command.audit);
  case Command::Cache:
    return runCache(command.cache);
  case Command::Doctor:
    return runDoctor(command.doctor);
  }
  return kUsageError;
}

int main(int argc, char **argv) {
  std::variant<Command, int> parsed = parseCommandLine(argc, argv);
  if (const int *status = std::get_if<int>(&parsed))
    return *status;
  return runCommand(std::get<Command>(parsed));
}

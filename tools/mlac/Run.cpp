// `mlac run`: a program on a device, from random operands to a verdict.
#include "tools/mlac/Commands.h"
#include "tools/mlac/Session.h"
#include "llvm/Support/WithColor.h"

int mlac::runRun(const RunOptions &options) {
  Session session;
  if (!session.load(options.source))
    return 1;
  llvm::WithColor::error() << "device '" << options.device << "' is not part of this build\n";
  return 1;
}

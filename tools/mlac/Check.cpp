// `mlac check`: the frontend alone.
#include "tools/mlac/Commands.h"
#include "tools/mlac/Session.h"

int mlac::runCheck(const SourceOptions &options) {
  Session session;
  return session.load(options) ? 0 : 1;
}

// The subcommands. Each prints its own errors and returns the exit status.
#pragma once

#include "tools/mlac/Options.h"

namespace mlac {

int runCheck(const SourceOptions &options);
int runCompile(const CompileOptions &options);
int runRun(const RunOptions &options);
int runTune(const TuneOptions &options);
int runAudit(const AuditOptions &options);
int runCache(const CacheOptions &options);
int runDoctor(const DoctorOptions &options);

} // namespace mlac

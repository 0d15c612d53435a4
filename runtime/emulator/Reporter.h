//===- Reporter.h - Where checks report to ----------------------*- C++ -*-===//
#ifndef MLAC_RUNTIME_EMULATOR_REPORTER_H
#define MLAC_RUNTIME_EMULATOR_REPORTER_H

#include <string>
#include <utility>

namespace mla::emulator {

/// Ends the launch. Does not return and does not throw: the caller's frames are abandoned.
class Reporter {
public:
  [[noreturn]] void fail(const char *site, std::string what) {
    report(site, std::move(what));
    __builtin_unreachable();
  }

protected:
  virtual void report(const char *site, std::string what) = 0;
  ~Reporter() = default;
};

} // namespace mla::emulator

#endif // MLAC_RUNTIME_EMULATOR_REPORTER_H

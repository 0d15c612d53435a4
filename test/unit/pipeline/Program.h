// A program compiled in memory, for tests of the whole pipeline. Free of MLIR, so that tests may use
// exceptions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mlac::test {

struct TargetNames {
  std::string target = "sm_120";
  std::string profile; ///< empty: the target's own
};

class Program {
public:
  using Entry = void (*)(void **params);

  /// Null after errors; `messages` holds what the compiler says.
  static std::unique_ptr<Program> compile(const std::string &text, const TargetNames &target,
                                          std::string &messages);
  ~Program();

  /// The manifest as JSON.
  const std::string &manifest() const { return manifestText; }
  /// Names and bytes of the shared-memory allocations of all kernels.
  const std::vector<std::pair<std::string, int64_t>> &allocations() const { return allocationList; }
  /// Manifest and PTX.
  std::string artefact() const;
  /// Host code of an entry, for the emulator, compiled when it is first asked for; null if there is none.
  Entry find(const std::string &name);

private:
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  bool lower();

  std::unique_ptr<Impl> impl;
  std::string manifestText;
  std::vector<std::pair<std::string, int64_t>> allocationList;
};

} // namespace mlac::test

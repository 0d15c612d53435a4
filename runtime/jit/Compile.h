// The compiler behind mla::jit. Built without exceptions, as all that faces MLIR: errors come back as text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace mla::jit {

struct CompileRequest {
  std::string source;
  std::map<std::string, int64_t> defines;
  std::string target, profile, ptx;
  std::string sourceHash; ///< for the manifest
  std::string tunedDevice, tunedDirectory; ///< as in CompilerOptions
  bool host = false;      ///< host code for the emulator, too
};

using HostFunction = void (*)(void **params);

struct CompileResult {
  bool ok = false;
  std::string diagnostics; ///< errors and warnings with their excerpts
  std::string artefact;
  /// Host code by entry name; keeps the code alive. Empty unless it was asked for.
  std::function<HostFunction(const std::string &name)> host;
};

CompileResult compileSource(const CompileRequest &request);

} // namespace mla::jit

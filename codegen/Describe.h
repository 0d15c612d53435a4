// The artefact's manifest, read off a lowered module: what later stages need to know travels on the kernels as attributes.
#pragma once

#include "codegen/LLVM.h"
#include "runtime/Manifest.h"

namespace mlac {

/// The names and versions that the manifest records beside the kernels.
struct Provenance {
  std::string sourceHash;
  std::string target, profile;
  int ptx;
};

mla::Manifest describeModule(mlir::ModuleOp module, const Provenance &provenance);

} // namespace mlac

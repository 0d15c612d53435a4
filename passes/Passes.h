// Constructors and registration of all passes; see Passes.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace mlac {
#define GEN_PASS_DECL
#include "passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
} // namespace mlac

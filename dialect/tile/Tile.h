// The tile dialect: how a kernel runs. Types and ops are defined in the .td files beside this header.
#pragma once

#include "dialect/mla/MLA.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::tile {
/// Probabilities times scales of groups are kept 2^8 too large, so that f16 holds those of small scales, too.
inline constexpr int64_t kGroupShift = 8;

/// Results that one merge takes at most; runtime/Abi.h promises the same number to callers.
inline constexpr int64_t kMergeStates = 8;
} // namespace mlir::tile

#include "dialect/tile/TileDialect.h.inc"
#include "dialect/tile/TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/tile/TileAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/tile/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "dialect/tile/TileOps.h.inc"

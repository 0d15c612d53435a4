// What a prefill schedule costs on a card: the model that tile-schedule-prefill ranks by and that the report
// prints.
#pragma once

#include "passes/CostModel.h"
#include "passes/PrefillLayout.h"

namespace mlac {

/// Cycles of one SM for one KV tile of one block, while as many blocks as fit share the SM.
TileCost costOfPrefillTile(const PrefillShape &shape, mlir::tile::PrefillScheduleAttr schedule,
                           const Profile &profile);

/// Blocks that share an SM, at least 1.
int64_t residentBlocks(const PrefillShape &shape, mlir::tile::PrefillScheduleAttr schedule, const Profile &profile);

/// Registers a thread holds at once, estimated: fragments and what addressing takes.
int64_t estimateRegisters(const PrefillShape &shape, mlir::tile::PrefillScheduleAttr schedule);

} // namespace mlac

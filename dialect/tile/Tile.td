// The tile dialect: how a kernel runs. Aggregates the parts below.
#ifndef DIALECT_TILE_TILE_TD
#define DIALECT_TILE_TILE_TD

include "mlir/IR/OpBase.td"
include "dialect/tile/TileDialect.td"
include "dialect/tile/TileTypes.td"
include "dialect/tile/TileOps.td"
include "dialect/tile/ScheduledOps.td"
include "dialect/tile/PlannerOps.td"
include "dialect/tile/PrefillOps.td"
include "dialect/tile/WriterOps.td"

#endif

// Regions that compute one score from others: what they may hold, and what each op in them is called.
#pragma once

#include "dialect/mla/MLA.h"

namespace mlir::mla {

/// The arguments of a region over scores after the scores themselves.
enum ScoreArgument { QueryPosition, CachedPosition, Head, ScoreArguments };

/// The name of an op of scalar arithmetic as artefacts spell it (runtime/ScoreEdit.h), empty for one that has
/// no place in a region over scores. This is the one list of what programs can do to a score.
StringRef scoreOpName(Operation *op);

/// Verifies a region over `scores` scores of `heads` heads.
LogicalResult verifyScoreRegion(Operation *op, Region &region, unsigned scores, int64_t heads);

} // namespace mlir::mla

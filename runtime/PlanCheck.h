// The validation half of makePlan().
#pragma once

#include "runtime/Plan.h"

namespace mla {

/// Throws Error for the first thing wrong with the request; see makePlan().
void checkPlanRequest(const KernelInfo &kernel, const PlanRequest &request);

/// The part of it that is about a paged cache and not about lengths.
void checkGeometry(const PlanRequest &request);

/// Cached tokens that a row of the page table has room for, or `most` if there is room for more.
int64_t tableTokens(const PlanRequest &request, int64_t most);

} // namespace mla

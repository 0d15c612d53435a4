// The validation half of makePlan().
#pragma once

#include "runtime/Plan.h"

namespace mla {

/// Throws Error for the first thing wrong with the request; see makePlan().
void checkPlanRequest(const KernelInfo &kernel, const PlanRequest &request);

} // namespace mla

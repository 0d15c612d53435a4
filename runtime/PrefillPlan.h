// The work list of a prefill kernel.
#pragma once

#include "runtime/Plan.h"

namespace mla {

/// Writes the plan's work items, block by block: every row tile of every request and KV head, whole. Long
/// ones come first, and each goes to the block that has least to do so far.
/// The items go to `work` as far as they fit, or to the plan's own list.
void writePrefillLists(const KernelInfo &kernel, const PlanRequest &request, Plan &plan,
                       std::optional<std::span<WorkItem>> work);

} // namespace mla

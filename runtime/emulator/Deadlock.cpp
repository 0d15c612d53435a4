//===- Deadlock.cpp - Who waits where -------------------------------------===//

#include "runtime/emulator/Executor.h"
#include "runtime/emulator/Text.h"

#include <algorithm>
#include <fmt/format.h>

using namespace mla::emulator;

static const char *opName(Op op) {
  switch (op) {
  case Op::WarpSync:
    return "warp_sync";
  case Op::Shfl:
    return "shfl";
  case Op::Vote:
    return "vote";
  case Op::Ldmatrix:
    return "ldmatrix";
  case Op::Mma:
    return "mma";
  default:
    return "nothing";
  }
}

std::string Executor::describeWait(const Thread &thread) const {
  const Wait &wait = thread.wait;
  if (wait.op == Op::Barrier)
    return fmt::format("waits at barrier {}, to which {} of {} threads came, at {}", wait.detail,
                       barriers[wait.detail].arrivals.size(), wait.mask, siteText(wait.site));
  if (wait.op != Op::MBarrier)
    return fmt::format("waits in {} with mask {:#010x} at {}", opName(wait.op), wait.mask,
                       siteText(wait.site));
  const MBarrier &barrier = *std::find_if(mbarriers.begin(), mbarriers.end(),
                                          [&](const MBarrier &b) { return b.offset == wait.mask; });
  return fmt::format(
      "waits for parity {} of the mbarrier at shared byte {}, whose phase {} lacks {} of {} arrivals "
      "and {} bytes, at {}",
      wait.detail, barrier.offset, barrier.phase, barrier.pending, barrier.expected, barrier.bytes,
      siteText(wait.site));
}

std::string Executor::describeState(const Thread &thread) const {
  return hasExited(thread.clock.id) ? "has exited" : describeWait(thread);
}

/// "threads 0-31, 64-95: has exited; threads 32-63: waits at ...".
std::string Executor::describeThreads() const {
  struct Group {
    std::string state;
    std::string members;
  };
  std::vector<Group> groups;
  for (uint32_t first = 0, next; first < config->block; first = next) {
    std::string state = describeState(threads[first]);
    for (next = first + 1; next < config->block && describeState(threads[next]) == state;)
      ++next;
    std::string range = next - first == 1 ? std::to_string(first) : fmt::format("{}-{}", first, next - 1);
    auto same = std::find_if(groups.begin(), groups.end(), [&](const Group &g) { return g.state == state; });
    if (same == groups.end())
      groups.push_back({std::move(state), std::move(range)});
    else
      same->members += ", " + range;
  }
  std::string all;
  for (const Group &group : groups)
    all += fmt::format("{}threads {}: {}", all.empty() ? "" : "; ", group.members, group.state);
  return all;
}

/// Nothing can run and nothing more will land.
void Executor::failDeadlock() {
  uint32_t first = 0;
  while (hasExited(first))
    ++first;
  failBlock(threads[first].wait.site, "deadlock: " + describeThreads(), Failure::none);
}

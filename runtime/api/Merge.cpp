// Merging states: a launch takes a few, and its result is the next launch's first.
#include "runtime/api/Loaded.h"
#include "runtime/api/OperandCheck.h"

#include <fmt/format.h>

#include <limits>

namespace mla {

static void checkState(const KernelInfo &kernel, const State &state, int64_t rows) {
  checkTensor(*kernel.find(Role::output), state.out, rows);
  checkTensor(*kernel.find(Role::lse), state.lse, rows);
}

static void checkMerge(const KernelInfo &kernel, std::span<const State> states, const State &into) {
  if (kernel.merge.name.empty())
    throw Error(Error::Code::entryMissing, "the merge of " + kernel.name, "absent: it writes no log-sum-exp",
                "there", "declare an lse result");
  if (states.empty())
    throw Error(Error::Code::mergeCount, "the number of states", "0", "at least 1");
  int64_t rows = into.out.rows;
  if (rows < 0 || rows > std::numeric_limits<int32_t>::max() / kernel.heads)
    throw Error(Error::Code::tooLarge, "the rows to merge", std::to_string(rows),
                fmt::format("between 0 and {}", std::numeric_limits<int32_t>::max() / kernel.heads));
  checkState(kernel, into, rows);
  for (const State &state : states)
    checkState(kernel, state, rows);
}

void Kernel::Loaded::launchMerge(std::span<const State> states, const State &into, Stream stream) const {
  Words words;
  words[vocabulary.states] = states.size();
  for (size_t i = 0; i < states.size(); ++i) {
    writeTensor(words, static_cast<uint16_t>(vocabulary.states + 1 + 6 * i), states[i].out);
    writeTensor(words, static_cast<uint16_t>(vocabulary.states + 4 + 6 * i), states[i].lse);
  }
  writeTensor(words, vocabulary.out, into.out);
  writeTensor(words, vocabulary.lse, into.lse);
  std::array<void *, Words::most> params;
  merge.point(words, params);
  Launch launch = launchOf(info->merge);
  launch.grid = static_cast<uint32_t>(into.out.rows * info->heads);
  launch.stream = stream;
  device->launch(*module, launch, params.data());
}

void Kernel::merge(std::span<const State> states, const State &into, Stream stream) const {
  checkMerge(info(), states, into);
  if (into.out.rows == 0)
    return;
  std::array<State, statesPerLaunch> group;
  size_t count = 0;
  auto take = [&](const State &state) {
    if (count == group.size()) {
      loaded->launchMerge(group, into, stream);
      group[0] = into;
      count = 1;
    }
    group[count++] = state;
  };
  // A state that the result is stored over goes first: later launches would not find it any more.
  auto isTarget = [&](const State &state) {
    return state.out.data == into.out.data || state.lse.data == into.lse.data;
  };
  for (bool target : {true, false})
    for (const State &state : states)
      if (isTarget(state) == target)
        take(state);
  loaded->launchMerge({group.data(), count}, into, stream);
}

} // namespace mla

// Decoding with growing contexts: plan() and run() once a step, on buffers that stay where they are.
#include "Common.hpp"

int main(int argc, char **argv) {
  return example::guarded(argc, argv, [](const example::Arguments &arguments) {
    mla::Kernel kernel = example::loadKernel(arguments);
    mla::Config config;
    config.capacity = {.requests = 3, .queryRows = 3, .workItems = 0};
    example::Model model(kernel, 3, 3, /*columns=*/16);
    example::Planned planned(kernel, config);
    std::vector<int32_t> qIndptr{0, 1, 2, 3}, kvLen{40, 1, 130};
    for (int step = 0; step < 4; ++step) {
      planned.plan.plan(model.lengths(qIndptr, kvLen));
      planned.plan.run(model.operands(3));
      std::printf("step %d: %lld work items, LSE of the first head %.4f %.4f %.4f\n", step,
                  static_cast<long long>(planned.plan.stats().items), model.logSumExps(3)[0],
                  model.logSumExps(3)[static_cast<size_t>(kernel.heads())],
                  model.logSumExps(3)[static_cast<size_t>(2 * kernel.heads())]);
      for (int32_t &length : kvLen)
        ++length; // the new token's row is in the cache
    }
  });
}

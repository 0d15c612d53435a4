// One captured run serves every later step: plan() refreshes lengths and schedule in place, the graph is
// replayed. A padded request has length 0.
#include "Common.hpp"

int main(int argc, char **argv) {
  return example::guarded(argc, argv, [](const example::Arguments &arguments) {
    mla::Kernel kernel = example::loadKernel(arguments);
    mla::Device &device = kernel.device();
    mla::Config config;
    config.capacity = {.requests = 4, .queryRows = 4, .workItems = 0};
    config.graph = true;
    example::Model model(kernel, 4, 4, /*columns=*/16);
    example::Planned planned(kernel, config);
    std::vector<int32_t> qIndptr{0, 1, 2, 3, 4};
    std::vector<std::vector<int32_t>> steps{{5, 5, 5, 5}, {200, 1, 64, 0}, {0, 0, 0, 0}, {17, 90, 3, 0}};
    mla::Stream stream = device.createStream();
    planned.plan.plan(model.lengths(qIndptr, steps[0]), stream);
    std::unique_ptr<mla::Graph> graph =
        device.capture(stream, [&] { planned.plan.run(model.operands(4), stream); });
    for (const std::vector<int32_t> &kvLen : steps) {
      planned.plan.plan(model.lengths(qIndptr, kvLen), stream);
      graph->replay(stream);
      device.synchronize(stream);
      std::vector<float> lse = model.logSumExps(4);
      std::printf("lengths %d %d %d %d: LSE %.4f %.4f %.4f %.4f\n", kvLen[0], kvLen[1], kvLen[2], kvLen[3],
                  lse[0], lse[static_cast<size_t>(kernel.heads())],
                  lse[static_cast<size_t>(2 * kernel.heads())], lse[static_cast<size_t>(3 * kernel.heads())]);
    }
    graph.reset();
    device.destroyStream(stream);
  });
}

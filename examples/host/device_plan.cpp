// Lengths that live on the device: one graph plans and runs, each replay for what the arrays hold by then.
// Here a copy writes them; in an engine a kernel would, in the same graph. Nothing comes back to the host but
// results.
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
    mla::BatchPlan &plan = planned.plan;
    const int32_t qIndptr[] = {0, 1, 2, 3, 4};
    mla::Buffer q(device, sizeof(qIndptr), "q_indptr"), kv(device, 4 * sizeof(int32_t), "kv_len");
    q.copyIn(qIndptr, sizeof(qIndptr));
    mla::DeviceLengths lengths;
    lengths.requests = lengths.queryRows = 4;
    lengths.qIndptr = q.get();
    lengths.kvLen = kv.get();
    lengths.pageSize = example::Model::pageSize;
    lengths.tableColumns = model.columns;
    lengths.pages = model.pages;
    mla::Stream stream = device.createStream();
    std::unique_ptr<mla::Graph> graph = device.capture(stream, [&] {
      plan.planOnDevice(lengths, stream);
      plan.run(model.operands(4), stream);
    });
    int32_t kvLen[] = {5, 200, 64, 0};
    for (int step = 0; step < 4; ++step) {
      kv.copyIn(kvLen, sizeof(kvLen));
      graph->replay(stream);
      device.synchronize(stream);
      plan.checkDevice();
      std::vector<float> lse = model.logSumExps(4);
      std::printf("lengths %d %d %d %d: LSE", kvLen[0], kvLen[1], kvLen[2], kvLen[3]);
      for (size_t request = 0; request < 4; ++request)
        std::printf(" %.4f", lse[request * static_cast<size_t>(kernel.heads())]);
      std::printf("\n");
      for (int32_t &length : kvLen)
        ++length;
    }
    graph.reset();
    device.destroyStream(stream);
  });
}

// Two requests share a prompt. Its cache is read once, by one request of two query rows; what each has of its
// own is a second batch; merge() joins the two results. (With a causal kernel the last rows of a request see
// all of it only if they are its last tokens, so the shared part runs as two requests of one row that use the
// same table.)
#include "Common.hpp"

#include <cmath>

int main(int argc, char **argv) {
  return example::guarded(argc, argv, [](const example::Arguments &arguments) {
    mla::Kernel kernel = example::loadKernel(arguments);
    constexpr int32_t shared = 64, own[] = {20, 45};
    example::Model model(kernel, 2, 2, /*columns=*/16);
    mla::Config config;
    config.capacity = {.requests = 2, .queryRows = 2, .workItems = 0};
    example::Planned planned(kernel, config);
    std::vector<int32_t> qIndptr{0, 1, 2};
    int64_t heads = kernel.heads(), v = kernel.vDim();
    // States of the two parts: outputs and log-sum-exps of two rows each.
    mla::Buffer outs[2], lses[2];
    mla::State states[2];
    for (int part = 0; part < 2; ++part) {
      outs[part] = mla::Buffer(kernel.device(), static_cast<size_t>(2 * heads * v * 2), "partial output");
      lses[part] = mla::Buffer(kernel.device(), static_cast<size_t>(2 * heads * 4), "partial lse");
      states[part] = {{outs[part].get(), mla::DType::bf16, 2, heads, v, heads * v, v},
                      {lses[part].get(), mla::DType::f32, 2, heads, 1, heads, 1}};
    }
    // Table 0 holds the shared pages for both, then each request's own pages; the model's table lists pages
    // downwards.
    auto tableOf = [&](int64_t first, int64_t second) {
      std::vector<int32_t> entries(static_cast<size_t>(2 * model.columns));
      for (int64_t column = 0; column < model.columns; ++column) {
        entries[static_cast<size_t>(column)] = static_cast<int32_t>((first + column) % model.pages);
        entries[static_cast<size_t>(model.columns + column)] =
            static_cast<int32_t>((second + column) % model.pages);
      }
      mla::Buffer table(kernel.device(), entries.size() * 4, "table of a part");
      table.copyIn(entries.data(), entries.size() * 4);
      return table;
    };
    auto run = [&](const mla::Buffer &table, const std::vector<int32_t> &kvLen, const mla::State &state) {
      planned.plan.plan(model.lengths(qIndptr, kvLen));
      mla::Operands operands = model.operands(2);
      operands.cache.table = table.get();
      operands.out = state.out;
      operands.lse = state.lse;
      planned.plan.run(operands);
      kernel.device().synchronize();
    };
    mla::Buffer prefix = tableOf(0, 0), tails = tableOf(4, 12);
    run(prefix, {shared, shared}, states[0]);
    run(tails, {own[0], own[1]}, states[1]);
    kernel.merge(states, {model.operands(2).out, model.operands(2).lse});
    std::vector<float> lse = model.logSumExps(2), parts[2];
    for (int part = 0; part < 2; ++part) {
      parts[part].resize(static_cast<size_t>(2 * heads));
      lses[part].copyOut(parts[part].data(), parts[part].size() * 4);
    }
    for (size_t row : {size_t{0}, static_cast<size_t>(heads)}) {
      double expected = std::log2(std::exp2(parts[0][row]) + std::exp2(parts[1][row]));
      std::printf("LSE %.4f with %.4f merged: %.4f\n", parts[0][row], parts[1][row], lse[row]);
      if (std::abs(lse[row] - expected) > 1e-3)
        throw std::runtime_error("the merged LSE is not that of both parts");
    }
  });
}

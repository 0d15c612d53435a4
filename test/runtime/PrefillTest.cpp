// plan(), run() and merge() of prefill, on the emulator.
#include "Live.h"

#include "mla/Jit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace mla;
using namespace mla::test;

namespace {

constexpr const char *kSource = R"(
  kernel causal_prefill(q : ragged bf16[heads = 4, 64], k : ragged e4m3[heads = 2, 64], v : ragged bf16[heads = 2, 32],
                        k_scale : f32, sm_scale : f32)
    -> (o : ragged bf16[heads = 4, 32], lse : log2) compute f16
  {
    let s = causal(dot(q, dequant(k) * k_scale) * sm_scale);
    o   = softmax(s) @ dequant(v);
    lse = logsumexp(s);
  }
  kernel full_prefill(q : ragged bf16[heads = 4, 64], k : ragged e4m3[heads = 2, 64], v : ragged bf16[heads = 2, 32],
                      k_scale : f32, sm_scale : f32)
    -> (o : ragged f32[heads = 4, 32], lse : ln) compute f16
  {
    let s = dot(q, dequant(k) * k_scale) * sm_scale;
    o   = softmax(s) @ dequant(v);
    lse = logsumexp(s);
  })";

class PrefillRun : public testing::Test {
protected:
  Kernel load(const char *name) const {
    jit::Options options;
    options.kernel = name;
    return jit::load(device, kSource, options);
  }

  static BatchPlan prepare(const Kernel &kernel, const Live &live, bool graph = false) {
    Config config;
    config.capacity = live.capacity();
    config.graph = graph;
    EXPECT_EQ(kernel.workspaceSize(config), 0u) << "nothing is split";
    return kernel.prepare(config, {});
  }

  static void planAndRun(BatchPlan &plan, Live &live) {
    plan.plan(live.lengths());
    plan.run(live.operands());
    reference::Report report = live.check();
    EXPECT_TRUE(report.passed()) << report.toText();
  }

  /// A context in chunks, each its own run without a mask, merged: what one run over the whole gives.
  void runChunks(const Kernel &kernel, Live &whole, int32_t chunk) {
    BatchPlan plan = prepare(kernel, whole);
    plan.plan(whole.lengths());
    const Operands operands = whole.operands();
    const int32_t context = whole.host().shape.kvLens[0];
    std::vector<Buffer> memory;
    std::vector<State> states;
    for (int32_t begin = 0; begin < context; begin += chunk) {
      std::vector<int32_t> indptr{0, std::min(chunk, context - begin)}, lengths{indptr[1]};
      Lengths part = whole.lengths();
      part.kvLen = lengths;
      part.cacheIndptr = indptr;
      plan.plan(part);
      Operands here = operands;
      for (Tensor *tensor : {&here.key, &here.value}) {
        tensor->data += static_cast<uint64_t>(begin * tensor->strideToken * bytes(tensor->dtype));
        tensor->rows = lengths[0];
      }
      for (Tensor *tensor : {&here.out, &here.lse}) {
        memory.emplace_back(*device, static_cast<size_t>(tensor->rows * tensor->strideToken * 4),
                            "a chunk's result");
        tensor->data = memory.back().get();
      }
      plan.run(here);
      states.push_back({here.out, here.lse});
    }
    ASSERT_GT(states.size(), 2u);
    kernel.merge(states, {operands.out, operands.lse});
    reference::Report report = whole.check();
    EXPECT_TRUE(report.passed()) << report.toText();
  }

  std::shared_ptr<Device> device = jit::createEmulator({.seed = 3, .multiprocessors = 4});
};

} // namespace

TEST_F(PrefillRun, OneBatchAfterAnother) {
  Kernel kernel = load("causal_prefill");
  EXPECT_EQ(kernel.kvHeads(), 2);
  EXPECT_EQ(kernel.cacheDType(), DType::e4m3);
  EXPECT_EQ(kernel.layout(), Layout::ragged);
  Live live(*device, kernel.info(),
            {{{5, 70, 0}, {5, 90, 3}, 1, 4},
             {{200}, {200}, 1, 5},
             {{}, {}, 1, 6},
             {{0, 0}, {4, 0}, 1, 7},
             {{3, 1}, {0, 0}, 1, 8}});
  BatchPlan plan = prepare(kernel, live);
  for (size_t batch = 0; batch < 5; ++batch) {
    SCOPED_TRACE(batch);
    live.use(batch);
    planAndRun(plan, live);
  }
}

/// Every list of the capacity is large enough for any batch within it.
TEST_F(PrefillRun, AnyBatchWithinTheCapacity) {
  Kernel kernel = load("causal_prefill");
  std::vector<reference::BatchShape> shapes;
  for (const std::vector<int32_t> &lengths :
       {std::vector{100}, {25, 25, 25, 25}, {1, 1, 1, 97}, {33, 33, 34}, {65, 35}})
    shapes.push_back({lengths, lengths, 1, 9});
  Live live(*device, kernel.info(), shapes);
  BatchPlan plan = prepare(kernel, live);
  for (size_t batch = 0; batch < shapes.size(); ++batch) {
    live.use(batch);
    planAndRun(plan, live);
  }
}

TEST_F(PrefillRun, ReplayFollowsALaterPlan) {
  Kernel kernel = load("causal_prefill");
  Live live(*device, kernel.info(), {{{40, 3}, {60, 3}, 1, 4}, {{3, 0}, {20, 0}, 1, 5}});
  BatchPlan plan = prepare(kernel, live, /*graph=*/true);
  live.use(0);
  plan.plan(live.lengths());
  auto graph = device->capture(0, [&] { plan.run(live.operands()); });
  for (size_t batch : {0, 1, 0}) {
    live.use(batch);
    plan.plan(live.lengths());
    graph->replay(0);
    reference::Report report = live.check();
    EXPECT_TRUE(report.passed()) << batch << ": " << report.toText();
  }
}

TEST_F(PrefillRun, RefusesOperandsThatWereNotPlanned) {
  Kernel kernel = load("causal_prefill");
  Live live(*device, kernel.info(), reference::BatchShape{{4}, {9}, 1, 4});
  BatchPlan plan = prepare(kernel, live);
  plan.plan(live.lengths());
  auto refusal = [&](auto change) {
    Operands operands = live.operands();
    change(operands);
    try {
      plan.run(operands);
    } catch (const Error &error) {
      return std::string(name(error.code)) + ": " + error.field;
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal([](Operands &o) { o.key.dtype = DType::bf16; }), "operandMismatch: the dtype of k");
  EXPECT_EQ(refusal([](Operands &o) { o.value.dtype = DType::e4m3; }), "operandMismatch: the dtype of v");
  EXPECT_EQ(refusal([](Operands &o) { o.key.heads = 4; }), "operandMismatch: the heads of k");
  EXPECT_EQ(refusal([](Operands &o) { o.value.dim = 64; }), "operandMismatch: the last dim of v");
  EXPECT_EQ(refusal([](Operands &o) { o.key.rows = 8; }), "operandMismatch: the rows of k");
  EXPECT_EQ(refusal([](Operands &o) { o.value.data = 0; }), "operandNull: the address of v");
  EXPECT_EQ(refusal([](Operands &o) { o.key.data += 4; }), "operandAlignment: the address of k");
  EXPECT_EQ(refusal([](Operands &o) { o.value.strideHead = 33; }), "operandAlignment: the head stride of v");
  EXPECT_EQ(refusal([](Operands &) {}), "accepted");
}

TEST_F(PrefillRun, IsPlannedOnTheHost) {
  Kernel kernel = load("causal_prefill");
  Live live(*device, kernel.info(), reference::BatchShape{{4}, {9}, 1, 4});
  BatchPlan plan = prepare(kernel, live, /*graph=*/true);
  try {
    plan.planOnDevice({.requests = 1, .queryRows = 4});
    FAIL() << "accepted";
  } catch (const Error &error) {
    EXPECT_EQ(name(error.code), "entryMissing");
    EXPECT_NE(std::string(error.what()).find("prefill is planned on the host, by plan()"), std::string::npos)
        << error.what();
  }
}

/// There are no page tables: checking them is nothing.
TEST_F(PrefillRun, HasNoPageTablesToCheck) {
  Kernel kernel = load("causal_prefill");
  Live live(*device, kernel.info(), reference::BatchShape{{4}, {9}, 1, 4});
  Config config;
  config.capacity = live.capacity();
  config.checkTables = true;
  BatchPlan plan = kernel.prepare(config, {});
  planAndRun(plan, live);
}

TEST_F(PrefillRun, ChunksOfAPrefixGiveTheWhole) {
  Kernel kernel = load("full_prefill");
  Live whole(*device, kernel.info(), reference::BatchShape{{20}, {300}, 1, 3});
  runChunks(kernel, whole, 110);
}

/// Case 24: the chunks' log-sum-exps are of scores with the factor that was given, whatever it is.
TEST_F(PrefillRun, ChunksWithAFactorOfTheirOwn) {
  Kernel kernel = load("full_prefill");
  Live whole(*device, kernel.info(), reference::BatchShape{{2}, {4096}, 1, 3});
  std::vector<Scalar> scalars(whole.operands().scalars.begin(), whole.operands().scalars.end());
  for (Scalar &scalar : scalars)
    if (scalar.name == "sm_scale")
      scalar.value = whole.host().scalars["sm_scale"] = static_cast<float>(0.7 / std::sqrt(192));
  whole.operands().scalars = scalars;
  runChunks(kernel, whole, 1024);
}

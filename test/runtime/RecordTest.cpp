// A cache of records through the C++ API, on the emulator.
#include "Live.h"
#include "mla/Jit.h"

#include <gtest/gtest.h>

using namespace mla;
using namespace mla::test;

static void expectRight(const std::string &record, int64_t bytes) {
  SCOPED_TRACE(record);
  std::shared_ptr<Device> device = jit::createEmulator({.seed = 3, .multiprocessors = 4});
  Kernel kernel = jit::load(device, R"(
    kernel decode(
        q  : ragged bf16[heads = 12, 576],
        kv : paged  record { )" + record +
                                        R"( },
        sm_scale : f32)
      -> (o : ragged bf16[heads = 12, 512], lse : log2)
      compute bf16
    {
      let k = dequant(kv);
      let s = causal(dot(q, k) * sm_scale);
      o   = softmax(s) @ k[0:512];
      lse = logsumexp(s);
    })");
  EXPECT_EQ(kernel.cacheDType(), DType::u8);
  EXPECT_EQ(kernel.cacheDim(), bytes);
  EXPECT_EQ(kernel.qkDim(), 576);
  Live live(*device, kernel.info(), {{2, 1, 1}, {137, 0, 65}, 16, 3});
  Config config;
  config.capacity = live.capacity();
  config.checkTables = true;
  Buffer workspace(*device, kernel.workspaceSize(config) + 1, "workspace");
  BatchPlan plan = kernel.prepare(config, {workspace.get(), workspace.size()});
  plan.plan(live.lengths());
  plan.run(live.operands());
  reference::Report report = live.check();
  EXPECT_TRUE(report.passed()) << report.toText();
}

TEST(RecordRun, FlashMlaTokens) {
  expectRight("latent : e4m3[512] scaled f32 per 128 inline; rope : bf16[64]", 656);
}
TEST(RecordRun, ScalesApart) {
  expectRight("latent : e4m3[512] scaled ue8m0 per 64 apart; rope : bf16[64]", 640);
}

// Masks, head values and their checks through the C API, on the emulator.
#include "mla/mla.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace {

const char *const source =
    "kernel decode(q : ragged bf16[heads = 4, 80], kv : paged bf16[80], sm_scale : f32,\n"
    "              slopes : f32[heads = 4], sinks : f32[heads = 4])\n"
    "  -> (o : ragged f32[heads = 4, 64], lse : ln) compute bf16\n"
    "{\n"
    "  let s = window(causal(alibi(dot(q, kv) * sm_scale, slopes)), left = 9);\n"
    "  let t = sink(s, sinks);\n"
    "  o   = softmax(t) @ kv[0:64];\n"
    "  lse = logsumexp(t);\n"
    "}\n";

constexpr int heads = 4, width = 80, values = 64, tokens = 40, page = 16, pages = 3;

/// One request of 40 cached tokens, all ones; the query is 0, so that the biases alone make the scores.
class CApi : public testing::Test {
protected:
  void SetUp() override {
    ok(mla_emulator_create(1, 2, &device));
    mla_jit_options options = {};
    options.size = sizeof(options);
    options.cache_directory = "";
    ok(mla_jit_load(device, source, &options, &kernel));
    mla_config config = {};
    config.size = sizeof(config);
    config.max_requests = config.max_query_rows = 1;
    size_t bytes = 0;
    ok(mla_workspace_size(kernel, &config, &bytes));
    ok(mla_plan_create(kernel, &config, upload(std::vector<char>(bytes + 1)), bytes, &plan));
    planBatch();
    bindOperands();
  }

  void TearDown() override {
    mla_plan_free(plan);
    mla_kernel_free(kernel);
    mla_device_free(device);
  }

  static void ok(mla_status status) { ASSERT_EQ(status, MLA_OK) << mla_error_message(); }

  template <typename T>
  uint64_t upload(const std::vector<T> &list) {
    uint64_t address = 0;
    EXPECT_EQ(mla_device_allocate(device, list.size() * sizeof(T), &address), MLA_OK);
    EXPECT_EQ(mla_device_copy_in(device, address, list.data(), list.size() * sizeof(T)), MLA_OK);
    return address;
  }

  void planBatch() {
    const int32_t indptr[] = {0, 1}, lengths[] = {tokens};
    mla_lengths batch = {};
    batch.size = sizeof(batch);
    batch.batch = 1;
    batch.q_indptr = indptr;
    batch.kv_len = lengths;
    batch.page_size = page;
    batch.table_columns = batch.pages = pages;
    ok(mla_plan_batch(plan, &batch, 0));
  }

  void bindOperands() {
    operands.size = sizeof(operands);
    operands.query = {
        upload(std::vector<uint16_t>(heads * width)), MLA_BF16, 1, heads, width, heads * width, width};
    out = upload(std::vector<float>(heads * values));
    lse = upload(std::vector<float>(heads));
    operands.out = {out, MLA_F32, 1, heads, values, heads * values, values};
    operands.lse = {lse, MLA_F32, 1, heads, 1, heads, 1};
    uint64_t cache = upload(std::vector<uint16_t>(pages * page * width, 0x3F80));
    operands.cache = {cache, MLA_BF16, width,        width,
                      pages, page,     page * width, upload(std::vector<int32_t>{2, 0, 1}),
                      pages, 0};
    scalars[0] = {"sm_scale", 1};
    operands.scalars = scalars;
    operands.scalar_count = 1;
    lists[0] = {"slopes", upload(slopes), heads};
    lists[1] = {"sinks", upload(sinks), heads};
    operands.head_values = lists;
    operands.head_value_count = 2;
  }

  std::vector<float> download(uint64_t address, size_t count) {
    std::vector<float> list(count);
    EXPECT_EQ(mla_device_copy_out(device, list.data(), address, count * sizeof(float)), MLA_OK);
    return list;
  }

  /// The status' name of a run on the operands as they are.
  std::string codeOfRun() { return mla_run(plan, &operands, 0) == MLA_OK ? "ok" : mla_error_code(); }

  mla_device *device = nullptr;
  mla_kernel *kernel = nullptr;
  mla_plan *plan = nullptr;
  const std::vector<float> slopes{0, 0.5, 1, 2}, sinks{0, 1, -1, 3};
  uint64_t out = 0, lse = 0;
  mla_scalar scalars[1];
  mla_head_values lists[2];
  mla_operands operands = {};
};

TEST_F(CApi, WindowSlopesAndSinks) {
  mla_kernel_info info = {};
  info.size = sizeof(info);
  ok(mla_kernel_describe(kernel, &info));
  EXPECT_EQ(info.window, 9);
  ASSERT_EQ(codeOfRun(), "ok") << mla_error_message();
  std::vector<float> result = download(out, heads * values), sums = download(lse, heads);
  for (int head = 0; head < heads; ++head) {
    double sum = 0;
    for (int distance = 0; distance <= 9; ++distance)
      sum += std::exp(-double(slopes[head]) * distance);
    double all = sum + std::exp(double(sinks[head]));
    EXPECT_NEAR(sums[head], std::log(all), 1e-5);
    EXPECT_NEAR(result[head * values + 5], sum / all, 5e-3);
  }
}

TEST_F(CApi, HeadValuesAreChecked) {
  operands.head_value_count = 1;
  EXPECT_EQ(codeOfRun(), "missingOperand");
  operands.head_value_count = 2;
  lists[1].heads = 5;
  EXPECT_EQ(codeOfRun(), "operandMismatch");
  lists[1].heads = heads;
  lists[1].name = nullptr;
  EXPECT_EQ(codeOfRun(), "badArgument");
  lists[1].name = "sinks";
  operands.head_values = nullptr;
  EXPECT_EQ(codeOfRun(), "badArgument");
  operands.head_values = lists;
  operands.head_value_count = 1000;
  EXPECT_EQ(codeOfRun(), "badArgument");
  operands.head_value_count = 2;
  EXPECT_EQ(codeOfRun(), "ok") << mla_error_message();
}

} // namespace

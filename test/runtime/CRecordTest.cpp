// A cache of records through the C API, on the emulator: bytes, with strides in bytes, and scales behind the
// records of their page.
#include "mla/mla.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace {

const char *const source = "kernel decode(q : ragged bf16[heads = 4, 80],\n"
                           "              kv : paged record { rope : bf16[16]; latent : e4m3[64] scaled f32 "
                           "per 32 apart }, sm_scale : f32)\n"
                           "  -> (o : ragged f32[heads = 4, 64]) compute bf16\n"
                           "{\n"
                           "  let k = dequant(kv);\n"
                           "  o = softmax(dot(q, k) * sm_scale) @ k[16:80];\n"
                           "}\n";

constexpr int heads = 4, width = 80, values = 64, page = 4, recordBytes = 16 * 2 + 64, scaleBytes = 2 * 4,
              pageBytes = page * (recordBytes + scaleBytes);

/// One request of one cached token, in page 1: its codes are 1, its scales 0.5 and 3.
class CRecords : public testing::Test {
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
    const int32_t indptr[] = {0, 1}, lengths[] = {1};
    mla_lengths batch = {};
    batch.size = sizeof(batch);
    batch.batch = 1;
    batch.q_indptr = indptr;
    batch.kv_len = lengths;
    batch.page_size = page;
    batch.table_columns = 1;
    batch.pages = 2;
    ok(mla_plan_batch(plan, &batch, 0));
  }

  void bindOperands() {
    operands.size = sizeof(operands);
    operands.query = {
        upload(std::vector<uint16_t>(heads * width)), MLA_BF16, 1, heads, width, heads * width, width};
    out = upload(std::vector<float>(heads * values));
    operands.out = {out, MLA_F32, 1, heads, values, heads * values, values};
    std::vector<uint8_t> pool(2 * pageBytes, 0xFF);
    uint8_t *record = pool.data() + pageBytes;
    const float scales[] = {0.5f, 3.0f};
    std::memset(record, 0, 32);
    std::memset(record + 32, 0x38, 64);
    std::memcpy(record + page * recordBytes, scales, sizeof(scales));
    uint64_t rows = upload(pool);
    operands.cache = {rows,
                      MLA_U8,
                      recordBytes,
                      recordBytes,
                      2,
                      page,
                      pageBytes,
                      upload(std::vector<int32_t>{1}),
                      1,
                      0,
                      rows + page * recordBytes,
                      pageBytes,
                      scaleBytes};
    scalars[0] = {"sm_scale", 1};
    operands.scalars = scalars;
    operands.scalar_count = 1;
  }

  std::string codeOfRun() { return mla_run(plan, &operands, 0) == MLA_OK ? "ok" : mla_error_code(); }

  mla_device *device = nullptr;
  mla_kernel *kernel = nullptr;
  mla_plan *plan = nullptr;
  uint64_t out = 0;
  mla_scalar scalars[1];
  mla_operands operands = {};
};

TEST_F(CRecords, AreRead) {
  mla_kernel_info info = {};
  info.size = sizeof(info);
  ok(mla_kernel_describe(kernel, &info));
  EXPECT_EQ(info.qk_dim, width);
  EXPECT_EQ(info.cache_dim, recordBytes);
  EXPECT_EQ(info.cache_dtype, MLA_U8);
  ASSERT_EQ(codeOfRun(), "ok") << mla_error_message();
  std::vector<float> found(heads * values);
  ok(mla_device_copy_out(device, found.data(), out, found.size() * sizeof(float)));
  for (int i = 0; i < heads * values; ++i)
    EXPECT_EQ(found[static_cast<size_t>(i)], i % values < 32 ? 0.5f : 3.0f) << "element " << i;
}

TEST_F(CRecords, AreCheckedAsBytes) {
  operands.cache.dtype = MLA_E4M3;
  EXPECT_EQ(codeOfRun(), "operandMismatch");
  operands.cache.dtype = MLA_U8;
  operands.cache.dim = width;
  EXPECT_EQ(codeOfRun(), "operandMismatch");
  operands.cache.dim = recordBytes;
  operands.cache.stride_token = recordBytes + 4;
  EXPECT_EQ(codeOfRun(), "operandAlignment");
  operands.cache.stride_token = recordBytes;
  operands.cache.scale_stride_token = scaleBytes + 2;
  EXPECT_EQ(codeOfRun(), "operandAlignment");
  operands.cache.scale_stride_token = scaleBytes;
  operands.cache.scales = 0;
  EXPECT_EQ(codeOfRun(), "operandNull");
}

} // namespace

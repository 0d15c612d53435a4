// append() through the C API, on the emulator.
#include "mla/mla.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

const char *const source = "kernel append(row : ragged bf16[16], s : f32) -> (kv : paged e4m3[16]) { kv = quant(row / s); }";

class CWriter : public testing::Test {
protected:
  void SetUp() override {
    ok(mla_emulator_create(1, 2, &device));
    mla_jit_options options = {};
    options.size = sizeof(options);
    options.cache_directory = "";
    ok(mla_jit_load_writer(device, source, &options, &writer));
    pool = upload(std::vector<uint8_t>(64));
    part = {"row", upload(std::vector<uint16_t>(32, 0x3F80)), MLA_BF16, 16, 16};
    scale = {"s", 0.5f};
    append.size = sizeof(append);
    append.parts = &part;
    append.part_count = 1;
    append.rows = 2;
    append.slots = upload(std::vector<int64_t>{3, -1});
    append.cache = {pool, MLA_E4M3, 16, 16, 2, 2, 32, 0, 0, 0};
    append.scalars = &scale;
    append.scalar_count = 1;
  }

  void TearDown() override {
    mla_writer_free(writer);
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

  std::vector<uint8_t> found() {
    std::vector<uint8_t> bytes(64);
    EXPECT_EQ(mla_device_copy_out(device, bytes.data(), pool, bytes.size()), MLA_OK);
    return bytes;
  }

  mla_device *device = nullptr;
  mla_writer *writer = nullptr;
  uint64_t pool = 0;
  mla_new_rows part = {};
  mla_scalar scale = {};
  mla_append append = {};
};

} // namespace

TEST_F(CWriter, AppendsAndReplays) {
  std::vector<uint8_t> expected(64);
  std::fill(expected.begin() + 48, expected.end(), 0x40); // 1 / 0.5
  ok(mla_writer_append(writer, &append, 0));
  EXPECT_EQ(found(), expected);
  mla_graph *graph = nullptr;
  ok(mla_graph_capture_append(writer, &append, 0, &graph));
  const std::vector<int64_t> slots{0, -1};
  ok(mla_device_copy_in(device, append.slots, slots.data(), 16));
  ok(mla_graph_replay(graph, 0));
  std::fill(expected.begin(), expected.begin() + 16, 0x40);
  EXPECT_EQ(found(), expected);
  mla_graph_free(graph);
}

TEST_F(CWriter, ErrorsHaveTheirStatus) {
  append.check = 1;
  const std::vector<int64_t> slots{3, 4};
  ok(mla_device_copy_in(device, append.slots, slots.data(), 16));
  EXPECT_EQ(mla_writer_append(writer, &append, 0), MLA_INVALID_OPERAND);
  EXPECT_STREQ(mla_error_code(), "slot");
  EXPECT_NE(std::string(mla_error_message()).find("slots[1] is 4"), std::string::npos) << mla_error_message();
  append.check = 0;
  scale.value = 0;
  EXPECT_EQ(mla_writer_append(writer, &append, 0), MLA_INVALID_OPERAND);
  append.part_count = 17;
  EXPECT_EQ(mla_writer_append(writer, &append, 0), MLA_BAD_ARGUMENT);
  append.size = 8;
  EXPECT_EQ(mla_writer_append(writer, &append, 0), MLA_BAD_ARGUMENT);
  EXPECT_EQ(mla_writer_append(nullptr, &append, 0), MLA_BAD_ARGUMENT);
  EXPECT_EQ(mla_writer_append(writer, nullptr, 0), MLA_BAD_ARGUMENT);
  mla_kernel *kernel = nullptr;
  EXPECT_EQ(mla_jit_load(device, source, nullptr, &kernel), MLA_INVALID_ARTEFACT) << "a writer is no kernel that is planned";
  mla_writer *none = nullptr;
  EXPECT_EQ(mla_writer_load(device, "nothing", 7, nullptr, &none), MLA_INVALID_ARTEFACT);
  EXPECT_EQ(none, nullptr);
  mla_writer_free(nullptr);
}

// append(): values, places and errors, on the emulator.
#include "Live.h"

#include "mla/Jit.h"
#include "runtime/reference/Formats.h"
#include "runtime/reference/Writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using namespace mla;
using namespace mla::test;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan_ = std::numeric_limits<float>::quiet_NaN();

std::string sourceOf(const std::string &storage, const std::string &from, int latent, int rope) {
  return "kernel append(latent : ragged " + from + "[" + std::to_string(latent) + "], rope : ragged " + from + "[" +
         std::to_string(rope) + "], kv_scale : f32)\n  -> (kv : paged " + storage + "[" + std::to_string(latent + rope) +
         "])\n{\n  kv = quant(concat(latent, rope) / kv_scale);\n}\n";
}

class WriterRun : public testing::Test {
protected:
  Writer load(const std::string &source) const {
    jit::Options options;
    options.cacheDirectory = "";
    return jit::loadWriter(device, source, options);
  }

  template <typename T>
  Buffer upload(const std::vector<T> &list) const {
    Buffer buffer(*device, list.size() * sizeof(T), "a list");
    buffer.copyIn(list.data(), list.size() * sizeof(T));
    return buffer;
  }

  static std::vector<uint16_t> halves(const std::vector<float> &values) {
    std::vector<uint16_t> codes;
    for (float value : values)
      codes.push_back(static_cast<uint16_t>(reference::encode(DType::f16, value)));
    return codes;
  }

  std::shared_ptr<Device> device = jit::createEmulator({.seed = 5, .multiprocessors = 4});
};

/// Rows of f16 codes, 16 wide, of which the first 8 are the latent part, into a pool of one page behind as many canaries.
class SmallWriter : public WriterRun {
protected:
  static constexpr int64_t kWidth = 16, kLatent = 8;

  void use(const std::string &storage) {
    writer = load(sourceOf(storage, "f16 ", kLatent, kWidth - kLatent));
    size = bytes(writer->cacheDType());
  }

  /// What the pool holds after the rows were appended, row after row, one code an element.
  std::vector<uint32_t> append(const std::vector<uint16_t> &codes, float scale, std::vector<int64_t> slots = {}) {
    auto rows = static_cast<int64_t>(codes.size()) / kWidth;
    if (slots.empty()) {
      slots.resize(static_cast<size_t>(rows));
      std::iota(slots.begin(), slots.end(), 0);
    }
    run(codes, scale, slots, rows);
    std::vector<uint8_t> all(static_cast<size_t>(3 * rows * kWidth * size));
    pool.copyOut(all.data(), all.size());
    std::vector<uint32_t> found;
    for (int64_t i = 0; i < 3 * rows * kWidth; ++i) {
      uint32_t code = reference::loadCode(writer->cacheDType(), all.data(), i);
      if (i < rows * kWidth || i >= 2 * rows * kWidth)
        EXPECT_EQ(code, size == 1 ? 0xA5u : 0xA5A5u) << "canary " << i;
      else
        found.push_back(code);
    }
    return found;
  }

  void run(const std::vector<uint16_t> &codes, float scale, const std::vector<int64_t> &slots, int64_t rows) {
    data = upload(codes);
    places = upload(slots);
    pool = Buffer(*device, static_cast<size_t>(3 * rows * kWidth * size), "the pool");
    pool.fill(0xA5);
    parts = {{"latent", data.get(), DType::f16, kLatent, kWidth},
             {"rope", data.get() + 2 * kLatent, DType::f16, kWidth - kLatent, kWidth}};
    scalars = {{"kv_scale", scale}};
    operands = {};
    operands.parts = parts;
    operands.rows = rows;
    operands.slots = places.get();
    operands.cache = {.data = pool.get() + static_cast<uint64_t>(rows * kWidth * size), .dtype = writer->cacheDType(),
                      .dim = kWidth, .strideToken = kWidth, .pages = 1, .pageSize = static_cast<int32_t>(rows),
                      .stridePage = rows * kWidth};
    operands.scalars = scalars;
    writer->append(operands);
  }

  void expectCode(Error::Code code, const char *field) {
    try {
      writer->append(operands);
      ADD_FAILURE() << "accepted " << field;
    } catch (const Error &error) {
      EXPECT_EQ(error.code, code) << error.what();
      EXPECT_NE(error.field.find(field), std::string::npos) << error.what();
    }
  }

  std::optional<Writer> writer;
  int64_t size = 1;
  Buffer data, places, pool;
  std::vector<NewRows> parts;
  std::vector<Scalar> scalars;
  Append operands;
};

} // namespace

// What a quantiser promises, written out: nearest, ties to even, saturation, NaN, the sign of zero, x / s.
TEST_F(SmallWriter, OverflowInfinitiesAndNaN) {
  use("e4m3");
  const std::vector<float> x = {447, 448, 449, 464, 465, 1e4f, inf, -inf, nan_, 0x1p-9f, 0x1p-10f, 0x1.8p-10f, -0.0f, 1, -1, 0};
  auto row = [&](float scale) { return append(halves(x), scale); };
  //                                          447   448   449   464   465   1e4   inf   -inf  NaN   2^-9  2^-10 1.5    -0    1     -1    0
  EXPECT_EQ(row(1.0f), (std::vector<uint32_t>{0x7E, 0x7E, 0x7E, 0x7E, 0x7E, 0x7E, 0x7E, 0xFE, 0x7F, 0x01, 0x00, 0x01, 0x80, 0x38, 0xB8, 0x00}));
  EXPECT_EQ(row(0.5f), (std::vector<uint32_t>{0x7E, 0x7E, 0x7E, 0x7E, 0x7E, 0x7E, 0x7E, 0xFE, 0x7F, 0x02, 0x01, 0x02, 0x80, 0x40, 0xC0, 0x00}));
  EXPECT_EQ(row(2.0f), (std::vector<uint32_t>{0x76, 0x76, 0x76, 0x76, 0x77, 0x7E, 0x7E, 0xFE, 0x7F, 0x00, 0x00, 0x00, 0x80, 0x30, 0xB0, 0x00}));
}

TEST_F(SmallWriter, Int8) {
  use("int8");
  const std::vector<float> x = {127, 127.5f, 128, -128, -128.5f, -1000, inf, -inf, nan_, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -0.0f, 126.5f};
  auto code = [](int value) { return static_cast<uint32_t>(static_cast<uint8_t>(value)); };
  std::vector<uint32_t> expected;
  for (int value : {127, 127, 127, -128, -128, -128, 127, -128, 0, 0, 2, 2, 0, -2, 0, 126})
    expected.push_back(code(value));
  EXPECT_EQ(append(halves(x), 1.0f), expected);
}

// Every f16 value, so every value of 8 bits, every halfway one and its neighbours.
TEST_F(SmallWriter, EveryValue) {
  std::vector<uint16_t> all(1 << 16);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<uint16_t>(i);
  for (const char *storage : {"e4m3", "e5m2", "int8", "bf16", "f16 "}) {
    use(storage);
    DType type = writer->cacheDType();
    for (float scale : {1.0f, 0.37f}) {
      SCOPED_TRACE(std::string(storage) + " / " + std::to_string(scale));
      std::vector<uint32_t> found = append(all, scale);
      int64_t wrong = 0;
      for (size_t i = 0; i < all.size(); ++i) {
        uint32_t wanted = reference::quantise(type, static_cast<float>(reference::decode(DType::f16, all[i])), scale);
        if (!reference::sameCode(type, found[i], wanted) && ++wrong < 5)
          ADD_FAILURE() << std::hex << all[i] << " is stored as " << found[i] << " instead of " << wanted;
      }
      EXPECT_EQ(wrong, 0);
    }
  }
}

// Without quant the bits are copied, NaN payloads and infinities too.
TEST_F(WriterRun, RowsOfTheCachesStorageAreCopied) {
  Writer writer = load("kernel append(row : ragged bf16[8]) -> (kv : paged bf16[8]) { kv = row; }");
  const std::vector<uint16_t> row = {0x7F80, 0xFF80, 0x7FC1, 0xFFFF, 0x0001, 0x8000, 0x7F7F, 0x3F80};
  Buffer data = upload(row), slots = upload(std::vector<int32_t>{0}), pool(*device, 16, "the pool");
  const NewRows part{"row", data.get(), DType::bf16, 8, 8};
  Append append{.parts = {&part, 1}, .rows = 1, .slots = slots.get(), .slotBytes = 4};
  append.cache = {.data = pool.get(), .dtype = DType::bf16, .dim = 8, .strideToken = 8, .pages = 1, .pageSize = 1, .stridePage = 8};
  writer.append(append);
  std::vector<uint16_t> found(8);
  pool.copyOut(found.data(), 16);
  EXPECT_EQ(found, row);
}

TEST_F(SmallWriter, RowsWithoutAPlaceAreNotWritten) {
  use("e4m3");
  std::vector<uint16_t> ones(4 * kWidth, 0x3C00);
  std::vector<uint32_t> found = append(ones, 1.0f, {-1, 2, 4, int64_t{1} << 32 | 1});
  for (int64_t i = 0; i < 4 * kWidth; ++i)
    EXPECT_EQ(found[static_cast<size_t>(i)], i / kWidth == 2 ? 0x38u : 0xA5u) << "only slot 2 is written";
  operands.check = true;
  expectCode(Error::Code::slot, "slots[2]");
  places = upload(std::vector<int64_t>{-1, 2, 1, 2});
  operands.slots = places.get();
  expectCode(Error::Code::slot, "new row 3");
  places = upload(std::vector<int64_t>{-1, 2, 1, -2});
  operands.slots = places.get();
  expectCode(Error::Code::slot, "slots[3]");
  places = upload(std::vector<int64_t>{-1, 2, 1, -1});
  operands.slots = places.get();
  EXPECT_NO_THROW(writer->append(operands));
}

TEST_F(SmallWriter, RefusesWhatDoesNotFit) {
  use("e4m3");
  append(std::vector<uint16_t>(2 * kWidth), 1.0f);
  const Append good = operands;
  const std::vector<NewRows> goodParts = parts;
  auto refuses = [&](auto change, Error::Code code, const char *field) {
    operands = good;
    parts = goodParts;
    scalars = {{"kv_scale", 1.0f}};
    change();
    operands.scalars = scalars;
    expectCode(code, field);
  };
  using Code = Error::Code;
  for (float scale : {0.0f, -1.0f, inf, nan_})
    refuses([&] { scalars[0].value = scale; }, Code::scaleValue, "kv_scale");
  refuses([&] { scalars.clear(); }, Code::missingOperand, "kv_scale");
  refuses([&] { parts[1].name = "rop"; }, Code::missingOperand, "rope");
  refuses([&] { parts[0].dtype = DType::bf16; }, Code::operandMismatch, "the dtype of latent");
  refuses([&] { parts[0].dim = 16; }, Code::operandMismatch, "the dim of latent");
  refuses([&] { parts[0].data = 0; }, Code::operandNull, "latent");
  refuses([&] { parts[0].data += 2; }, Code::operandAlignment, "latent");
  refuses([&] { parts[0].strideToken = 18; }, Code::operandAlignment, "the token stride of latent");
  refuses([&] { operands.cache.dtype = DType::e5m2; }, Code::operandMismatch, "the dtype of kv");
  refuses([&] { operands.cache.data = 0; }, Code::operandNull, "kv");
  refuses([&] { operands.cache.stridePage = 3; }, Code::operandAlignment, "the page stride of kv");
  refuses([&] { operands.cache.pageSize = 0; }, Code::pageSize, "the page size");
  refuses([&] { operands.cache.pages = int64_t{1} << 31; }, Code::poolSize, "the pages");
  refuses([&] { operands.rows = int64_t{1} << 31; }, Code::tooLarge, "the new rows");
  refuses([&] { operands.rows = -1; }, Code::tooLarge, "the new rows");
  refuses([&] { operands.slots = 0; }, Code::operandNull, "the slots");
  refuses([&] { operands.slotBytes = 2; }, Code::operandMismatch, "the bytes of a slot");
  refuses([&] { operands.indptr = operands.slots; }, Code::operandMismatch, "the requests");
  operands = good;
  operands.rows = 0;
  operands.slots = 0;
  operands.cache.data = 0;
  EXPECT_NO_THROW(writer->append(operands)) << "no rows need no addresses";
}

// A graph keeps its launch; how many rows there are, it reads from the device.
TEST_F(SmallWriter, ACapturedAppendReadsItsRowsFromTheDevice) {
  use("e4m3");
  append(std::vector<uint16_t>(4 * kWidth, 0x3C00), 1.0f);
  Buffer indptr = upload(std::vector<int32_t>{0, 3});
  operands.indptr = indptr.get();
  operands.requests = 1;
  operands.check = true;
  Stream stream = device->createStream();
  EXPECT_THROW(device->capture(stream, [&] { writer->append(operands, stream); }), Error);
  operands.check = false;
  std::unique_ptr<Graph> graph = device->capture(stream, [&] { writer->append(operands, stream); });
  for (int32_t rows : {0, 1, 3, 4}) {
    pool.fill(0);
    int32_t list[] = {0, rows};
    indptr.copyIn(list, sizeof list);
    graph->replay(stream);
    device->synchronize(stream);
    std::vector<uint8_t> found(pool.size());
    pool.copyOut(found.data(), found.size());
    EXPECT_EQ(std::count(found.begin(), found.end(), 0x38), rows * kWidth);
  }
  device->destroyStream(stream);
}

//===-- Far places --===//

namespace {

/// Ones of 576 e4m3 values into a few slots of a large pool.
class FarWriter : public WriterRun {
protected:
  static constexpr int64_t kWidth = 576;

  /// Appends to the slots and expects ones there and zeros around them.
  void expectWritten(int32_t pageSize, int64_t pages, int64_t stridePage, const std::vector<int64_t> &slots) {
    Writer writer = load(sourceOf("e4m3", "bf16", 512, 64));
    Buffer pool(*device, static_cast<size_t>(kBelow + pages * stridePage), "a large pool");
    DevicePtr base = pool.get() + kBelow;
    auto place = [&](int64_t slot) {
      return base + static_cast<uint64_t>(slot / pageSize) * static_cast<uint64_t>(stridePage) +
             static_cast<uint64_t>(slot % pageSize * kWidth);
    };
    device->fill(pool.get(), 0, kBelow);
    for (int64_t slot : slots)
      device->fill(place(slot), 0, kWidth);
    auto rows = static_cast<int64_t>(slots.size());
    Buffer data = upload(std::vector<uint16_t>(static_cast<size_t>(rows * kWidth), 0x3F80)), places = upload(slots);
    const NewRows parts[] = {{"latent", data.get(), DType::bf16, 512, kWidth}, {"rope", data.get() + 1024, DType::bf16, 64, kWidth}};
    const Scalar scale{"kv_scale", 1.0f};
    Append append{.parts = parts, .rows = rows, .slots = places.get()};
    append.cache = {.data = base, .dtype = DType::e4m3, .dim = kWidth, .strideToken = kWidth, .pages = pages,
                    .pageSize = pageSize, .stridePage = stridePage};
    append.scalars = {&scale, 1};
    writer.append(append);
    std::vector<uint8_t> below(kBelow), row(kWidth);
    device->copyOut(below.data(), pool.get(), kBelow);
    EXPECT_EQ(below, std::vector<uint8_t>(kBelow)) << "the canary below the pool";
    for (int64_t slot : slots) {
      device->copyOut(row.data(), place(slot), kWidth);
      EXPECT_EQ(row, std::vector<uint8_t>(kWidth, 0x38)) << "slot " << slot;
    }
  }

  static constexpr size_t kBelow = 4096;
};

} // namespace

TEST_F(FarWriter, TheLastPageBeyond2To31Bytes) {
  constexpr int64_t pages = (int64_t{1} << 31) / (64 * kWidth) + 2;
  expectWritten(64, pages, 64 * kWidth, {pages * 64 - 1, (pages - 2) * 64 + 3, 0});
}

TEST_F(FarWriter, SlotsOfOneRowBeyond2To31Elements) { expectWritten(1, 3'728'274, kWidth, {3728269, 3728270, 3728271, 3728272}); }

TEST_F(FarWriter, PagesFarApart) { expectWritten(64, 2000, 1'077'120, {1993 * 64, 1994 * 64, 1999 * 64 + 63}); }

//===-- Written, then read --===//

namespace {

constexpr const char *kDecode = R"(
  kernel decode(q : ragged bf16[heads = 32, 576], kv : paged e4m3[576], kv_scale : f32, sm_scale : f32)
    -> (o : ragged bf16[heads = 32, 512], lse : log2) compute f16
  {
    let k = dequant(kv) * kv_scale;
    let s = causal(dot(q, k) * sm_scale);
    o   = softmax(s) @ k[0:512];
    lse = logsumexp(s);
  })";

} // namespace

/// A cache filled by two appends by request lists, and attended to by a plan of the same lists.
TEST_F(WriterRun, WhatIsAppendedIsAttendedTo) {
  Kernel kernel = jit::load(device, kDecode);
  Live live(*device, kernel.info(), {{2, 1, 1}, {37, 1, 65}, 16, 3});
  reference::HostOperands &host = live.host();
  reference::HostTensor &cache = *host.find(Role::cache);
  const float scale = host.scalars.at("kv_scale"); // 0.5: its products are exact in bf16
  // The values that the cache stands for, request after request; then an empty cache.
  std::vector<std::vector<uint16_t>> rows(3);
  for (int64_t r = 0; r < 3; ++r)
    for (int64_t token = 0; token < host.shape.kvLens[static_cast<size_t>(r)]; ++token)
      for (int64_t d = 0; d < 576; ++d) {
        double value = reference::decode(DType::e4m3, cache.data()[host.cacheRow(cache, r, token) + d]);
        rows[static_cast<size_t>(r)].push_back(static_cast<uint16_t>(reference::encode(DType::bf16, value * scale)));
      }
  Buffer pool(*device, cache.bytes.size(), "an empty cache");
  pool.fill(0x7F);
  Writer writer = load(sourceOf("e4m3", "bf16", 512, 64));
  Operands operands = live.operands();
  operands.cache.data = pool.get() + static_cast<uint64_t>(cache.offset);
  auto appendTo = [&](const std::vector<int32_t> &from, const std::vector<int32_t> &to) {
    std::vector<uint16_t> fresh;
    std::vector<int32_t> indptr{0};
    for (size_t r = 0; r < 3; ++r) {
      fresh.insert(fresh.end(), rows[r].begin() + 576 * from[r], rows[r].begin() + 576 * to[r]);
      indptr.push_back(indptr.back() + to[r] - from[r]);
    }
    Buffer data = upload(fresh), ends = upload(indptr), lengths = upload(to);
    const NewRows parts[] = {{"latent", data.get(), DType::bf16, 512, 576}, {"rope", data.get() + 1024, DType::bf16, 64, 576}};
    const Scalar scalar{"kv_scale", scale};
    Append append{.parts = parts, .rows = indptr.back(), .requests = 3, .indptr = ends.get(), .kvLen = lengths.get(),
                  .tableColumns = live.lengths().tableColumns, .cache = operands.cache, .scalars = {&scalar, 1}, .check = true};
    writer.append(append);
    device->synchronize();
  };
  appendTo({0, 0, 0}, {35, 0, 64});
  appendTo({35, 0, 64}, {37, 1, 65});
  std::vector<uint8_t> found(cache.bytes.size());
  pool.copyOut(found.data(), found.size());
  EXPECT_EQ(found, cache.bytes) << "every row in its place, and nothing else";
  Config config;
  config.capacity = live.capacity();
  Buffer workspace(*device, kernel.workspaceSize(config) + 1, "workspace");
  BatchPlan plan = kernel.prepare(config, {workspace.get(), workspace.size()});
  plan.plan(live.lengths());
  plan.run(operands);
  reference::Report report = live.check();
  EXPECT_TRUE(report.passed()) << report.toText();
}

/// A scale of the whole row: taken from the latent part alone it would make the rope part saturate.
TEST_F(WriterRun, OneScaleCoversBothParts) {
  std::mt19937 random(25);
  std::normal_distribution<float> normal(0.0f, 0.05f);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  constexpr int64_t rows = 8;
  std::vector<uint16_t> codes;
  float most = 0;
  for (int64_t i = 0; i < rows * 576; ++i) {
    auto code = static_cast<uint16_t>(reference::encode(DType::bf16, i % 576 < 512 ? normal(random) : uniform(random)));
    most = std::max(most, std::fabs(static_cast<float>(reference::decode(DType::bf16, code))));
    codes.push_back(code);
  }
  Writer writer = load(sourceOf("e4m3", "bf16", 512, 64));
  Buffer data = upload(codes), slots = upload(std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}), pool(*device, rows * 576, "the pool");
  const NewRows parts[] = {{"latent", data.get(), DType::bf16, 512, 576}, {"rope", data.get() + 1024, DType::bf16, 64, 576}};
  const Scalar scale{"kv_scale", most / 448};
  Append append{.parts = parts, .rows = rows, .slots = slots.get(), .slotBytes = 4};
  append.cache = {.data = pool.get(), .dtype = DType::e4m3, .dim = 576, .strideToken = 576, .pages = 2, .pageSize = 4,
                  .stridePage = 4 * 576};
  append.scalars = {&scale, 1};
  writer.append(append);
  std::vector<uint8_t> found(rows * 576);
  pool.copyOut(found.data(), found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    double x = reference::decode(DType::bf16, codes[i]), back = reference::decode(DType::e4m3, found[i]) * scale.value;
    // Below 2^-6 of the scale e4m3 is subnormal, with steps of 2^-9.
    ASSERT_LE(std::fabs(back - x), std::max(std::fabs(x) / 16, scale.value * 0x1p-10)) << "element " << i % 576;
  }
}

//===-- Loading --===//

TEST_F(WriterRun, KernelsAndWritersAreLoadedAsWhatTheyAre) {
  const std::string both = std::string(kDecode) + sourceOf("e4m3", "bf16", 512, 64);
  EXPECT_EQ(load(both).name(), "append");
  EXPECT_EQ(jit::load(device, both).name(), "decode");
  EXPECT_THROW(load(kDecode), Error);
  EXPECT_THROW(jit::load(device, sourceOf("e4m3", "bf16", 512, 64)), Error);
}

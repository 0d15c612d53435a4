// The matrix of what can be declared: family x layout x storage x compute type x mask. Every cell matches the
// float64 reference, or is refused by the rule that the table of refusals names; there is no third outcome.
//
// A new layout, storage format, family or mask is a line of its table. One cell in `kSample` is tried;
// MLAC_MATRIX=all tries them all.
#include "test/unit/pipeline/Bench.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

namespace mlac::test {
namespace {

constexpr int kHeads = 4;
constexpr uint64_t kSample = 5;

//===-- The axes --===//

struct Family {
  const char *name;
  int kvHeads; // 0: one latent row for all heads
  std::vector<int32_t> qLens, kvLens;

  bool isPrefill() const { return kvHeads > 0; }
};

const Family kFamilies[] = {
    {"decode", 0, {1, 1, 1}, {40, 0, 17}},     {"verify", 0, {3, 2, 3}, {33, 2, 64}},
    {"extend", 0, {17, 9}, {40, 9}},           {"prefill", 4, {20, 17, 0}, {20, 17, 3}},
    {"grouped_prefill", 2, {33, 5}, {33, 40}}, {"chunk", 1, {9, 3}, {50, 0}},
};

const char *const kLayouts[] = {"paged", "ragged"};

struct Storage {
  const char *name;
  bool scaled; // read as dequant(x) * scale
  const char *record = nullptr; // parts of a row 80 wide, the last 64 of which are the value
};

const Storage kStorage[] = {
    {"bf16", false}, {"f16", false},
    {"e4m3", true},  {"e5m2", true},
    {"int8", true},  {"record", false, "rope : bf16[16]; latent : e4m3[64] scaled f32 per 32 inline"}};

const char *const kCompute[] = {"f16", "bf16", "e4m3"};

struct Mask {
  const char *name;
  const char *scores; // of the scaled scores s
  const char *operands = "";
  bool sink = false;
};

const Mask kMasks[] = {
    {"none", "s"},
    {"causal", "causal(s)"},
    {"window", "window(causal(s), left = 9)"},
    {"open_window", "window(s, left = 9)"},
    {"softcap", "causal(softcap(s, 2.0))"},
    {"alibi", "causal(alibi(s, slopes))", ", slopes : f32[4]"},
    {"keep", "keep(s, kv_pos <= q_pos or kv_pos < 8)"},
    {"negated", "causal(-0.5 * s)"},
    {"sink", "causal(s)", ", sinks : f32[4]", true},
};

struct Cell {
  const Family &family;
  const char *layout;
  const Storage &storage;
  const char *compute;
  const Mask &mask;

  bool computes(std::string_view type) const { return type == compute; }
  bool stores(std::string_view type) const { return type == storage.name; }
  std::string name() const {
    return fmt::format("{} {} {} {} {}", family.name, layout, storage.name, compute, mask.name);
  }
  std::string text() const;
};

//===-- What is refused --===//

struct Refusal {
  const char *rule;
  bool (*of)(const Cell &);
};

/// The first that holds is the one that is reported.
const Refusal kRefusals[] = {
    {"kernel-compute", [](const Cell &c) { return c.computes("e4m3"); }},
    {"kv-heads", [](const Cell &c) { return c.family.isPrefill() && c.storage.record; }},
    {"kv-layout",
     [](const Cell &c) { return c.family.isPrefill() && c.layout != std::string_view("ragged"); }},
    {"target-conversion", [](const Cell &c) { return c.stores("e5m2") && c.computes("bf16"); }},
};

const char *ruleAgainst(const Cell &cell) {
  for (const Refusal &refusal : kRefusals)
    if (refusal.of(cell))
      return refusal.rule;
  return nullptr;
}

//===-- Programs --===//

std::string Cell::text() const {
  auto buffer = [&](const char *name, int width) {
    if (storage.record)
      return fmt::format("{} : {} record {{ {} }} align 8", name, layout, storage.record);
    std::string heads = family.isPrefill() ? fmt::format("heads = {}, ", family.kvHeads) : "";
    return fmt::format("{} : {} {}[{}{}]", name, layout, storage.name, heads, width);
  };
  auto rows = [&](const std::string &name) {
    std::string read = stores(compute) ? name : "dequant(" + name + ")";
    return storage.scaled ? "(" + read + " * kv_scale)" : read;
  };
  bool prefill = family.isPrefill();
  std::string buffers = prefill ? buffer("keys", 48) + ", " + buffer("values", 32) : buffer("kv", 80);
  return fmt::format("kernel attention(q : ragged bf16[heads = {}, {}], {}, {}sm_scale : f32{})\n"
                     "  -> (o : ragged bf16[heads = {}, {}], lse : log2) compute {}\n"
                     "{{\n"
                     "  let k = {};\n"
                     "  let v = {};\n"
                     "  let s = dot(q, k) * sm_scale;\n"
                     "  let t = {};\n"
                     "  o   = softmax({}) @ v;\n"
                     "  lse = logsumexp(t);\n"
                     "}}\n",
                     kHeads, prefill && !storage.record ? 48 : 80, buffers,
                     storage.scaled ? "kv_scale : f32, " : "", mask.operands, kHeads, prefill ? 32 : 64,
                     compute, rows(prefill ? "keys" : "kv"),
                     prefill          ? rows("values")
                     : storage.record ? "k[16:80]"
                                      : "k[0:64]",
                     mask.scores, mask.sink ? "sink(t, sinks)" : "t");
}

//===-- Tests --===//

void expectOneOfTwo(const Cell &cell) {
  std::string text = cell.text();
  SCOPED_TRACE(cell.name() + "\n" + text);
  std::string message = refusal(text);
  if (const char *rule = ruleAgainst(cell)) {
    EXPECT_NE(message.find(fmt::format("[{}]", rule)), std::string::npos)
        << "not refused by " << rule << ": " << message;
    return;
  }
  ASSERT_EQ(message, "");
  Bench bench(text);
  mla::reference::Report report =
      bench.check({.qLens = cell.family.qLens, .kvLens = cell.family.kvLens, .pageSize = 16, .seed = 3});
  EXPECT_TRUE(report.passed()) << report.toText();
}

/// Whether a cell is of the sample: by its name alone, so that a new line of a table leaves the others' cells
/// as they are.
bool isSampled(const Cell &cell) {
  uint64_t mixed = 0xCBF29CE484222325;
  for (char c : cell.name())
    mixed = (mixed ^ uint64_t(c)) * 0x100000001B3;
  return (mixed >> 47) % kSample == 0;
}

bool isWhole() {
  const char *wanted = std::getenv("MLAC_MATRIX");
  return wanted && wanted == std::string_view("all");
}

/// Calls `use(cell)` for the cells of a family and a storage format that are tried.
template <typename Use>
void forEachCell(size_t family, size_t storage, bool whole, Use use) {
  for (const char *layout : kLayouts)
    for (const char *compute : kCompute)
      for (const Mask &mask : kMasks)
        if (Cell cell{kFamilies[family], layout, kStorage[storage], compute, mask}; whole || isSampled(cell))
          use(cell);
}

class Matrix : public testing::TestWithParam<std::tuple<size_t, size_t>> {};

TEST_P(Matrix, CellsAreRightOrRefused) {
  auto [family, storage] = GetParam();
  forEachCell(family, storage, isWhole(), expectOneOfTwo);
}

INSTANTIATE_TEST_SUITE_P(Pipeline, Matrix,
                         testing::Combine(testing::Range<size_t>(0, std::size(kFamilies)),
                                          testing::Range<size_t>(0, std::size(kStorage))),
                         [](const auto &info) {
                           return fmt::format("{}_{}", kFamilies[std::get<0>(info.param)].name,
                                              kStorage[std::get<1>(info.param)].name);
                         });

/// Of what is accepted, every family with every storage format, and every mask in both kinds of kernels.
TEST(MatrixSample, LeavesNoAxisOut) {
  std::set<std::string> axes[2]; // of the sample, and of all that is accepted
  for (bool whole : {false, true})
    for (size_t family = 0; family < std::size(kFamilies); ++family)
      for (size_t storage = 0; storage < std::size(kStorage); ++storage)
        forEachCell(family, storage, whole, [&](const Cell &cell) {
          if (ruleAgainst(cell))
            return;
          axes[whole].insert(fmt::format("{} {}", cell.family.name, cell.storage.name));
          axes[whole].insert(
              fmt::format("{} {}", cell.family.isPrefill() ? "prefill" : "decode", cell.mask.name));
        });
  EXPECT_EQ(axes[false], axes[true]);
}

} // namespace
} // namespace mlac::test

// Merging results over disjoint contexts.
#include "Rig.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace mla;
using namespace mla::test;

namespace {

/// A state in device memory, with strides of its own.
class HeldState {
public:
  HeldState(Device &device, const Kernel &kernel, int64_t rows, int64_t gap)
      : heads(kernel.heads()), dims(kernel.vDim()), rows(rows), strideHead(dims + 8 * gap),
        strideToken(heads * strideHead + 8 * gap), lseStride(heads + gap),
        out(static_cast<size_t>(rows * strideToken), 0xFFFF), lse(static_cast<size_t>(rows * lseStride), NAN),
        outBuffer(device, out.size() * 2 + 16, "state output"),
        lseBuffer(device, lse.size() * 4 + 16, "state lse") {}

  /// Random values; an empty row's output is NaN, which nobody may read.
  void randomise(std::mt19937 &random, double emptyShare) {
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<double> uniform;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t head = 0; head < heads; ++head) {
        bool empty = uniform(random) < emptyShare;
        lse[static_cast<size_t>(row * lseStride + head)] =
            empty ? -std::numeric_limits<float>::infinity() : 3 * normal(random);
        for (int64_t d = 0; d < dims; ++d)
          at(row, head, d) = empty ? 0x7FC1 : bf16(d % 17 == 0 ? -0.0f : normal(random));
      }
  }

  State state(bool upload = true) {
    if (upload) {
      outBuffer.copyIn(out.data(), out.size() * 2);
      lseBuffer.copyIn(lse.data(), lse.size() * 4);
    }
    return {{outBuffer.get(), DType::bf16, rows, heads, dims, strideToken, strideHead},
            {lseBuffer.get(), DType::f32, rows, heads, 1, lseStride, 1}};
  }

  void download() {
    outBuffer.copyOut(out.data(), out.size() * 2);
    lseBuffer.copyOut(lse.data(), lse.size() * 4);
  }

  static uint16_t bf16(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return static_cast<uint16_t>(bits >> 16);
  }
  static double wide(uint16_t code) {
    uint32_t bits = uint32_t{code} << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }

  uint16_t &at(int64_t row, int64_t head, int64_t d) {
    return out[static_cast<size_t>(row * strideToken + head * strideHead + d)];
  }
  float &lseAt(int64_t row, int64_t head) { return lse[static_cast<size_t>(row * lseStride + head)]; }

  int64_t heads, dims, rows, strideHead, strideToken, lseStride;
  std::vector<uint16_t> out;
  std::vector<float> lse;

private:
  Buffer outBuffer, lseBuffer;
};

/// Bitwise where at most one state has something, else within bf16's and f32's rounding.
void checkRow(std::vector<std::unique_ptr<HeldState>> &states, HeldState &merged, int64_t row, int64_t head,
              double toLog2) {
  double top = -INFINITY, sum = 0;
  HeldState *only = nullptr;
  int present = 0;
  for (auto &state : states)
    if (double lse = state->lseAt(row, head); lse != -INFINITY) {
      top = std::max(top, lse);
      only = state.get();
      ++present;
    }
  for (auto &state : states)
    if (present)
      sum += std::exp2((state->lseAt(row, head) - top) * toLog2);
  float lse = merged.lseAt(row, head);
  if (present < 2) {
    EXPECT_EQ(lse, present ? only->lseAt(row, head) : -INFINITY);
  } else {
    EXPECT_NEAR(lse, top + std::log2(sum) / toLog2, 1e-4);
  }
  for (int64_t d = 0; d < merged.dims; ++d) {
    if (present < 2) {
      ASSERT_EQ(merged.at(row, head, d), present ? only->at(row, head, d) : 0)
          << row << " " << head << " " << d;
      continue;
    }
    double value = 0, size = 0;
    for (auto &state : states)
      if (double own = state->lseAt(row, head); own != -INFINITY) {
        double part = std::exp2((own - top) * toLog2) / sum * HeldState::wide(state->at(row, head, d));
        value += part;
        size += std::abs(part);
      }
    double launches = static_cast<double>(std::max<size_t>(1, (states.size() + 5) / 7));
    ASSERT_NEAR(HeldState::wide(merged.at(row, head, d)), value, size * (0x1p-8 + launches * 0x1p-8) + 1e-6);
  }
}

class Merge : public DeviceCase {
protected:
  void mergeAndCheck(Program program, size_t count, double emptyShare) {
    Kernel kernel = rig->load(program);
    std::mt19937 random(static_cast<unsigned>(count));
    int64_t rows = rig->full ? 500 : 5;
    std::vector<std::unique_ptr<HeldState>> states;
    std::vector<State> list;
    for (size_t i = 0; i < count; ++i) {
      states.push_back(std::make_unique<HeldState>(device(), kernel, rows, static_cast<int64_t>(i)));
      states.back()->randomise(random, emptyShare);
      list.push_back(states.back()->state());
    }
    HeldState merged(device(), kernel, rows, 3);
    kernel.merge(list, merged.state());
    merged.download();
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t head = 0; head < kernel.heads(); ++head)
        checkRow(states, merged, row, head, program == Program::ln ? std::log2(std::exp(1.0)) : 1.0);
  }
};

} // namespace

TEST_F(Merge, OneToEightStates) {
  for (size_t count : {1, 2, 3, 8})
    for (Program program : {Program::decode, Program::ln})
      mergeAndCheck(program, count, 0.25);
}

/// Of several launches, every one rounds what it has so far.
TEST_F(Merge, AnyNumberOfStates) {
  for (size_t count : {9, 15, 16, 40})
    for (Program program : {Program::decode, Program::ln}) {
      mergeAndCheck(program, count, 0.25);
      mergeAndCheck(program, count, 0.97);
    }
  mergeAndCheck(Program::decode, 23, 1.0);
}

/// The state that the result is stored over counts in full, also where it is the last of many.
TEST_F(Merge, IntoTheLastOfMany) {
  Kernel kernel = rig->load(Program::decode);
  std::mt19937 random(4);
  std::vector<std::unique_ptr<HeldState>> states;
  std::vector<State> list;
  for (int64_t i = 0; i < 19; ++i) {
    states.push_back(std::make_unique<HeldState>(device(), kernel, 4, i % 3));
    states.back()->randomise(random, 0.3);
    list.push_back(states.back()->state());
  }
  HeldState into(device(), kernel, 4, 18 % 3);
  into.out = states.back()->out;
  into.lse = states.back()->lse;
  list.back() = into.state();
  kernel.merge(list, list.back());
  into.download();
  for (int64_t row = 0; row < 4; ++row)
    for (int64_t head = 0; head < kernel.heads(); ++head)
      checkRow(states, into, row, head, 1.0);
}

TEST_F(Merge, EmptiesMergeToEmpty) { mergeAndCheck(Program::decode, 3, 1.0); }

TEST_F(Merge, MostlyEmpty) { mergeAndCheck(Program::decode, 2, 0.5); }

TEST_F(Merge, IntoOneOfTheStates) {
  Kernel kernel = rig->load(Program::decode);
  std::mt19937 random(1);
  HeldState a(device(), kernel, 4, 1), b(device(), kernel, 4, 2), apart(device(), kernel, 4, 1);
  a.randomise(random, 0.2);
  b.randomise(random, 0.2);
  std::vector<State> list{a.state(), b.state()};
  kernel.merge(list, apart.state());
  apart.download();
  kernel.merge(list, list[0]);
  a.download();
  for (int64_t row = 0; row < 4; ++row)
    for (int64_t head = 0; head < kernel.heads(); ++head) {
      EXPECT_EQ(a.lseAt(row, head), apart.lseAt(row, head));
      EXPECT_EQ(
          std::memcmp(&a.at(row, head, 0), &apart.at(row, head, 0), static_cast<size_t>(2 * kernel.vDim())),
          0);
    }
}

TEST_F(Merge, RefusesWhatItCannotTake) {
  Kernel kernel = rig->load(Program::decode);
  HeldState state(device(), kernel, 2, 0);
  std::vector<State> none, one{state.state()};
  auto code = [&](const std::vector<State> &list, const State &into) {
    try {
      kernel.merge(list, into);
    } catch (const Error &error) {
      return std::string(name(error.code));
    }
    return std::string("accepted");
  };
  EXPECT_EQ(code(none, one[0]), "mergeCount");
  State bad = one[0];
  bad.out.dtype = DType::f16;
  EXPECT_EQ(code(one, bad), "operandMismatch");
  bad = one[0];
  bad.lse.rows = 1;
  EXPECT_EQ(code(one, bad), "operandMismatch");
  bad = one[0];
  bad.lse.data = 0;
  EXPECT_EQ(code(one, bad), "operandNull");
  bad = one[0];
  bad.out.data += 1;
  EXPECT_EQ(code(one, bad), "operandAlignment");
  EXPECT_EQ(code(one, one[0]), "accepted") << "the kernel is still usable";
}

TEST_F(Merge, ChunksOfAContextGiveTheWhole) {
  Kernel kernel = rig->load(Program::plain);
  int32_t context = rig->full ? 40000 : 400, chunk = rig->full ? 16384 : 150;
  Live whole(device(), kernel.info(), {{1, 1}, {0, context}, 1, 3});
  ASSERT_TRUE(runAndCheck(kernel, whole));
  Bits expected = whole.bits();
  // The chunks read the same pool through tables that start later: with pages of 1, table columns are tokens.
  std::vector<std::unique_ptr<HeldState>> parts;
  std::vector<State> states;
  for (int32_t begin = 0; begin < context; begin += chunk) {
    int32_t length = std::min(chunk, context - begin);
    parts.push_back(std::make_unique<HeldState>(device(), kernel, 2, 0));
    states.push_back(parts.back()->state());
    Config config;
    config.capacity = {2, 2};
    Planned plan(kernel, config);
    std::vector<int32_t> indptr{0, 1, 2}, lengths{0, length};
    Lengths part = whole.lengths();
    part.qIndptr = indptr;
    part.kvLen = lengths;
    plan->plan(part);
    Operands operands = whole.operands();
    operands.cache.table += static_cast<uint64_t>(begin) * sizeof(int32_t);
    operands.out = states.back().out;
    operands.lse = states.back().lse;
    plan->run(operands);
    device().synchronize();
  }
  HeldState merged(device(), kernel, 2, 0);
  kernel.merge(states, merged.state());
  merged.download();
  for (int64_t head = 0; head < kernel.heads(); ++head) {
    EXPECT_EQ(merged.lseAt(0, head), -INFINITY) << "no chunk has anything for request 0";
    float lse;
    std::memcpy(&lse, &expected.lse[static_cast<size_t>((kernel.heads() + head) * 4)], 4);
    EXPECT_NEAR(merged.lseAt(1, head), lse, 1e-3);
    double error = 0, size = 0;
    for (int64_t d = 0; d < kernel.vDim(); ++d) {
      EXPECT_EQ(merged.at(0, head, d), 0);
      uint16_t code;
      std::memcpy(&code,
                  &expected.out[static_cast<size_t>(((kernel.heads() + head) * kernel.vDim() + d) * 2)], 2);
      error += std::pow(HeldState::wide(merged.at(1, head, d)) - HeldState::wide(code), 2);
      size += std::pow(HeldState::wide(code), 2);
    }
    EXPECT_LT(std::sqrt(error / size), 8e-3);
  }
}

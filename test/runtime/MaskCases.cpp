// LSE base, causal alignment and several query tokens a request.
#include "Rig.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace mla;
using namespace mla::test;

using Masks = DeviceCase;

static std::vector<float> floats(const std::vector<uint8_t> &bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST_F(Masks, BasesAgree) {
  Kernel log2 = rig->load(Program::plain), ln = rig->load(Program::ln);
  reference::BatchShape shape{{1, 2}, {300, 65}, 16};
  Live first(device(), log2.info(), shape), second(device(), ln.info(), shape);
  for (bool split : {false, true}) {
    Config config;
    config.split = split;
    std::vector<float> a = floats(runBits(log2, first, config).lse),
                       b = floats(runBits(ln, second, config).lse);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(a[i] * std::log(2.0f), b[i], 2e-3f) << "row " << i << (split ? ", split" : "");
  }
}

TEST_F(Masks, CausalIsAlignedAtTheEnd) {
  Kernel kernel = rig->load(Program::decode);
  std::vector<int32_t> q{2, 5, 33, 64, 1, 1, 9}, kv{3, 6, 97, 64, 130, 1, 4};
  Live live(device(), kernel.info(), {q, kv, 16});
  reference::HostTensor &query = *live.host().find(Role::query);
  std::fill(query.bytes.begin(), query.bytes.end(), 0); // uniform weights show the mask row by row
  live.upload();
  EXPECT_TRUE(runAndCheck(kernel, live))
      << "the last request has more queries than keys: rows that see nothing";
}

TEST_F(Masks, ThreeTokensEach) {
  Kernel kernel = rig->load(Program::decode);
  size_t batch = rig->full ? 256 : 12;
  std::vector<int32_t> q(batch, 3), kv(batch);
  for (size_t r = 0; r < batch; ++r)
    kv[r] = static_cast<int32_t>(3 + r * 37 % (rig->full ? 2000 : 100));
  Live live(device(), kernel.info(), {q, kv, 16});
  EXPECT_TRUE(runAndCheck(kernel, live)) << "table entries past a request are 0x7FFFFFFF";
}

//===-- Windows, edits and sinks --===//

TEST_F(Masks, WindowsAreSkippedInThePlan) {
  if (!rig->exact)
    GTEST_SKIP() << "the reference functions edit no scores";
  Kernel kernel = rig->load(Program::edited);
  EXPECT_EQ(kernel.window(), 100);
  EXPECT_EQ(std::vector<std::string>(kernel.headValues().begin(), kernel.headValues().end()),
            (std::vector<std::string>{"slopes", "sinks"}));
  Live live(device(), kernel.info(), {{1, 3, 1}, {2000, 90, 0}, 16});
  for (Deterministic mode : {Deterministic::run, Deterministic::batch})
    for (bool split : {true, false}) {
      Config config;
      config.window = 100;
      config.split = split;
      config.deterministic = mode;
      EXPECT_TRUE(runAndCheck(kernel, live, config));
    }
  Config config;
  config.capacity = live.capacity();
  Planned plan(kernel, config);
  plan->plan(live.lengths());
  int64_t tokens = kernel.info().tile.tokens;
  EXPECT_EQ(plan->stats().skippedTiles, (2000 - 1 - 100) / tokens);
  config.window = -1;
  std::string why;
  EXPECT_FALSE(kernel.supports(config, &why));
  EXPECT_NE(why.find("the window"), std::string::npos) << why;
}

TEST_F(Masks, HeadValuesAreChecked) {
  if (!rig->exact)
    GTEST_SKIP() << "the reference functions take no head values";
  Kernel kernel = rig->load(Program::edited);
  Live live(device(), kernel.info(), {{1}, {50}, 16});
  Config config;
  config.capacity = live.capacity();
  Planned plan(kernel, config);
  plan->plan(live.lengths());
  std::vector<HeadValues> good(live.operands().headValues.begin(), live.operands().headValues.end());
  auto codeWith = [&](auto change) {
    std::vector<HeadValues> values = good;
    change(values);
    live.operands().headValues = values;
    try {
      plan->checkOperands(live.operands());
    } catch (const Error &error) {
      return std::string(name(error.code));
    }
    return std::string("accepted");
  };
  EXPECT_EQ(codeWith([](auto &) {}), "accepted");
  EXPECT_EQ(codeWith([](auto &values) { values.pop_back(); }), "missingOperand");
  EXPECT_EQ(codeWith([](auto &values) { values[0].heads = 7; }), "operandMismatch");
  EXPECT_EQ(codeWith([](auto &values) { values[1].data = 0; }), "operandNull");
  EXPECT_EQ(codeWith([](auto &values) { values[1].data += 2; }), "operandAlignment");
  live.operands().headValues = good;
  // The cap of an edit is no scale: any finite value.
  std::vector<Scalar> scalars(live.operands().scalars.begin(), live.operands().scalars.end());
  auto cap = std::find_if(scalars.begin(), scalars.end(), [](const Scalar &s) { return s.name == "cap"; });
  live.operands().scalars = scalars;
  cap->value = -1;
  EXPECT_NO_THROW(plan->checkOperands(live.operands()));
  cap->value = std::nanf("");
  EXPECT_THROW(plan->checkOperands(live.operands()), Error);
}

/// Of an empty context the state is the sink alone: no output, and a log-sum-exp that a merge counts.
TEST_F(Masks, EmptyContextWithASink) {
  if (!rig->exact)
    GTEST_SKIP() << "the reference functions edit no scores";
  Kernel kernel = rig->load(Program::edited);
  Live live(device(), kernel.info(), {{1}, {0}, 16});
  EXPECT_TRUE(runAndCheck(kernel, live));
  float lse = floats(live.bits().lse).at(0);
  EXPECT_NEAR(lse, live.host().headValue("sinks", 0) * std::log2(std::exp(1.0)), 1e-5);
}

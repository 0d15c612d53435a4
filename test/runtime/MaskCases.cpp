// LSE base, causal alignment and several query tokens a request.
#include "Rig.h"

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

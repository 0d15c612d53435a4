// Empty work, padding and what lies past a request's end. Reference operands hold NaN codes wherever no
// request owns a byte, and outputs start as NaN: every case that passes has read and left nothing there.
#include "Rig.h"

using namespace mla;
using namespace mla::test;

using EmptyWork = DeviceCase;

TEST_F(EmptyWork, PageTailsHoldNaN) {
  Kernel kernel = rig->load(Program::decode);
  Live four(device(), kernel.info(), {{1}, {13}, 4});
  EXPECT_TRUE(runAndCheck(kernel, four));
  Live sixtyFour(device(), kernel.info(), {{1, 1, 1, 1}, {1, 63, 64, 65}, 64});
  EXPECT_TRUE(runAndCheck(kernel, sixtyFour));
}

TEST_F(EmptyWork, RecycledPages) {
  Kernel kernel = rig->load(Program::decode);
  Live live(device(), kernel.info(), {{1, 1}, {70, 5}, 16});
  reference::HostTensor &cache = *live.host().find(Role::cache);
  std::vector<uint8_t> poisoned = cache.bytes;
  Bits first = runBits(kernel, live);
  for (size_t i = 0; i < cache.bytes.size(); ++i)
    if (reference::HostTensor &now = *live.host().find(Role::cache); now.bytes[i] == 0x7F)
      now.bytes[i] = i % 2 ? 0xFF : 0x00;
  live.upload();
  EXPECT_EQ(runBits(kernel, live), first) << "what a recycled page holds reached a result";
}

TEST_F(EmptyWork, PaddedRequests) {
  Kernel kernel = rig->load(Program::decode);
  Live live(device(), kernel.info(), {{1, 1, 1, 1}, {0, 5, 0, 64}, 16});
  EXPECT_TRUE(runAndCheck(kernel, live)) << "requests 0 and 2 give 0 and -inf";
}

TEST_F(EmptyWork, QueriesWithoutContext) {
  for (Program program : {Program::plain, Program::decode}) {
    Kernel kernel = rig->load(program);
    Live live(device(), kernel.info(), {{5, 5, 1, 5}, {0, 128, 0, 1}, 16});
    EXPECT_TRUE(runAndCheck(kernel, live));
  }
}

TEST_F(EmptyWork, EmptySetIsMinusInfinityOnEveryPath) {
  for (Program program : {Program::plain, Program::decode, Program::ln})
    for (bool split : {false, true}) {
      Kernel kernel = rig->load(program);
      Live live(device(), kernel.info(), {{1, 1}, {0, 300}, 16});
      Config config;
      config.split = split;
      EXPECT_TRUE(runAndCheck(kernel, live, config));
    }
}

TEST_F(EmptyWork, NothingAtAll) {
  Kernel kernel = rig->load(Program::decode);
  Live none(device(), kernel.info(), {{}, {}, 16});
  EXPECT_TRUE(runAndCheck(kernel, none));
  Live noQueries(device(), kernel.info(), {{0, 0, 0}, {5, 0, 70}, 16});
  noQueries.operands().query.data = 0;
  noQueries.operands().out.data = 0;
  noQueries.operands().lse.data = 0;
  EXPECT_TRUE(runAndCheck(kernel, noQueries));
  Live noCache(device(), kernel.info(), {{1}, {0}, 16});
  noCache.operands().cache.data = 0;
  noCache.operands().cache.table = 0;
  EXPECT_TRUE(runAndCheck(kernel, noCache)) << "an empty pool may have no address";
}

TEST_F(EmptyWork, NothingAtAllInAGraph) {
  Kernel kernel = rig->load(Program::decode);
  Live live(device(), kernel.info(), std::vector<reference::BatchShape>{{{}, {}, 16}, {{1, 1}, {33, 0}, 16}});
  Config config;
  config.capacity = live.capacity();
  config.graph = true;
  Planned plan(kernel, config);
  plan->plan(live.lengths());
  Stream stream = device().createStream();
  auto graph = device().capture(stream, [&] { plan->run(live.operands(), stream); });
  graph->replay(stream);
  device().synchronize(stream);
  EXPECT_TRUE(live.check().passed());
  device().destroyStream(stream);
}

TEST_F(EmptyWork, UniformWeightsAverageTheValues) {
  for (Program program : {Program::plain, Program::decode})
    for (int32_t length : {1, 255, 257}) {
      Kernel kernel = rig->load(program);
      Live live(device(), kernel.info(), {{1}, {length}, 64});
      reference::HostTensor &query = *live.host().find(Role::query);
      std::fill(query.bytes.begin(), query.bytes.end(), 0);
      live.upload();
      EXPECT_TRUE(runAndCheck(kernel, live)) << "length " << length;
    }
}

TEST_F(EmptyWork, MoreRequestsThanAGridDimensionHolds) {
  Kernel kernel = rig->load(Program::decode);
  for (int32_t batch : rig->full ? std::vector<int32_t>{65535, 65536, 80000} : std::vector<int32_t>{300}) {
    std::vector<int32_t> ones(static_cast<size_t>(batch), 1);
    Live live(device(), kernel.info(), {ones, ones, 16});
    EXPECT_TRUE(runAndCheck(kernel, live)) << batch << " requests";
  }
}

// Random batches, one after another, with every result checked.
#include "Rig.h"

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

using namespace mla;
using namespace mla::test;

namespace {

reference::BatchShape randomShape(std::mt19937 &random, int32_t longest, size_t mostRequests) {
  auto below = [&](uint32_t bound) { return static_cast<int32_t>(random() % bound); };
  constexpr int32_t pages[] = {1, 16, 64, 256};
  reference::BatchShape shape{{}, {}, pages[below(4)], random()};
  for (size_t requests = random() % (mostRequests + 1); requests; --requests) {
    shape.qLens.push_back(below(4));
    shape.kvLens.push_back(below(3) == 0 ? below(3) : below(static_cast<uint32_t>(longest)));
  }
  return shape;
}

class Soak : public DeviceCase {
protected:
  /// MLAC_SOAK_SECONDS, or 0: a number of rounds.
  static double seconds() {
    const char *text = std::getenv("MLAC_SOAK_SECONDS");
    return text ? std::atof(text) : 0;
  }

  /// Rounds of new batches through one plan on one stream; gives how many had a wrong result.
  void rounds(const Kernel &kernel, unsigned seed, bool graph, int &done, int &wrong) {
    std::mt19937 random(seed);
    Config config;
    config.capacity = {20, 60, 0};
    config.graph = graph;
    config.deterministic = seed % 2 ? Deterministic::batch : Deterministic::run;
    Planned plan(kernel, config);
    Stream stream = device().createStream();
    auto start = std::chrono::steady_clock::now();
    auto more = [&] {
      if (seconds() > 0)
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds();
      return done < (rig->full ? 250 : rig->exact ? 3 : 40);
    };
    for (; more(); ++done) {
      Live live(device(), kernel.info(), randomShape(random, rig->full ? 2000 : 150, rig->full ? 12 : 4));
      plan->plan(live.lengths(), stream);
      plan->run(live.operands(), stream);
      device().synchronize(stream);
      wrong += !live.check().passed() || !plan.canariesIntact();
    }
    device().destroyStream(stream);
  }
};

} // namespace

TEST_F(Soak, TwoThreadsTwoStreamsEach) {
  Kernel kernel = rig->load(Program::decode);
  int done[4] = {}, wrong[4] = {};
  auto thread = [&](unsigned first) {
    return std::thread([&, first] {
      for (unsigned i = first; i < first + 2; ++i)
        rounds(kernel, i, i % 2 == first / 2 % 2, done[i], wrong[i]);
    });
  };
  std::thread one = thread(0), two = thread(2);
  one.join();
  two.join();
  for (int i = 0; i < 4; ++i) {
    EXPECT_GT(done[i], 0);
    EXPECT_EQ(wrong[i], 0) << "of " << done[i] << " rounds of stream " << i;
  }
}

TEST_F(Soak, LengthsFromNothingToTheLongest) {
  Kernel kernel = rig->load(Program::decode);
  std::vector<int32_t> batches =
      rig->full ? std::vector<int32_t>{0, 1, 3, 64, 256} : std::vector<int32_t>{0, 1, 3};
  for (int32_t batch : batches)
    for (int32_t page : {1, 16, 64, 256}) {
      std::vector<int32_t> ones(static_cast<size_t>(batch), 1), lengths;
      int64_t total = rig->full ? 140000 : 400; // cached tokens of all requests, so that the reference ends
      for (int32_t r = 0; r < batch; ++r)
        lengths.push_back(
            r == 0 ? (rig->full ? 131072 / (batch > 3 ? 4 : 1) : 300)
                   : static_cast<int32_t>(r % 5 == 0 ? 0 : (r * 7919) % std::max<int64_t>(1, total / batch)));
      Live live(device(), kernel.info(), {ones, lengths, page});
      EXPECT_TRUE(runAndCheck(kernel, live)) << "batch " << batch << ", pages of " << page;
    }
}

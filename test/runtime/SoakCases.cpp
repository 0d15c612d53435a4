// Random batches, one after another, with every result checked.
#include "Rig.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
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

/// MLAC_SOAK_SECONDS, or 0: a number of rounds.
double soakSeconds() {
  const char *text = std::getenv("MLAC_SOAK_SECONDS");
  return text ? std::atof(text) : 0;
}

/// How a lane plans and runs its batches.
enum class Way { eager, replayed, plannedOnDevice };

/// One stream and one plan, through which batches go one after another.
class Lane {
public:
  Lane(const Rig &rig, const Kernel &kernel, unsigned seed)
      : rig(rig), kernel(kernel), random(seed), way(static_cast<Way>(seed % 3)),
        plan(kernel, configOf(seed, way)), stream(kernel.device().createStream()),
        indptr(kernel.device(), (mostRequests + 1) * sizeof(int32_t)),
        lengths(kernel.device(), mostRequests * sizeof(int32_t)) {}
  Lane(const Lane &) = delete;
  Lane &operator=(const Lane &) = delete;
  ~Lane() { kernel.device().destroyStream(stream); }

  /// Queues a new batch; nothing is waited for.
  void queue() {
    graph.reset();
    live.emplace(kernel.device(), kernel.info(),
                 randomShape(random, rig.full ? 2000 : 150, rig.full ? mostRequests : 4));
    if (way == Way::eager) {
      plan->plan(live->lengths(), stream);
      plan->run(live->operands(), stream);
      return;
    }
    graph = capture();
    if (way == Way::replayed)
      plan->plan(live->lengths(), stream);
    graph->replay(stream);
  }

  /// Waits for the batch and checks every row of it.
  bool check() {
    kernel.device().synchronize(stream);
    plan->checkDevice();
    return live->check().passed() && plan.canariesIntact();
  }

private:
  static constexpr size_t mostRequests = 12;

  static Config configOf(unsigned seed, Way way) {
    Config config;
    config.capacity = {mostRequests, 4 * mostRequests, 0};
    config.graph = way != Way::eager;
    config.deterministic = seed % 2 ? Deterministic::batch : Deterministic::run;
    return config;
  }

  std::unique_ptr<Graph> capture() {
    Lengths host = live->lengths();
    if (way == Way::replayed) {
      plan->plan(host, stream);
      return kernel.device().capture(stream, [&] { plan->run(live->operands(), stream); });
    }
    indptr.copyIn(host.qIndptr.data(), host.qIndptr.size_bytes());
    if (!host.kvLen.empty())
      lengths.copyIn(host.kvLen.data(), host.kvLen.size_bytes());
    DeviceLengths onDevice{static_cast<int64_t>(host.kvLen.size()),
                           indptr.get(),
                           lengths.get(),
                           host.qIndptr.back(),
                           host.pageSize,
                           host.tableColumns,
                           host.pages,
                           0};
    return kernel.device().capture(stream, [&] {
      plan->planOnDevice(onDevice, stream);
      plan->run(live->operands(), stream);
    });
  }

  const Rig &rig;
  const Kernel &kernel;
  std::mt19937 random;
  Way way;
  Planned plan;
  Stream stream;
  Buffer indptr, lengths;
  std::optional<Live> live;
  std::unique_ptr<Graph> graph;
};

/// How far the lanes are, told every ten seconds of a long soak.
class Progress {
public:
  explicit Progress(const char *name) : name(name) {}

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }

  void count(bool right) {
    std::lock_guard lock(mutex);
    ++batches;
    wrong += !right;
    if (soakSeconds() <= 0 || Clock::now() < next)
      return;
    next += std::chrono::seconds(10);
    print();
  }

  void print() const {
    std::printf("%s: %.0f s, %lld batches checked, %lld wrong\n", name, seconds(), batches, wrong);
    std::fflush(stdout);
  }

  long long batches = 0, wrong = 0;

private:
  using Clock = std::chrono::steady_clock;

  const char *name;
  Clock::time_point start = Clock::now(), next = start + std::chrono::seconds(10);
  std::mutex mutex;
};

class Soak : public DeviceCase {
protected:
  /// Two streams at a time, for MLAC_SOAK_SECONDS or some rounds.
  void soak(const Kernel &kernel, unsigned seed, Progress &progress) {
    Lane one(*rig, kernel, seed), two(*rig, kernel, seed + 1);
    auto more = [&](int round) {
      return soakSeconds() > 0 ? progress.seconds() < soakSeconds()
                               : round < (rig->full    ? 250
                                          : rig->exact ? 3
                                                       : 40);
    };
    for (int round = 0; more(round); ++round) {
      one.queue();
      two.queue();
      progress.count(one.check());
      progress.count(two.check());
    }
  }
};

} // namespace

TEST_F(Soak, TwoThreadsTwoStreamsEach) {
  Kernel kernel = rig->load(Program::decode);
  Progress progress("soak");
  std::exception_ptr failures[2];
  auto thread = [&](unsigned index) {
    return std::thread([&, index] {
      try {
        soak(kernel, 2 * index, progress);
      } catch (...) {
        failures[index] = std::current_exception();
      }
    });
  };
  std::thread one = thread(0), two = thread(1);
  one.join();
  two.join();
  progress.print();
  for (const std::exception_ptr &failure : failures)
    if (failure)
      std::rethrow_exception(failure);
  EXPECT_GT(progress.batches, 0);
  EXPECT_EQ(progress.wrong, 0);
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

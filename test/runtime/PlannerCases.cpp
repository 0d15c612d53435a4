// Plans made on the device: the host's lists, replays that follow device arrays, and what is wrong with them.
#include "Rig.h"

#include "runtime/Abi.h"
#include "runtime/Plan.h"

#include <map>
#include <random>

using namespace mla;
using namespace mla::test;

namespace {

template <typename T>
Buffer upload(Device &device, const std::vector<T> &list) {
  Buffer buffer(device, std::max<size_t>(list.size() * sizeof(T), sizeof(T)), "an array of the test");
  buffer.copyIn(list.data(), list.size() * sizeof(T));
  return buffer;
}

template <typename T>
std::vector<T> download(const Buffer &buffer, size_t count) {
  std::vector<T> list(count);
  if (count)
    buffer.copyOut(list.data(), count * sizeof(T));
  return list;
}

/// The fields of items or merges, for comparison.
template <typename T>
std::vector<int32_t> words(const std::vector<T> &list) {
  auto *first = reinterpret_cast<const int32_t *>(list.data());
  return {first, first + list.size() * sizeof(T) / sizeof(int32_t)};
}

/// Launches the planner alone, over lists of its own.
class PlannerLaunch {
public:
  PlannerLaunch(const Rig &rig, Program program)
      : device(*rig.device), kernel(rig.load(program).info()), module(device.load(rig.artefact(program))) {}

  /// Plans on the host and on the device; the lists must be the same.
  void compare(const PlanRequest &request) {
    Plan plan = makePlan(kernel, request);
    int64_t items = std::max<int64_t>(1, static_cast<int64_t>(plan.work.size()));
    int64_t merges = static_cast<int64_t>(plan.merges.size()) + 3;
    Buffer q = upload(device, plan.qIndptr), kv = upload(device, plan.kvLen);
    Buffer qCopy(device, q.size() + 4), kvCopy(device, kv.size()), work(device, items * sizeof(WorkItem)),
        indptr(device, (request.blocks + 1) * sizeof(int32_t)), mergeList(device, merges * sizeof(MergeItem)),
        scratch(device, plannerScratchBytes(int64_t(plan.kvLen.size()), items, request.blocks));
    auto *status = static_cast<uint64_t *>(device.allocateHost(sizeof(uint64_t)));
    *status = 0;
    bool splits = request.split && !kernel.combine.name.empty();
    std::map<std::string, uint64_t> values{{"batch.q_indptr", q.get()},
                                           {"batch.kv_len", kv.get()},
                                           {"batch.requests", plan.kvLen.size()},
                                           {"batch.rows", 1 << 20},
                                           {"batch.tokens", 1 << 30},
                                           {"batch.blocks", request.blocks},
                                           {"batch.least", splits ? 2 : 0},
                                           {"batch.fixed", request.fixedPieces && splits},
                                           {"batch.items", plan.work.size()},
                                           {"batch.slots", plan.slots},
                                           {"batch.merges", merges},
                                           {"batch.scratch", scratch.get()},
                                           {"batch.status", reinterpret_cast<uint64_t>(status)},
                                           {"plan.q_indptr", qCopy.get()},
                                           {"plan.kv_len", kvCopy.get()},
                                           {"plan.work_indptr", indptr.get()},
                                           {"plan.work", work.get()},
                                           {"plan.merges", mergeList.get()}};
    launch(values);
    EXPECT_EQ(*status, 0u);
    device.releaseHost(status);
    EXPECT_EQ(download<int32_t>(kvCopy, plan.kvLen.size()), plan.kvLen);
    EXPECT_EQ(download<int32_t>(qCopy, plan.qIndptr.size()), plan.qIndptr);
    plan.workIndptr.resize(request.blocks + 1, plan.workIndptr.back());
    EXPECT_EQ(download<int32_t>(indptr, request.blocks + 1), plan.workIndptr);
    EXPECT_EQ(words(download<WorkItem>(work, plan.work.size())), words(plan.work));
    plan.merges.resize(merges, {0, 0x7fffffff - kernel.tile.rows, 0, 0});
    EXPECT_EQ(words(download<MergeItem>(mergeList, merges)), words(plan.merges));
  }

private:
  void launch(std::map<std::string, uint64_t> &values) {
    std::vector<void *> params;
    for (const std::string &word : kernel.planner.params)
      params.push_back(&values[word]);
    Launch launch;
    launch.entry = kernel.planner.name;
    launch.grid = 1;
    launch.block = static_cast<uint32_t>(kernel.planner.threads);
    launch.sharedBytes = static_cast<uint32_t>(kernel.planner.sharedBytes);
    device.launch(*module, launch, params.data());
    device.synchronize();
  }

  Device &device;
  KernelInfo kernel;
  std::unique_ptr<Module> module;
};

/// A random batch; the request's spans point into it.
struct RandomBatch {
  explicit RandomBatch(std::mt19937 &random, size_t most, int32_t longest) {
    auto below = [&](uint32_t bound) { return static_cast<int32_t>(random() % bound); };
    for (size_t requests = random() % (most + 1); requests; --requests) {
      qIndptr.push_back(qIndptr.back() + (below(4) ? below(5) : below(40)));
      kvLen.push_back(below(3) == 0 ? below(3) : below(static_cast<uint32_t>(longest)));
    }
  }

  PlanRequest request(int blocks) const {
    PlanRequest request;
    request.qIndptr = qIndptr;
    request.kvLen = kvLen;
    request.pageSize = 1;
    request.tableColumns = 1 << 30;
    request.pages = 1;
    request.blocks = blocks;
    return request;
  }

  std::vector<int32_t> qIndptr{0}, kvLen;
};

class DevicePlanner : public DeviceCase {
protected:
  /// The lengths of a batch in device memory.
  struct Arrays {
    Arrays(Device &device, const Live &live)
        : q(upload(device,
                   std::vector<int32_t>(live.lengths().qIndptr.begin(), live.lengths().qIndptr.end()))),
          kv(upload(device, std::vector<int32_t>(live.lengths().kvLen.begin(), live.lengths().kvLen.end()))) {
    }

    void set(const Live &live) {
      Lengths lengths = live.lengths();
      q.copyIn(lengths.qIndptr.data(), lengths.qIndptr.size_bytes());
      kv.copyIn(lengths.kvLen.data(), lengths.kvLen.size_bytes());
    }

    DeviceLengths lengths(const Live &live) const {
      Lengths host = live.lengths();
      DeviceLengths lengths;
      lengths.requests = static_cast<int64_t>(host.kvLen.size());
      lengths.qIndptr = q.get();
      lengths.kvLen = kv.get();
      lengths.queryRows = host.qIndptr.back();
      lengths.pageSize = host.pageSize;
      lengths.tableColumns = host.tableColumns;
      lengths.pages = host.pages;
      return lengths;
    }

    Buffer q, kv;
  };

  static Config graphConfig(const Live &live) {
    Config config;
    config.capacity = live.capacity();
    config.graph = true;
    return config;
  }
};

} // namespace

TEST_F(DevicePlanner, ListsAreTheHosts) {
  std::mt19937 random(5);
  std::vector<Program> programs{Program::decode, Program::plain};
  if (rig->exact)
    programs.push_back(Program::edited); // with a window
  for (Program program : programs) {
    PlannerLaunch launch(*rig, program);
    for (int round = 0; round < (rig->full ? 300 : 25); ++round) {
      RandomBatch batch(random, round % 5 == 0 ? 600 : 12, round % 3 ? 3000 : 200000);
      for (int blocks : {1, 7, 132}) {
        PlanRequest request = batch.request(blocks);
        request.split = round % 7 != 3;
        request.fixedPieces = round % 2;
        SCOPED_TRACE(testing::Message() << "round " << round << ", " << blocks << " blocks");
        launch.compare(request);
        if (HasFailure())
          return;
      }
    }
  }
}

TEST_F(DevicePlanner, LongestLengths) {
  PlannerLaunch launch(*rig, Program::plain);
  RandomBatch batch(*std::make_unique<std::mt19937>(1), 0, 1);
  for (int32_t length : {0, 1, 1 << 30, 64, (1 << 30) - 1}) {
    batch.kvLen.push_back(length);
    batch.qIndptr.push_back(batch.qIndptr.back() + 1);
  }
  launch.compare(batch.request(132));
}

TEST_F(DevicePlanner, ResultsHaveTheBitsOfAHostPlan) {
  Kernel kernel = rig->load(Program::decode);
  int32_t longest = rig->full ? 9000 : 700;
  Live live(device(), kernel.info(), {{1, 2, 0, 1}, {longest, 64, 5, 0}, 16});
  for (Deterministic mode : {Deterministic::run, Deterministic::batch}) {
    Config config = graphConfig(live);
    config.deterministic = mode;
    Bits expected = runBits(kernel, live, config);
    live.upload();
    Planned plan(kernel, config);
    Arrays arrays(device(), live);
    plan->planOnDevice(arrays.lengths(live));
    plan->run(live.operands());
    EXPECT_EQ(live.bits(), expected);
    EXPECT_TRUE(plan.canariesIntact());
    live.upload();
  }
}

TEST_F(DevicePlanner, ReplaysFollowTheArrays) {
  Kernel kernel = rig->load(Program::decode);
  int32_t longest = rig->full ? 4000 : 500;
  Live live(device(), kernel.info(),
            std::vector<reference::BatchShape>{{{1, 1, 1, 1}, {64, 1, 1, 1}, 16},
                                               {{1, 1, 1, 1}, {1, longest, 77, 0}, 16, 7},
                                               {{1, 1, 1, 1}, {0, 0, 0, 0}, 16, 8},
                                               {{1, 1, 1, 1}, {longest, 3, 0, 200}, 16, 9}});
  Planned plan(kernel, graphConfig(live));
  Arrays arrays(device(), live);
  Stream stream = device().createStream();
  auto graph = device().capture(stream, [&] {
    plan->planOnDevice(arrays.lengths(live), stream);
    plan->run(live.operands(), stream);
  });
  for (size_t i = 0; i < 4; ++i) {
    live.use(i);
    arrays.set(live);
    graph->replay(stream);
    device().synchronize(stream);
    reference::Report report = live.check();
    EXPECT_TRUE(report.passed()) << "replay " << i << "\n" << report.toText();
    EXPECT_NO_THROW(plan->checkDevice());
  }
  graph.reset();
  device().destroyStream(stream);
}

TEST_F(DevicePlanner, RowsPastTheBatchAreLeftAlone) {
  Kernel kernel = rig->load(Program::decode);
  Live live(device(), kernel.info(), {{1, 1}, {40, 33}, 16});
  Bits before = live.bits();
  Planned plan(kernel, graphConfig(live));
  Arrays arrays(device(), live);
  std::vector<int32_t> none{0, 0, 0};
  arrays.q.copyIn(none.data(), 3 * sizeof(int32_t));
  plan->planOnDevice(arrays.lengths(live));
  plan->run(live.operands());
  EXPECT_EQ(live.bits(), before);
}

TEST_F(DevicePlanner, WhatIsWrongIsReportedByTheNextCall) {
  Kernel kernel = rig->load(Program::decode);
  if (!rig->exact)
    GTEST_SKIP() << "the reference planner takes only what is right";
  Live live(device(), kernel.info(), {{1, 1}, {40, 33}, 16});
  struct Case {
    std::vector<int32_t> q, kv;
    Error::Code code;
    const char *field;
  };
  for (const Case &one : {Case{{1, 1, 2}, {40, 33}, Error::Code::indptrStart, "q_indptr[0]"},
                          Case{{0, 2, 1}, {40, 33}, Error::Code::indptrOrder, "q_indptr[2]"},
                          Case{{0, 1, 3}, {40, 33}, Error::Code::capacityExceeded, "q_indptr[2]"},
                          Case{{0, 1, 2}, {40, -1}, Error::Code::kvLenNegative, "kv_len[1]"},
                          Case{{0, 1, 2}, {4000, 33}, Error::Code::kvLenBeyondTable, "kv_len[0]"}}) {
    SCOPED_TRACE(one.field);
    Bits untouched = live.bits();
    Planned plan(kernel, graphConfig(live));
    Arrays arrays(device(), live);
    arrays.q.copyIn(one.q.data(), one.q.size() * sizeof(int32_t));
    arrays.kv.copyIn(one.kv.data(), one.kv.size() * sizeof(int32_t));
    auto graph = device().capture(0, [&] {
      plan->planOnDevice(arrays.lengths(live));
      plan->run(live.operands());
    });
    graph->replay(0);
    device().synchronize();
    try {
      plan->run(live.operands());
      ADD_FAILURE() << "not reported";
    } catch (const Error &error) {
      EXPECT_EQ(error.code, one.code) << error.what();
      EXPECT_NE(error.field.find(one.field), std::string::npos) << error.what();
    }
    EXPECT_EQ(live.bits(), untouched) << "an empty plan writes nothing";
    arrays.set(live); // the plan stays usable
    plan->planOnDevice(arrays.lengths(live));
    plan->run(live.operands());
    EXPECT_TRUE(live.check().passed());
    EXPECT_NO_THROW(plan->checkDevice());
    device().fill(live.operands().out.data, 0x5A,
                  static_cast<size_t>(2 * live.operands().out.heads)); // not the result
  }
}

TEST_F(DevicePlanner, CapacityOfWorkItems) {
  Kernel kernel = rig->load(Program::decode);
  if (!rig->exact)
    GTEST_SKIP() << "the reference planner takes only what is right";
  Live live(device(), kernel.info(), {{1, 1, 1}, {40, 33, 2}, 16});
  Config config = graphConfig(live);
  config.capacity.workItems = 2;
  Planned plan(kernel, config);
  Arrays arrays(device(), live);
  plan->planOnDevice(arrays.lengths(live));
  device().synchronize();
  try {
    plan->checkDevice();
    FAIL() << "three requests fit into two work items";
  } catch (const Error &error) {
    EXPECT_EQ(error.code, Error::Code::capacityExceeded);
    EXPECT_EQ(error.value, "3") << error.what();
    EXPECT_NE(error.allowed.find("2"), std::string::npos) << error.what();
  }
}

TEST_F(DevicePlanner, NeedsAGraphsLaunchesAndAddresses) {
  Kernel kernel = rig->load(Program::decode);
  Live live(device(), kernel.info(), {{1}, {40}, 16});
  Arrays arrays(device(), live);
  DeviceLengths good = arrays.lengths(live);
  auto codeOf = [&](Config config, DeviceLengths lengths) {
    Planned plan(kernel, config);
    try {
      plan->planOnDevice(lengths);
    } catch (const Error &error) {
      return std::string(name(error.code));
    }
    return std::string("fine");
  };
  Config eager = graphConfig(live);
  eager.graph = false;
  EXPECT_EQ(codeOf(eager, good), "configMismatch");
  auto with = [&](auto change) {
    DeviceLengths lengths = good;
    change(lengths);
    return codeOf(graphConfig(live), lengths);
  };
  EXPECT_EQ(with([](DeviceLengths &) {}), "fine");
  EXPECT_EQ(with([](DeviceLengths &l) { l.qIndptr = 0; }), "operandNull");
  EXPECT_EQ(with([](DeviceLengths &l) { l.kvLen += 2; }), "operandAlignment");
  EXPECT_EQ(with([](DeviceLengths &l) { l.requests = 2; }), "capacityExceeded");
  EXPECT_EQ(with([](DeviceLengths &l) { l.queryRows = -1; }), "capacityExceeded");
  EXPECT_EQ(with([](DeviceLengths &l) { l.pageSize = 0; }), "pageSize");
  EXPECT_EQ(with([](DeviceLengths &l) { l.requests = 0; }), "fine");
}

TEST_F(DevicePlanner, PageTablesOfDevicePlansAreChecked) {
  Kernel kernel = rig->load(Program::decode);
  Live live(device(), kernel.info(), {{1, 1}, {33, 20}, 16});
  Config config = graphConfig(live);
  config.checkTables = true;
  Planned plan(kernel, config);
  Arrays arrays(device(), live);
  plan->planOnDevice(arrays.lengths(live));
  plan->run(live.operands());
  int32_t page = static_cast<int32_t>(live.lengths().pages);
  live.host().table[static_cast<size_t>(live.host().tableStride + 1)] = page;
  live.upload();
  try {
    plan->run(live.operands());
    FAIL() << "a page past the pool went unnoticed";
  } catch (const Error &error) {
    EXPECT_EQ(error.code, Error::Code::pageEntry);
    EXPECT_NE(error.field.find("request 1, slot 1"), std::string::npos) << error.what();
    EXPECT_EQ(error.value, std::to_string(page));
  }
}

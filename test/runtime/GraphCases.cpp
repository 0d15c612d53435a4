// plan() and run() over time: graphs, workspaces, capacities, several plans.
#include "AbortingDevice.h"
#include "Rig.h"

#include <thread>

#include <malloc.h>

using namespace mla;
using namespace mla::test;

namespace {

class PlanRun : public DeviceCase {
protected:
  /// Captures the batch in use as the plan's first run.
  std::unique_ptr<Graph> capture(BatchPlan &plan, Live &live, Stream stream = 0) {
    plan.plan(live.lengths(), stream);
    return plan.device().capture(stream, [&] { plan.run(live.operands(), stream); });
  }

  static Config graphConfig(const Live &live) {
    Config config;
    config.capacity = live.capacity();
    config.graph = true;
    return config;
  }

  int32_t scaled(int32_t small, int32_t large) const { return rig->full ? large : small; }
};

} // namespace

TEST_F(PlanRun, ReplayFollowsALaterPlan) {
  Kernel kernel = rig->load(Program::decode);
  int32_t longest = scaled(500, 4000);
  std::vector<reference::BatchShape> shapes{{{1, 1, 1, 1}, {64, 1, 1, 1}, 16},
                                            {{1, 1, 1, 1}, {1, longest, 77, 0}, 16, 7},
                                            {{1, 1, 1, 1}, {0, 0, 0, 0}, 16, 8},
                                            {{1, 1, 1, 1}, {longest, 3, 0, 200}, 16, 9}};
  Live live(device(), kernel.info(), shapes);
  Planned plan(kernel, graphConfig(live));
  Stream stream = device().createStream();
  auto graph = capture(*plan, live, stream);
  for (size_t i = 0; i < shapes.size(); ++i) {
    live.use(i);
    plan->plan(live.lengths(), stream);
    graph->replay(stream);
    device().synchronize(stream);
    reference::Report report = live.check();
    EXPECT_TRUE(report.passed()) << "replay " << i << "\n" << report.toText();
    Config eager;
    Bits replayed = live.bits();
    live.upload();
    EXPECT_EQ(runBits(kernel, live, eager), replayed) << "replay " << i << " and an eager run";
  }
  graph.reset();
  device().destroyStream(stream);
}

TEST_F(PlanRun, PaddedBatchInAGraph) {
  Kernel kernel = rig->load(Program::decode);
  std::vector<int32_t> ones(16, 1), many(16, 40), few(16, 0);
  few[0] = 70, few[1] = 1, few[2] = 300;
  Live live(device(), kernel.info(),
            std::vector<reference::BatchShape>{
                {ones, many, 16}, {ones, few, 16, 3}, {{1, 1, 1}, {70, 1, 300}, 16, 3}});
  Config config = graphConfig(live);
  Planned plan(kernel, config);
  auto graph = capture(*plan, live);
  graph->replay(0); // an older, larger plan leaves its entries behind
  live.use(1);
  plan->plan(live.lengths());
  graph->replay(0);
  device().synchronize();
  EXPECT_TRUE(live.check().passed());
  EXPECT_TRUE(plan.canariesIntact());
}

TEST_F(PlanRun, WorkspaceNeedsNoZeroing) {
  Kernel kernel = rig->load(Program::decode);
  Live live(device(), kernel.info(), {{1, 1}, {scaled(700, 30000), 64}, 16});
  Config config;
  config.capacity = live.capacity();
  Planned plan(kernel, config);
  std::vector<Bits> results;
  for (uint8_t fill : {0xFF, 0x00, 0x5A}) {
    device().fill(plan.workspace().get(), fill, kernel.workspaceSize(config));
    live.upload();
    plan->plan(live.lengths());
    plan->run(live.operands());
    EXPECT_GT(plan->stats().splits, 0);
    results.push_back(live.bits());
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST_F(PlanRun, TwoPlansAlternateOnOneWorkspace) {
  Kernel kernel = rig->load(Program::decode);
  Live a(device(), kernel.info(), {{1}, {scaled(600, 20000)}, 16, 1}),
      b(device(), kernel.info(), {{1, 2}, {300, scaled(400, 9000)}, 16, 2});
  Bits expectedA = runBits(kernel, a), expectedB = runBits(kernel, b);
  Config configA, configB;
  configA.capacity = a.capacity();
  configB.capacity = b.capacity();
  size_t bytes = std::max(kernel.workspaceSize(configA), kernel.workspaceSize(configB));
  Buffer workspace(device(), bytes, "a shared workspace");
  BatchPlan first = kernel.prepare(configA, {workspace.get(), bytes});
  BatchPlan second = kernel.prepare(configB, {workspace.get(), bytes});
  for (int round = 0; round < 3; ++round) {
    a.upload();
    b.upload();
    first.plan(a.lengths());
    second.plan(b.lengths()); // while the first is still queued
    first.run(a.operands());
    second.run(b.operands());
    first.run(a.operands());
    EXPECT_EQ(a.bits(), expectedA);
    EXPECT_EQ(b.bits(), expectedB);
  }
}

TEST_F(PlanRun, PlansQueueBehindRuns) {
  Kernel kernel = rig->load(Program::decode);
  std::vector<reference::BatchShape> shapes;
  for (int32_t i = 0; i < 7; ++i)
    shapes.push_back({{1, 1}, {10 + 40 * i, 5}, 16, static_cast<uint64_t>(i)});
  std::vector<std::unique_ptr<Live>> lives;
  for (const reference::BatchShape &shape : shapes)
    lives.push_back(std::make_unique<Live>(device(), kernel.info(), shape));
  Config config;
  config.capacity = {2, 2};
  Planned plan(kernel, config);
  Stream stream = device().createStream();
  for (auto &live : lives) { // more plans than the ring has slots, none waited for
    plan->plan(live->lengths(), stream);
    plan->run(live->operands(), stream);
  }
  device().synchronize(stream);
  for (auto &live : lives)
    EXPECT_TRUE(live->check().passed());
  device().destroyStream(stream);
}

TEST_F(PlanRun, WorkspaceOfExactlyTheSize) {
  Kernel kernel = rig->load(Program::decode);
  for (int32_t batch : {1, scaled(8, 512)})
    for (int32_t length : {1, scaled(300, 131072 / batch)}) {
      std::vector<int32_t> ones(static_cast<size_t>(batch), 1), kv(static_cast<size_t>(batch), length);
      Live live(device(), kernel.info(), {ones, kv, 64});
      EXPECT_TRUE(runAndCheck(kernel, live)) << "batch " << batch << ", length " << length;
    }
}

TEST_F(PlanRun, LongestAndManyPieces) {
  Kernel kernel = rig->load(Program::decode);
  std::vector<int32_t> lengths =
      rig->full ? std::vector<int32_t>{131072, 1, 0, 4097, 33} : std::vector<int32_t>{600, 1, 0, 97, 33};
  for (int32_t page : {1, 16, 64, 256}) {
    Live live(device(), kernel.info(), {{1, 1, 1, 2, 3}, lengths, page});
    EXPECT_TRUE(runAndCheck(kernel, live)) << "pages of " << page;
  }
}

TEST_F(PlanRun, ThreadsWithPlansOfTheirOwn) {
  Kernel kernel = rig->load(Program::decode);
  Live a(device(), kernel.info(), {{1}, {90}, 16, 1}), b(device(), kernel.info(), {{2}, {150}, 16, 2});
  auto work = [&](Live &live, bool &passed) {
    Stream stream = device().createStream();
    Config config;
    config.capacity = live.capacity();
    Planned plan(kernel, config);
    for (int round = 0; round < 3; ++round) {
      plan->plan(live.lengths(), stream);
      plan->run(live.operands(), stream);
    }
    device().synchronize(stream);
    device().destroyStream(stream);
    passed = true;
  };
  bool first = false, second = false;
  std::thread one(work, std::ref(a), std::ref(first)), two(work, std::ref(b), std::ref(second));
  one.join();
  two.join();
  EXPECT_TRUE(first && second);
  EXPECT_TRUE(a.check().passed());
  EXPECT_TRUE(b.check().passed());
}

TEST_F(PlanRun, TwoContextsAndAnotherThread) {
  Rig second = rig->another();
  Kernel here = rig->load(Program::decode), there = second.load(Program::decode);
  reference::BatchShape shape{{1, 1}, {90, 17}, 16};
  Live first(device(), here.info(), shape), other(*second.device, there.info(), shape);
  EXPECT_TRUE(runAndCheck(there, other));
  EXPECT_TRUE(runAndCheck(here, first));
  other.upload();
  testing::AssertionResult result = testing::AssertionFailure();
  std::thread([&] { result = runAndCheck(there, other); }).join();
  EXPECT_TRUE(result);
}

TEST_F(PlanRun, ContextsDoNotMeet) {
  Rig second = rig->another();
  Kernel here = rig->load(Program::decode), there = second.load(Program::decode);
  std::vector<reference::BatchShape> shapes{{{1, 1}, {90, 17}, 16}, {{1, 2}, {3, 300}, 16, 4}};
  Live first(device(), here.info(), shapes);
  auto other = std::make_unique<Live>(*second.device, there.info(), shapes);
  Planned plan(here, graphConfig(first));
  auto otherPlan = std::make_unique<Planned>(there, graphConfig(*other));
  auto graph = capture(*plan, first), otherGraph = capture(**otherPlan, *other);
  auto replay = [](BatchPlan &plan, Graph &graph, Live &live) {
    plan.plan(live.lengths());
    graph.replay(0);
    plan.device().synchronize();
    return live.check().passed();
  };
  for (size_t i : {1, 0, 1}) { // now here, now there, from threads of their own
    first.use(i);
    other->use(1 - i);
    bool passed = false;
    std::thread([&] { passed = replay(**otherPlan, *otherGraph, *other); }).join();
    EXPECT_TRUE(passed);
    EXPECT_TRUE(replay(*plan, *graph, first));
  }
  otherGraph.reset();
  otherPlan.reset();
  other.reset();
  first.use(0);
  EXPECT_TRUE(replay(*plan, *graph, first)) << "after the other context's work is gone";
}

TEST_F(PlanRun, AfterARunThatBrokeOff) {
  auto aborting = std::make_shared<AbortingDevice>(rig->device);
  rig->load(Program::decode); // so that the device knows the artefact
  Kernel kernel = Kernel::load(aborting, rig->artefact(Program::decode));
  Live live(device(), kernel.info(), {{1, 1}, {scaled(700, 30000), 64}, 16});
  Bits expected = runBits(kernel, live);
  Config config;
  config.capacity = live.capacity();
  Planned plan(kernel, config);
  live.upload();
  plan->plan(live.lengths());
  aborting->aborting = true;
  EXPECT_THROW(plan->run(live.operands()), Error);
  aborting->aborting = false;
  plan->run(live.operands()); // neither planned again nor cleaned
  EXPECT_GT(plan->stats().splits, 0);
  EXPECT_EQ(live.bits(), expected);
  EXPECT_TRUE(plan.canariesIntact());
}

TEST_F(PlanRun, PageTablesAreCheckedOnRequest) {
  Kernel kernel = rig->load(Program::decode);
  Live live(device(), kernel.info(), {{1, 1}, {33, 20}, 16});
  Config config;
  config.capacity = live.capacity();
  config.checkTables = true;
  Planned plan(kernel, config);
  plan->plan(live.lengths());
  plan->run(live.operands());
  live.host().table[static_cast<size_t>(live.host().tableStride + 1)] = -7;
  live.upload();
  try {
    plan->run(live.operands());
    FAIL() << "a negative page went unnoticed";
  } catch (const Error &error) {
    EXPECT_EQ(error.code, Error::Code::pageEntry);
    EXPECT_NE(error.field.find("request 1, slot 1"), std::string::npos) << error.what();
  }
}

TEST_F(PlanRun, TenThousandRoundsLeaveNothingBehind) {
  Kernel kernel = rig->load(Program::decode);
  Live live(device(), kernel.info(), {{1}, {0}, 16});
  Config config;
  config.capacity = live.capacity();
  Planned plan(kernel, config);
  auto rounds = [&](int count) {
    for (int round = 0; round < count; ++round) {
      plan->plan(live.lengths());
      plan->run(live.operands());
    }
    device().synchronize();
  };
  rounds(20); // whatever is set up at first use
  std::optional<uint64_t> freeBefore = device().freeBytes();
  size_t hostBefore = mallinfo2().uordblks;
  rounds(rig->full || !rig->exact ? 10000 : 50);
  EXPECT_EQ(device().freeBytes(), freeBefore);
  EXPECT_LT(mallinfo2().uordblks, hostBefore + (1 << 20)) << "a leak of 100 bytes a round would show";
  EXPECT_TRUE(live.check().passed());
}

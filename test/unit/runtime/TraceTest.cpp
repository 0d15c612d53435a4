// The trace: what a line says, which calls of which level are written, and that threads do not mix their
// lines.
#include "runtime/Trace.h"

#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

using namespace mla;

namespace {

class TraceTest : public ::testing::Test {
protected:
  void SetUp() override { std::filesystem::remove(path); }
  void TearDown() override {
    setTrace(TraceLevel::off, path);
    std::filesystem::remove(path);
  }

  std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> all;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
      all.push_back(nlohmann::json::parse(line));
    return all;
  }

  // Tests run in processes of their own, side by side.
  std::string path = ::testing::TempDir() + "mlac-trace-test-" + std::to_string(getpid()) + ".jsonl";
  TraceCall call{.kernel = "decode",
                 .given = {DType::bf16, DType::bf16, DType::f16},
                 .declared = {DType::bf16, DType::e4m3, DType::f16},
                 .requests = 3};
};

TEST_F(TraceTest, IsOffByDefault) {
  EXPECT_FALSE(isTraced(TraceLevel::plan));
  traceCall(TraceLevel::plan, call);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(TraceTest, LineSaysWhatWasGivenAndDeclared) {
  ASSERT_TRUE(setTrace(TraceLevel::plan, path));
  traceCall(TraceLevel::plan, call);
  ASSERT_EQ(lines().size(), 1u);
  nlohmann::json line = lines()[0];
  EXPECT_EQ(line["mlac"], "plan");
  EXPECT_EQ(line["kernel"], "decode");
  EXPECT_EQ(line["query"], "bf16");
  EXPECT_EQ(line["storage"], "bf16");
  EXPECT_EQ(line["compute"], "f16");
  EXPECT_EQ(line["declared"]["storage"], "e4m3");
  EXPECT_EQ(line["requests"], 3);
  EXPECT_FALSE(line.contains("queryTokens"));
}

TEST_F(TraceTest, LevelIncludesThoseBeforeIt) {
  ASSERT_TRUE(setTrace(TraceLevel::plan, path));
  traceCall(TraceLevel::run, call);
  EXPECT_TRUE(lines().empty());
  ASSERT_TRUE(setTrace(TraceLevel::run, path));
  traceCall(TraceLevel::plan, call);
  traceCall(TraceLevel::run, call);
  EXPECT_EQ(lines().size(), 2u);
}

TEST_F(TraceTest, AnyKernelNameIsValidJson) {
  ASSERT_TRUE(setTrace(TraceLevel::run, path));
  call.kernel = "a\"b\n\xff";
  traceCall(TraceLevel::run, call);
  EXPECT_EQ(lines().size(), 1u);
}

TEST_F(TraceTest, ThreadsWriteWholeLines) {
  ASSERT_TRUE(setTrace(TraceLevel::run, path));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n)
        traceCall(TraceLevel::run, call);
    });
  for (std::thread &thread : threads)
    thread.join();
  std::set<uint64_t> calls;
  for (const nlohmann::json &line : lines())
    calls.insert(line["call"].get<uint64_t>());
  EXPECT_EQ(calls.size(), 400u);
}

TEST_F(TraceTest, UnwritableFileTurnsItOff) {
  EXPECT_FALSE(setTrace(TraceLevel::run, "/nonexistent/trace"));
  EXPECT_FALSE(isTraced(TraceLevel::plan));
}

TEST_F(TraceTest, DeclaredTypesAreThoseOfTheOperands) {
  KernelInfo kernel;
  kernel.compute = DType::f16;
  kernel.operands = {{.name = "q", .role = Role::query, .dtype = DType::bf16},
                     {.name = "kv", .role = Role::cache, .dtype = DType::e4m3}};
  EXPECT_EQ(declaredTypes(kernel), (TraceTypes{DType::bf16, DType::e4m3, DType::f16}));
}

} // namespace

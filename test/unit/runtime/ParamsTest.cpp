#include "TestKernel.h"

#include "runtime/Params.h"

#include <bit>

using namespace mla;
using test::expectError;

static BoundOperands bindAll() {
  BoundOperands operands;
  operands["q"].data = 0x1000;
  operands["q"].strideToken = int64_t{1} << 40;
  operands["q"].strideHead = -3;
  operands["kv"].pageSize = 3;
  operands["kv"].table = 0x2000;
  operands["kv_scale"].scalar = 0.5f;
  operands["sm_scale"];
  operands["o"];
  operands["lse"];
  return operands;
}

static uint64_t valueOf(const std::string &param) {
  KernelInfo kernel = test::makeKernel();
  Entry entry{"e", 32, 0, {"kv.data", param}};
  BoundPlan plan;
  plan.merges = 0x3000;
  ParamList list = bindParams(kernel, entry, bindAll(), plan);
  EXPECT_EQ(list.size(), 2u);
  EXPECT_EQ(*static_cast<uint64_t *>(list.data()[1]), list.value(1));
  return list.value(1);
}

TEST(Params, ValuesByName) {
  EXPECT_EQ(valueOf("q.data"), 0x1000u);
  EXPECT_EQ(valueOf("q.stride_token"), uint64_t{1} << 40);
  EXPECT_EQ(static_cast<int64_t>(valueOf("q.stride_head")), -3);
  EXPECT_EQ(valueOf("kv.table"), 0x2000u);
  EXPECT_EQ(valueOf("kv.page_size"), 3u);
  EXPECT_EQ(valueOf("kv.page_magic"), pageDivision(3).magic);
  EXPECT_EQ(valueOf("kv.page_shift"), 2u);
  EXPECT_EQ(valueOf("kv_scale"), std::bit_cast<uint32_t>(0.5f));
  EXPECT_EQ(valueOf("plan.merges"), 0x3000u);
}

TEST(Params, EveryWordBinds) {
  KernelInfo kernel = test::makeKernel();
  EXPECT_EQ(bindParams(kernel, kernel.main, bindAll(), {}).size(), kernel.main.params.size());
}

TEST(Params, UnknownWord) {
  KernelInfo kernel = test::makeKernel();
  for (const char *word : {"kv.indptr", "q", "plan.dates", "x.data", ""}) {
    Entry entry{"e", 32, 0, {word}};
    expectError(Error::Code::unknownParameter, [&] { bindParams(kernel, entry, bindAll(), {}); });
  }
}

TEST(Errors, TextAndName) {
  Error error(Error::Code::pageSize, "page_size", "0", "at least 1", "pass the tokens of a page");
  EXPECT_STREQ(error.what(), "page_size is 0; must be at least 1; pass the tokens of a page");
  EXPECT_EQ(name(error.code), "pageSize");
  EXPECT_EQ(name(Error::Code::outOfMemory), "outOfMemory");
}

TEST(Params, UnboundOperand) {
  KernelInfo kernel = test::makeKernel();
  BoundOperands operands = bindAll();
  operands.erase("kv");
  Error error =
      expectError(Error::Code::missingOperand, [&] { bindParams(kernel, kernel.main, operands, {}); });
  EXPECT_NE(error.field.find("kv.data"), std::string::npos);
}

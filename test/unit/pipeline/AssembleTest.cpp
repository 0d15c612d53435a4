// Every instruction of the table is one that LLVM selects and ptxas assembles, on every target that the table says has it:
// block-scaled products (case 107) among them.
#include "test/unit/pipeline/Assemble.h"

#include <gtest/gtest.h>

namespace mlac::test {
namespace {

class Assemble : public ::testing::TestWithParam<std::string> {};

TEST_P(Assemble, EveryInstructionOfTheTable) {
  if (!canAssemble())
    GTEST_SKIP() << "no ptxas";
  Target target = *Target::find(GetParam());
  int assembled = 0;
  for (const Instruction &instruction : instructions()) {
    if (!instruction.legalOn(target, std::max(target.minPtx, instruction.minPtx)))
      continue;
    EXPECT_EQ(assembleInstruction(instruction, target), "") << instruction.id << " on " << target.name;
    ++assembled;
  }
  EXPECT_GT(assembled, 20);
}

INSTANTIATE_TEST_SUITE_P(Targets, Assemble, ::testing::Values("sm_90", "sm_120", "sm_120a", "sm_120f"),
                         [](const auto &info) { return info.param; });

TEST(AssembleTable, BlockScaledProductsAreForAcceleratedTargetsAlone) {
  for (Instr op : {Instr::MmaMxF8, Instr::MmaNvF4})
    for (const char *name : {"sm_90", "sm_120"})
      EXPECT_FALSE(get(op).legalOn(*Target::find(name), 90)) << name;
  for (Instr op : {Instr::MmaMxF8, Instr::MmaNvF4})
    for (const char *name : {"sm_120a", "sm_120f"})
      EXPECT_TRUE(get(op).legalOn(*Target::find(name), 90)) << name;
}

} // namespace
} // namespace mlac::test

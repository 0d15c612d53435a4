// A kernel is accepted if the bytes that it allocates fit, and asks at launch for exactly those.
#include "test/unit/pipeline/Bench.h"

#include <gtest/gtest.h>

#include <regex>

namespace mlac::test {
namespace {

constexpr int64_t kLimit = 101376; // bytes of a block on sm_120

int64_t sumOf(const Program &program) {
  int64_t sum = 0;
  for (const auto &[name, bytes] : program.allocations())
    sum += (bytes + 15) / 16 * 16;
  return sum;
}

/// The number before " bytes of shared memory".
int64_t neededBytes(const std::string &messages) {
  std::smatch match;
  return std::regex_search(messages, match, std::regex("needs ([0-9]+) bytes of shared memory"))
             ? std::stoll(match[1])
             : 0;
}

/// Compiles for sm_120; whether the program was accepted, with what it says in either case checked.
bool acceptedWithin(const Source &source) {
  std::string messages;
  std::unique_ptr<Program> program = Program::compile(source.text(), {}, messages);
  if (!program) {
    EXPECT_GT(neededBytes(messages), kLimit) << messages;
    EXPECT_NE(messages.find("available are 101376 bytes"), std::string::npos) << messages;
    return false;
  }
  int64_t asked = mla::manifestFromJson(program->manifest()).kernels.at(0).main.sharedBytes;
  EXPECT_EQ(asked, sumOf(*program));
  EXPECT_LE(asked, kLimit);
  return true;
}

TEST(SharedMemory, SweepOfTiles) {
  int accepted = 0, refused = 0;
  for (const char *storage : {"e4m3", "bf16"})
    for (int heads : {8, 32, 128})
      for (int tokens : {32, 64, 128})
        for (int stages : {2, 3, 4}) {
          Source source;
          source.storage = storage;
          source.heads = heads;
          source.hints = "tokens = " + std::to_string(tokens) + ", stages = " + std::to_string(stages);
          SCOPED_TRACE(source.text());
          acceptedWithin(source) ? ++accepted : ++refused;
        }
  EXPECT_GT(accepted, 10);
  EXPECT_GT(refused, 10);
}

int64_t ringBytes(const Program &program) {
  for (const auto &[name, bytes] : program.allocations())
    if (name == "kv")
      return bytes;
  return 0;
}

std::unique_ptr<Program> withHints(const std::string &hints) {
  Source source;
  source.hints = hints;
  std::string messages;
  std::unique_ptr<Program> program = Program::compile(source.text(), {}, messages);
  EXPECT_TRUE(program) << messages;
  return program;
}

/// A 576-byte row takes 592 bytes in shared memory: an odd number of 16-byte units.
TEST(SharedMemory, AStageLessIsThatStageLess) {
  const std::string warps = "groups = 1, token_warps = 2, row_warps = 2, ";
  auto three = withHints(warps + "tokens = 32, stages = 3"), two = withHints(warps + "tokens = 32, stages = 2");
  ASSERT_TRUE(three && two);
  EXPECT_EQ(sumOf(*three) - sumOf(*two), 32 * 592);
  EXPECT_EQ(ringBytes(*three), 3 * 32 * 592);
}

TEST(SharedMemory, FewerTokensAreThoseRowsLess) {
  const std::string warps = "groups = 1, token_warps = 1, row_warps = 2, ";
  auto wide = withHints(warps + "tokens = 32, stages = 2"), narrow = withHints(warps + "tokens = 16, stages = 2");
  ASSERT_TRUE(wide && narrow);
  EXPECT_EQ(ringBytes(*wide) - ringBytes(*narrow), 2 * 16 * 592);
  EXPECT_LT(sumOf(*narrow), sumOf(*wide));
}

} // namespace
} // namespace mlac::test

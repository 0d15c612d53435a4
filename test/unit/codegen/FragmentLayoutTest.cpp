// Every element of a step or block is held by exactly one lane and register, whatever the storage and compute
// types.
#include "codegen/FragmentLayout.h"

#include <gmock/gmock.h>
#include <map>

namespace mlac {
namespace {

using testing::ElementsAre;

/// Every pair that a kernel may declare: what FragmentLayout is asked for.
std::vector<std::pair<Element, Element>> declared() {
  std::vector<std::pair<Element, Element>> pairs;
  for (const ConversionRow &row : allConversions())
    pairs.push_back({row.storage, row.compute});
  return pairs;
}

std::string describe(Element storage, Element compute) {
  return std::string(nameOf(storage)) + " to " + std::string(nameOf(compute));
}

TEST(FragmentLayout, EveryContractedDimOnce) {
  for (auto [storage, compute] : declared()) {
    SCOPED_TRACE(describe(storage, compute));
    FragmentLayout layout(storage, compute);
    std::vector<int> holders(16);
    for (int pair : {0, 1})
      for (int half : {0, 1})
        for (int c = 0; c < 4; ++c) {
          int dim = layout.contractedDim(pair, half, c);
          ASSERT_GE(dim, 0);
          ASSERT_LT(dim, 16);
          ++holders[dim];
        }
    EXPECT_THAT(holders, testing::Each(1));
  }
}

TEST(FragmentLayout, EveryValueDimOnce) {
  for (auto [storage, compute] : declared()) {
    SCOPED_TRACE(describe(storage, compute));
    FragmentLayout layout(storage, compute);
    // Registers 0 and 1 of a lane are two rows of one dim, 2 and 3 the same rows of another.
    std::map<std::pair<int, int>, int> holders;
    for (int reg = 0; reg < 4; ++reg)
      for (int g = 0; g < 8; ++g)
        for (int c = 0; c < 4; ++c) {
          ASSERT_GE(layout.valueDim(reg, g), 0);
          ASSERT_LT(layout.valueDim(reg, g), 16);
          ++holders[{layout.valueDim(reg, g), FragmentLayout::row(reg, c)}];
        }
    ASSERT_EQ(holders.size(), 16u * 8u);
    for (auto [place, count] : holders)
      EXPECT_EQ(count, 1) << "dim " << place.first << ", row " << place.second;
  }
}

TEST(FragmentLayout, OrderByStorageAndCompute) {
  using enum Element;
  EXPECT_EQ(FragmentLayout(F16, F16).pairOrder(), PairOrder::Halves);
  EXPECT_EQ(FragmentLayout(BF16, BF16).pairOrder(), PairOrder::Halves);
  EXPECT_EQ(FragmentLayout(BF16, F16).pairOrder(), PairOrder::Halves);
  EXPECT_EQ(FragmentLayout(F16, BF16).pairOrder(), PairOrder::Halves);
  EXPECT_EQ(FragmentLayout(E4M3, F16).pairOrder(), PairOrder::Quads);
  EXPECT_EQ(FragmentLayout(E5M2, F16).pairOrder(), PairOrder::Quads);
  EXPECT_EQ(FragmentLayout(Int8, F16).pairOrder(), PairOrder::Quads);
  EXPECT_EQ(FragmentLayout(E4M3, BF16).pairOrder(), PairOrder::Interleaved);
  EXPECT_EQ(FragmentLayout(Int8, BF16).pairOrder(), PairOrder::Interleaved);
}

TEST(FragmentLayout, HalvesIsTheInstructionsOwnOrder) {
  // m16n8k16: register r of lane column c holds k = 8 r + 2 c and its neighbour.
  FragmentLayout layout(Element::F16, Element::F16);
  for (int c = 0; c < 4; ++c)
    for (int pair : {0, 1}) {
      EXPECT_EQ(layout.contractedDim(pair, 0, c), 8 * pair + 2 * c);
      EXPECT_EQ(layout.contractedDim(pair, 1, c), 8 * pair + 2 * c + 1);
    }
  EXPECT_EQ(layout.stepBytes(), 32);
  EXPECT_EQ(layout.valueDimsPerLoad(), 16);
  EXPECT_FALSE(layout.byteStorage());
}

/// Dims of lane column 1, in the order pair 0 low, pair 0 high, pair 1 low, pair 1 high.
std::array<int, 4> columnOne(Element storage, Element compute) {
  FragmentLayout layout(storage, compute);
  return {layout.contractedDim(0, 0, 1), layout.contractedDim(0, 1, 1), layout.contractedDim(1, 0, 1),
          layout.contractedDim(1, 1, 1)};
}

TEST(FragmentLayout, ARegisterOfBytesHoldsFourNeighbours) {
  // One 32-bit register of stored bytes: column 1 has bytes 4 to 7 of the step.
  EXPECT_THAT(columnOne(Element::E4M3, Element::F16), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(columnOne(Element::E5M2, Element::F16), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(columnOne(Element::E4M3, Element::BF16), ElementsAre(4, 6, 5, 7))
      << "even bytes, then odd ones";
}

TEST(FragmentLayout, StoredBytesOfAStep) {
  for (auto [storage, compute] : declared()) {
    FragmentLayout layout(storage, compute);
    EXPECT_EQ(layout.byteStorage(), bitsOf(storage) == 8) << describe(storage, compute);
    EXPECT_EQ(layout.stepBytes(), 16 * bitsOf(storage) / 8) << describe(storage, compute);
    // An x4 transposed load brings 16 tokens x 32 bytes.
    EXPECT_EQ(layout.valueDimsPerLoad(), 32 * 8 / bitsOf(storage)) << describe(storage, compute);
  }
}

TEST(FragmentLayout, ValueDimsOfAWideStoreAreNeighboursForBytes) {
  FragmentLayout bytes(Element::E4M3, Element::F16), words(Element::BF16, Element::BF16);
  for (int g = 0; g < 8; ++g) {
    EXPECT_EQ(bytes.valueDim(2, g), bytes.valueDim(0, g) + 1);
    EXPECT_EQ(words.valueDim(2, g), words.valueDim(0, g) + 8);
    EXPECT_EQ(words.valueDim(0, g), g);
    EXPECT_EQ(bytes.valueDim(0, g), 2 * g);
    EXPECT_EQ(bytes.valueDim(0, g), bytes.valueDim(1, g));
  }
}

TEST(FragmentLayout, RowsOfAnAccumulator) {
  for (int c = 0; c < 4; ++c) {
    EXPECT_EQ(FragmentLayout::row(0, c), 2 * c);
    EXPECT_EQ(FragmentLayout::row(1, c), 2 * c + 1);
    EXPECT_EQ(FragmentLayout::row(2, c), 2 * c);
    EXPECT_EQ(FragmentLayout::row(3, c), 2 * c + 1);
  }
}

} // namespace
} // namespace mlac

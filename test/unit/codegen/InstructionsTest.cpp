// The instruction table is consistent in itself, and its look-ups answer by target and PTX version.
#include "codegen/Instructions.h"

#include <array>
#include <gmock/gmock.h>
#include <map>
#include <set>

namespace mlac {
namespace {

using testing::ElementsAre;

Target target(const char *name) { return *Target::find(name); }

TEST(Instructions, RowsStandWhereTheirEnumSays) {
  for (const Instruction &row : allInstructions()) {
    EXPECT_EQ(&get(row.op), &row) << row.id;
    EXPECT_EQ(findInstruction(row.intrinsic), &row) << row.id;
  }
}

TEST(Instructions, NamesAreUnique) {
  std::set<std::string_view> ids, intrinsics;
  for (const Instruction &row : allInstructions()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_TRUE(intrinsics.insert(row.intrinsic).second) << row.intrinsic;
    EXPECT_TRUE(row.intrinsic.starts_with("llvm.nvvm.")) << row.intrinsic;
  }
}

TEST(Instructions, UnknownNamesHaveNoRow) {
  EXPECT_EQ(findInstruction("llvm.nvvm.wgmma.fence.sync.aligned"), nullptr);
  EXPECT_EQ(findInstruction("llvm.nvvm.barrier"), nullptr);
  EXPECT_EQ(findInstruction(""), nullptr);
}

TEST(Instructions, SignaturesUseKnownLetters) {
  for (const Instruction &row : allInstructions()) {
    EXPECT_EQ(row.results.find_first_not_of("ispfhb"), std::string_view::npos) << row.id;
    EXPECT_EQ(row.operands.find_first_not_of("ispfhbGSPIT"), std::string_view::npos) << row.id;
  }
}

TEST(Instructions, SomeTargetExecutesEach) {
  for (const Instruction &row : allInstructions()) {
    bool any = false;
    for (const Target &candidate : Target::all())
      any |= row.legalOn(candidate, kMaxPtx);
    EXPECT_TRUE(any) << row.id;
    EXPECT_TRUE(row.minPtx == 0 || (row.minPtx >= 78 && row.minPtx <= kMaxPtx)) << row.id;
  }
}

TEST(Instructions, WhatPlainSM120Lacks) {
  std::vector<std::string_view> lacking;
  for (const Instruction &row : allInstructions())
    if (!row.legalOn(target("sm_120"), kMaxPtx))
      lacking.push_back(row.id);
  EXPECT_THAT(lacking, ElementsAre("LdmatrixB8Trans", "MmaKindE4M3", "MmaMxF8", "MmaNvF4", "SetMaxRegisters"));
}

TEST(Instructions, SM120aHasAll) {
  for (const Instruction &row : allInstructions())
    EXPECT_TRUE(row.legalOn(target("sm_120a"), 87)) << row.id;
}

TEST(Instructions, LegalFromTheirPtxVersionOn) {
  const Instruction &mma = get(Instr::MmaE4M3);
  EXPECT_FALSE(mma.legalOn(target("sm_89"), 83));
  EXPECT_TRUE(mma.legalOn(target("sm_89"), 84));
}

//===-- Matrix products --------------------------------------------------------------------------------===//

int registersOf(std::string_view letters, char letter) { return int(std::ranges::count(letters, letter)); }

TEST(Mma, SignaturesHoldTheFragments) {
  for (const MmaRow &row : allMma()) {
    const Instruction &op = get(row.op);
    SCOPED_TRACE(op.id);
    // m16 n8: four f32 a lane; m16 x k and k x n8 operands, packed into 32-bit registers.
    EXPECT_EQ(op.results, "ffff");
    int perRegister = 32 / bitsOf(row.operand);
    int a = 16 * row.k / 32 / perRegister, b = row.k * 8 / 32 / perRegister;
    ASSERT_EQ(int(op.operands.size()), a + b + 4);
    EXPECT_EQ(registersOf(op.operands.substr(a + b), 'f'), 4);
    EXPECT_EQ(registersOf(op.operands.substr(0, a + b), 'f'), 0);
    EXPECT_EQ(op.intrinsic.find("m16n8k" + std::to_string(row.k)) != std::string_view::npos, true);
  }
}

TEST(Mma, TheDeclaredTypeAndNoOther) {
  for (const MmaRow &row : allMma()) {
    std::string_view name = get(row.op).intrinsic;
    EXPECT_EQ(name.find("e4m3") != std::string_view::npos, row.operand == Element::E4M3) << name;
    EXPECT_EQ(name.find("bf16") != std::string_view::npos, row.operand == Element::BF16) << name;
  }
}

TEST(Mma, SixteenBitTypesEverywhere) {
  for (const Target &candidate : Target::all()) {
    ASSERT_TRUE(findMma(Element::F16, candidate, candidate.minPtx)) << candidate.name;
    EXPECT_EQ(findMma(Element::F16, candidate, candidate.minPtx)->op, Instr::MmaF16);
    ASSERT_TRUE(findMma(Element::BF16, candidate, candidate.minPtx)) << candidate.name;
    EXPECT_EQ(findMma(Element::BF16, candidate, candidate.minPtx)->op, Instr::MmaBF16);
  }
}

TEST(Mma, E4M3ByTarget) {
  EXPECT_EQ(findMma(Element::E4M3, target("sm_120a"), 87)->op, Instr::MmaKindE4M3);
  EXPECT_EQ(findMma(Element::E4M3, target("sm_120"), 87)->op, Instr::MmaE4M3);
  EXPECT_EQ(findMma(Element::E4M3, target("sm_89"), 84)->op, Instr::MmaE4M3);
  EXPECT_EQ(findMma(Element::E4M3, target("sm_89"), 81), nullptr);
}

TEST(Mma, NoneForOtherTypes) {
  EXPECT_EQ(findMma(Element::F32, target("sm_120a"), 90), nullptr);
  EXPECT_EQ(findMma(Element::E5M2, target("sm_120a"), 90), nullptr);
}

//===-- Conversions ------------------------------------------------------------------------------------===//

TEST(Conversions, OneRowAPair) {
  std::set<std::pair<Element, Element>> pairs;
  for (const ConversionRow &row : allConversions()) {
    EXPECT_TRUE(pairs.insert({row.storage, row.compute}).second)
        << nameOf(row.storage) << " " << nameOf(row.compute);
    EXPECT_EQ(findConversion(row.storage, row.compute), &row);
  }
}

TEST(Conversions, EveryPairIsAnsweredAsListed) {
  using enum Element;
  const std::map<std::pair<Element, Element>, Conversion> listed = {
      {{F16, F16}, Conversion::None},         {{BF16, BF16}, Conversion::None},
      {{E4M3, F16}, Conversion::Fp8ToF16},    {{E5M2, F16}, Conversion::Fp8ToF16},
      {{Int8, F16}, Conversion::Int8ToFloat}, {{Int8, BF16}, Conversion::Int8ToFloat},
      {{E4M3, BF16}, Conversion::E4M3ToBF16}, {{BF16, F16}, Conversion::ThroughF32},
      {{F16, BF16}, Conversion::ThroughF32}};
  for (Element storage : {F16, BF16, E4M3, E5M2, Int8, F32})
    for (Element compute : {F16, BF16, E4M3, E5M2, Int8, F32}) {
      const ConversionRow *row = findConversion(storage, compute);
      auto expected = listed.find({storage, compute});
      ASSERT_EQ(row != nullptr, expected != listed.end()) << nameOf(storage) << " " << nameOf(compute);
      if (row)
        EXPECT_EQ(row->how, expected->second) << nameOf(storage) << " " << nameOf(compute);
    }
}

TEST(Conversions, EveryComputeTypeIsMultiplied) {
  for (const ConversionRow &row : allConversions())
    for (const Target &candidate : Target::all())
      EXPECT_TRUE(findMma(row.compute, candidate, candidate.minPtx))
          << nameOf(row.compute) << " " << candidate.name;
}

TEST(Conversions, OnlyTheIdentityIsFree) {
  for (const ConversionRow &row : allConversions()) {
    EXPECT_EQ(row.instructionsPerPair == 0, row.storage == row.compute);
    EXPECT_EQ(row.how == Conversion::None, row.storage == row.compute);
  }
}

TEST(Elements, NamesAndBits) {
  using enum Element;
  EXPECT_THAT((std::array{nameOf(F16), nameOf(BF16), nameOf(E4M3), nameOf(E5M2), nameOf(Int8), nameOf(F32)}),
              ElementsAre("f16", "bf16", "e4m3", "e5m2", "int8", "f32"));
  EXPECT_THAT((std::array{bitsOf(F16), bitsOf(BF16), bitsOf(E4M3), bitsOf(E5M2), bitsOf(Int8), bitsOf(F32)}),
              ElementsAre(16, 16, 8, 8, 8, 32));
}

} // namespace
} // namespace mlac

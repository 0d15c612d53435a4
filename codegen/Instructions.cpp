// Look-ups in the instruction table.
#include "codegen/Instructions.h"

#include <algorithm>
#include <array>

namespace mlac {

static constexpr Instruction kInstructions[] = {
#define MLAC_INSTRUCTION(Id, intrinsic, results, operands, features, minPtx, hook)                           \
  {Instr::Id, #Id, intrinsic, results, operands, features, minPtx, hook},
#include "codegen/Instructions.def"
#undef MLAC_INSTRUCTION
};

const Instruction &get(Instr op) { return kInstructions[size_t(op)]; }

std::span<const Instruction> allInstructions() { return kInstructions; }

const Instruction *findInstruction(std::string_view intrinsic) {
  auto it = std::find_if(std::begin(kInstructions), std::end(kInstructions),
                         [&](const Instruction &row) { return row.intrinsic == intrinsic; });
  return it == std::end(kInstructions) ? nullptr : it;
}

int bitsOf(Element element) {
  switch (element) {
  case Element::E4M3:
  case Element::E5M2:
  case Element::Int8:
    return 8;
  case Element::F16:
  case Element::BF16:
    return 16;
  case Element::F32:
    return 32;
  }
  return 0;
}

std::string_view nameOf(Element element) {
  constexpr std::array<std::string_view, 6> names{"f16", "bf16", "e4m3", "e5m2", "int8", "f32"};
  return names[size_t(element)];
}

static constexpr MmaRow kMma[] = {
    {Element::F16, 16, Instr::MmaF16},
    {Element::BF16, 16, Instr::MmaBF16},
    {Element::E4M3, 32, Instr::MmaKindE4M3},
    {Element::E4M3, 32, Instr::MmaE4M3},
};

std::span<const MmaRow> allMma() { return kMma; }

const MmaRow *findMma(Element operand, const Target &target, int ptx) {
  for (const MmaRow &row : kMma)
    if (row.operand == operand && get(row.op).legalOn(target, ptx))
      return &row;
  return nullptr;
}

static constexpr ConversionRow kConversions[] = {
    {Element::F16, Element::F16, Conversion::None, 0},
    {Element::BF16, Element::BF16, Conversion::None, 0},
    {Element::E4M3, Element::F16, Conversion::Fp8ToF16, 1},
    {Element::E5M2, Element::F16, Conversion::Fp8ToF16, 1},
    {Element::E4M3, Element::BF16, Conversion::E4M3ToBF16, 2.5, 120},
    {Element::Int8, Element::F16, Conversion::Int8ToFloat, 2.5},
    {Element::Int8, Element::BF16, Conversion::Int8ToFloat, 3.5},
    {Element::BF16, Element::F16, Conversion::ThroughF32, 3},
    {Element::F16, Element::BF16, Conversion::ThroughF32, 3},
};

std::span<const ConversionRow> allConversions() { return kConversions; }

const ConversionRow *findConversion(Element storage, Element compute) {
  for (const ConversionRow &row : kConversions)
    if (row.storage == storage && row.compute == compute)
      return &row;
  return nullptr;
}

Lift liftOf(Element storage, Element compute) {
  const ConversionRow *row = findConversion(storage, compute);
  if (!row || !row->tooSmall)
    return {};
  // A query of up to 2^63 stays finite, and so do sums of values times probabilities of up to 2^8.
  constexpr int query = 64, probs = 60;
  return {query, probs, row->tooSmall - query, row->tooSmall - probs};
}

} // namespace mlac

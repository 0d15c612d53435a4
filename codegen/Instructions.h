// The instruction table: what kernels are made of, what each instruction needs, and which one multiplies or
// converts a given pair of types.
#pragma once

#include "codegen/Target.h"

#include <span>

namespace mlac {

enum class Instr : uint16_t {
#define MLAC_INSTRUCTION(Id, ...) Id,
#include "codegen/Instructions.def"
#undef MLAC_INSTRUCTION
};

/// One row of Instructions.def.
struct Instruction {
  Instr op;
  std::string_view id;
  std::string_view intrinsic;
  std::string_view results, operands; // signature letters, see Instructions.def
  uint32_t features;
  int minPtx;       // 0: every PTX version that the targets allow
  const char *hook; // the emulator's function, or null: assembled only

  /// Whether `target` at this PTX version executes it.
  bool legalOn(const Target &target, int ptx) const {
    return (target.features & features) == features && ptx >= minPtx;
  }
};

const Instruction &get(Instr op);
/// The row with this intrinsic, or null.
const Instruction *findInstruction(std::string_view intrinsic);
std::span<const Instruction> allInstructions();

/// Element types as the table names them.
enum class Element : uint8_t { F16, BF16, E4M3, E5M2, Int8, F32 };
int bitsOf(Element element);
std::string_view nameOf(Element element);

/// A matrix instruction: m16 n8 k, operands of one type, f32 accumulation.
struct MmaRow {
  Element operand;
  int k;
  Instr op;
};
/// The rows for an operand type, best first.
std::span<const MmaRow> allMma();
const MmaRow *findMma(Element operand, const Target &target, int ptx);

/// How one 32-bit register of stored values becomes registers of compute pairs.
enum class Conversion : uint8_t {
  None,        // storage is the compute type
  Fp8ToF16,    // one cvt a pair
  E4M3ToBF16,  // move the bits to a bf16 2^120 too small: exact; NaN codes are found by the scan of the key
  Int8ToFloat, // its bits in the mantissa of a larger number, which is then subtracted; exact
  ThroughF32,  // f16 <-> bf16: unpack to f32, pack
};
struct ConversionRow {
  Element storage, compute;
  Conversion how;
  double instructionsPerPair; // issue slots, for the cost model
  int tooSmall = 0;           // converted values are 2^tooSmall too small, see Lift
};
std::span<const ConversionRow> allConversions();
const ConversionRow *findConversion(Element storage, Element compute);

/// Powers of two that keep products of too small operands among f32's normal numbers, and what makes up for
/// them. Queries and probabilities are multiplied on the way to their operand registers, scores and outputs
/// by factors that they have anyway.
struct Lift {
  int query = 0, probs = 0; // of operands
  int restoreScores = 0,
      restoreOut = 0; // of results
};
Lift liftOf(Element storage, Element compute);

} // namespace mlac

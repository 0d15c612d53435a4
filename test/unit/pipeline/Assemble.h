// One instruction of the table in a kernel of its own, through LLVM and ptxas.
#pragma once

#include "codegen/Instructions.h"

#include <string>

namespace mlac::test {

/// Whether ptxas is there to ask.
bool canAssemble();

/// What LLVM or ptxas say against the instruction on the target; empty if they take it.
std::string assembleInstruction(const Instruction &instruction, const Target &target);

/// Every row of the instruction table.
std::span<const Instruction> instructions();

} // namespace mlac::test

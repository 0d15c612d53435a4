#include "test/unit/pipeline/Assemble.h"

#include "codegen/LLVM.h"
#include "codegen/Ptxas.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace mlac::test {

static std::string typeOf(char letter) {
  switch (letter) {
  case 's':
  case 'T':
    return "i16";
  case 'p':
    return "i1";
  case 'f':
    return "f32";
  case 'h':
    return "vector<2xf16>";
  case 'b':
    return "vector<2xbf16>";
  case 'G':
    return "!llvm.ptr<1>";
  case 'S':
    return "!llvm.ptr<3>";
  case 'P':
    return "!llvm.ptr";
  default:
    return "i32";
  }
}

/// A constant that the instruction takes: a barrier, a count of threads or registers, a byte.
static int constantFor(const Instruction &instruction, char letter) {
  if (letter == 'T')
    return 0;
  return instruction.op == Instr::GroupBarrier || instruction.op == Instr::SetMaxRegisters ? 64 : 8;
}

/// A kernel whose parameters are the operands and that stores the results.
static std::string moduleFor(const Instruction &instruction) {
  std::string parameters = "%out: !llvm.ptr<1>", constants, operands, types, stores;
  for (auto [index, letter] : llvm::enumerate(instruction.operands)) {
    std::string type = typeOf(letter);
    if (letter == 'I' || letter == 'T')
      constants += llvm::formatv("%a{0} = llvm.mlir.constant({1} : {2}) : {2}\n", index, constantFor(instruction, letter), type);
    else
      parameters += llvm::formatv(", %a{0}: {1}", index, type);
    operands += llvm::formatv("{0}%a{1}", index ? ", " : "", index);
    types += (index ? ", " : "") + type;
  }
  std::string result;
  for (auto [index, letter] : llvm::enumerate(instruction.results)) {
    std::string type = typeOf(letter);
    result += (index ? ", " : "") + type;
    std::string value = instruction.results.size() == 1 ? "%r" : llvm::formatv("%v{0}", index).str();
    if (instruction.results.size() > 1)
      stores += llvm::formatv("{0} = llvm.extractvalue %r[{1}] : STRUCT\n", value, index);
    stores += llvm::formatv("llvm.store volatile {0}, %out : {1}, !llvm.ptr<1>\n", value, type);
  }
  std::string structure = instruction.results.size() > 1 ? "!llvm.struct<(" + result + ")>" : result;
  for (size_t at; (at = stores.find("STRUCT")) != std::string::npos;)
    stores.replace(at, 6, structure);
  return llvm::formatv("llvm.func @k({0}) attributes {{nvvm.kernel} {{\n{1}{2}llvm.call_intrinsic \"{3}\"({4}) : ({5}) -> {6}\n{7}"
                       "llvm.return\n}\n",
                       parameters, constants, instruction.results.empty() ? "" : "%r = ", llvm::StringRef(instruction.intrinsic),
                       operands, types, structure.empty() ? "()" : structure, stores)
      .str();
}

bool canAssemble() { return Ptxas::find().has_value(); }

std::span<const Instruction> instructions() { return allInstructions(); }

std::string assembleInstruction(const Instruction &instruction, const Target &target) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(moduleFor(instruction), &context);
  if (!module)
    return messages + moduleFor(instruction);
  int ptx = std::max(target.minPtx, instruction.minPtx);
  mlir::FailureOr<std::string> text = emitPTX(*module, {target, ptx});
  if (failed(text))
    return messages;
  auto assembled = assemble(module->getLoc(), *Ptxas::find(), *text, llvm::StringRef(target.name), ptx);
  return failed(assembled) ? messages : std::string();
}

} // namespace mlac::test

// LLVM IR and PTX through the NVPTX back end.
#include "codegen/LLVM.h"

#include "codegen/Instructions.h"
#include "codegen/Translate.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace mlir;

namespace mlac {

/// NVPTX reads these as process-wide options; the lock keeps one compilation's setting from reaching another's.
static std::mutex optionLock;

static void setOption(StringRef name, bool value) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto it = options.find(name);
  if (it != options.end())
    static_cast<llvm::cl::opt<bool> *>(it->second)->setValue(value);
}

static std::unique_ptr<llvm::TargetMachine> createMachine(const PTXOptions &options) {
  static std::once_flag initialised;
  std::call_once(initialised, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  std::string features = "+ptx" + std::to_string(options.ptx);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, StringRef(options.target.name), features, targetOptions, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

namespace {

/// A module on its way to PTX; holds the option lock.
struct Compilation {
  std::unique_lock<std::mutex> lock{optionLock};
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};

} // namespace

/// Gives 16-byte asynchronous copies an L2 prefetch size, which no intrinsic has: rows are read whole, so what follows a
/// piece in memory is wanted soon.
static void hintCopies(llvm::Module &module) {
  llvm::Function *copy = module.getFunction(get(Instr::CopyAsync16).intrinsic);
  if (!copy)
    return;
  auto *hinted = llvm::InlineAsm::get(copy->getFunctionType(), "cp.async.cg.shared.global.L2::128B [$0], [$1], 16, $2;",
                                      "r,l,r,~{memory}", /*hasSideEffects=*/true);
  for (llvm::User *user : llvm::make_early_inc_range(copy->users()))
    llvm::cast<llvm::CallInst>(user)->setCalledOperand(hinted);
}

static LogicalResult prepare(ModuleOp source, const PTXOptions &options, Compilation &compilation) {
  setOption("nvptx-short-ptr", true);
  setOption("nvptx-no-f32x2", !options.packedF32x2);
  compilation.machine = createMachine(options);
  if (!compilation.machine)
    return source.emitError() << "this LLVM has no NVPTX back end";
  compilation.module = translateToLLVM(source, compilation.context);
  if (!compilation.module)
    return failure();
  compilation.module->setTargetTriple(compilation.machine->getTargetTriple());
  compilation.module->setDataLayout(compilation.machine->createDataLayout());
  optimise(*compilation.module, compilation.machine.get());
  hintCopies(*compilation.module);
  return success();
}

FailureOr<std::string> emitLLVM(ModuleOp module, const PTXOptions &options) {
  Compilation compilation;
  if (failed(prepare(module, options, compilation)))
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  compilation.module->print(stream, nullptr);
  return text;
}

FailureOr<std::string> emitPTX(ModuleOp module, const PTXOptions &options) {
  Compilation compilation;
  if (failed(prepare(module, options, compilation)))
    return failure();
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (compilation.machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return module.emitError() << "the NVPTX back end cannot write assembly", failure();
  passes.run(*compilation.module);
  return std::string(text);
}

} // namespace mlac

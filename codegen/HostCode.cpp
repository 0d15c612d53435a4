// Host code for the emulator: LLVM's JIT.
#include "codegen/LLVM.h"

#include "codegen/Translate.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;

namespace mlac {

struct HostCode::Impl {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

HostCode::HostCode(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
HostCode::~HostCode() = default;

static void initialiseHost() {
  static std::once_flag initialised;
  std::call_once(initialised, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

/// Reports an LLVM error at the module and gives failure.
static LogicalResult report(ModuleOp module, llvm::Error error) {
  return module.emitError() << "host code: " << llvm::toString(std::move(error));
}

static void define(llvm::orc::LLJIT &jit, std::span<const HostCode::Symbol> symbols, llvm::orc::SymbolMap &map) {
  for (const HostCode::Symbol &symbol : symbols)
    map[jit.mangleAndIntern(symbol.name)] = {llvm::orc::ExecutorAddr::fromPtr(symbol.address),
                                             llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
}

FailureOr<std::unique_ptr<HostCode>> HostCode::compile(ModuleOp module, std::span<const Symbol> symbols) {
  initialiseHost();
  auto machineBuilder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!machineBuilder)
    return report(module, machineBuilder.takeError()), failure();
  auto machine = machineBuilder->createTargetMachine();
  if (!machine)
    return report(module, machine.takeError()), failure();
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> translated = translateToLLVM(module, *context);
  if (!translated)
    return failure();
  translated->setTargetTriple((*machine)->getTargetTriple());
  translated->setDataLayout((*machine)->createDataLayout());
  optimise(*translated, machine->get());
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*machineBuilder).create();
  if (!jit)
    return report(module, jit.takeError()), failure();
  llvm::orc::SymbolMap map;
  define(**jit, symbols, map);
  if (llvm::Error error = (*jit)->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(map))))
    return report(module, std::move(error)), failure();
  llvm::orc::ThreadSafeModule safe(std::move(translated), std::move(context));
  if (llvm::Error error = (*jit)->addIRModule(std::move(safe)))
    return report(module, std::move(error)), failure();
  auto impl = std::make_unique<Impl>();
  impl->jit = std::move(*jit);
  return std::unique_ptr<HostCode>(new HostCode(std::move(impl)));
}

HostCode::Entry HostCode::find(const std::string &name) const {
  auto address = impl->jit->lookup(name + "_entry");
  if (!address) {
    llvm::consumeError(address.takeError());
    return nullptr;
  }
  return address->toPtr<Entry>();
}

} // namespace mlac

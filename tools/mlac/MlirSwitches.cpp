// Handing switches on to LLVM's option parser.
#include "tools/mlac/MlirSwitches.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"

bool mlac::applyMlirSwitches(const std::vector<std::string> &switches) {
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  std::vector<const char *> arguments{"mlac"};
  for (const std::string &text : switches)
    arguments.push_back(text.c_str());
  return llvm::cl::ParseCommandLineOptions(arguments.size(), arguments.data(), "", &llvm::errs());
}

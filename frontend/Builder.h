// A checked program as mla IR.
#pragma once

#include "frontend/AST.h"
#include "frontend/SourceText.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlac {

/// Name of the attribute that carries a kernel's tuning hints, a dictionary of integers.
inline constexpr llvm::StringLiteral kHintsAttr = "mla.hints";

/// One mla.kernel for each kernel; the program must have passed the checker.
mlir::OwningOpRef<mlir::ModuleOp> buildModule(const Program &program, const SourceText &source,
                                              mlir::MLIRContext *context);

} // namespace mlac

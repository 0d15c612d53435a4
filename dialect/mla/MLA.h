// The mla dialect: what a kernel computes. Types and ops are defined in the .td files beside this header.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/mla/MLADialect.h.inc"
#include "dialect/mla/MLAEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/mla/MLATypes.h.inc"
#define GET_OP_CLASSES
#include "dialect/mla/MLAOps.h.inc"

namespace mlir::mla {
/// Name of the discardable attribute that carries the source name of a kernel's argument or result.
inline constexpr llvm::StringLiteral kNameAttr = "mla.name";

/// Bytes that `count` elements of `type` take in memory.
int64_t bytesOf(Type type, int64_t count);

/// Whether rows may hold it: a floating-point type, or int8.
bool isElement(Type type);
} // namespace mlir::mla

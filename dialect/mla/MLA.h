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
#define GET_ATTRDEF_CLASSES
#include "dialect/mla/MLAAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/mla/MLATypes.h.inc"
#define GET_OP_CLASSES
#include "dialect/mla/MLAOps.h.inc"

namespace mlir::mla {
/// Name of the discardable attribute that carries the source name of a kernel's argument or result.
inline constexpr llvm::StringLiteral kNameAttr = "mla.name";

/// Bytes that `count` elements of `type` take in memory; of a record, its bytes for as many columns as it
/// has.
int64_t bytesOf(Type type, int64_t count);

/// Whether tiles may hold it: a floating-point type, int8 or a record.
bool isStorage(Type type);

/// Parts of a record, at most.
inline constexpr size_t kMostParts = 8;

/// Neighbouring columns of a stored row that are stored alike, and where they lie in it.
struct StoredPart {
  Type element;
  int64_t column, width; ///< of the row
  int64_t byte;          ///< of the row, where the first of them lies
  ScaleFormat format = ScaleFormat::none;
  int64_t group = 0;     ///< columns that share a scale
  int64_t scaleByte = 0; ///< of the row in a tile, where the first scale lies

  bool isScaled() const { return format != ScaleFormat::none; }
  int64_t getGroups() const { return isScaled() ? width / group : 1; }
  int64_t getEnd() const { return column + width; }
};

/// The parts of a row of `width` columns: those of a record, or the whole row.
SmallVector<StoredPart> partsOf(Type storage, int64_t width);

/// The part in which columns [begin, end) of the row lie; null parts have no element.
StoredPart partOf(Type storage, int64_t width, int64_t begin, int64_t end);

int64_t bytesOf(ScaleFormat format);

/// Where in a tile's row of so many bytes the scales follow that lie apart in memory.
inline int64_t scalesByte(int64_t rowBytes) { return (rowBytes + 15) / 16 * 16; }
} // namespace mlir::mla

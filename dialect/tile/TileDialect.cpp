// The tile dialect's registration, types and attributes.
#include "dialect/tile/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::tile;

#include "dialect/tile/TileDialect.cpp.inc"
#include "dialect/tile/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/tile/TileAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/tile/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/tile/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/tile/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/tile/TileOps.cpp.inc"
      >();
}

static void printDimensions(AsmPrinter &printer, ArrayRef<int64_t> shape) {
  for (int64_t dim : shape) {
    if (ShapedType::isDynamic(dim))
      printer << '?';
    else
      printer << dim;
    printer << 'x';
  }
}

//===-- !tile.tile -------------------------------------------------------------------------------------===//

Type TileType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element, storage;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalKeyword("from")) && parser.parseType(storage))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TileType>(loc, parser.getContext(), shape, element, storage);
}

void TileType::print(AsmPrinter &printer) const {
  printer << '<';
  printDimensions(printer, getShape());
  printer << getElementType();
  if (getStorage())
    printer << " from " << getStorage();
  printer << '>';
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element,
                               Type storage) {
  if (shape.size() != 2)
    return emitError() << "a tile has rows and columns, not " << shape.size() << " dimensions [tile-rank]";
  if (!mla::isStorage(element) || (storage && !mla::isStorage(storage)))
    return emitError() << "a tile holds floating-point values, int8 or records [tile-element]";
  return success();
}

//===-- !tile.shared -----------------------------------------------------------------------------------===//

Type SharedType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  int64_t pitch;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseComma() || parser.parseKeyword("pitch") || parser.parseEqual() || parser.parseInteger(pitch) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<SharedType>(loc, parser.getContext(), shape, element, pitch);
}

void SharedType::print(AsmPrinter &printer) const {
  printer << '<';
  printDimensions(printer, getShape());
  printer << getElementType() << ", pitch = " << getPitch() << '>';
}

LogicalResult SharedType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element,
                                 int64_t pitch) {
  if (shape.size() != 3)
    return emitError() << "shared memory is stages x rows x columns [shared-rank]";
  if (!mla::isStorage(element))
    return emitError() << "shared memory holds floating-point values, int8 or records, not " << element << " [shared-element]";
  int64_t rowBytes = mla::bytesOf(element, shape[2]);
  if (pitch < rowBytes)
    return emitError() << "rows of " << rowBytes << " bytes do not fit a pitch of " << pitch << " [shared-pitch]";
  return success();
}

//===-- !tile.fragment ---------------------------------------------------------------------------------===//

Type FragmentType::parse(AsmParser &parser) {
  StringRef keyword;
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&keyword) || parser.parseComma() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) || parser.parseGreater())
    return {};
  std::optional<Role> role = symbolizeRole(keyword);
  if (!role)
    return parser.emitError(loc, "unknown role '") << keyword << "'; accumulator, stats, row_stats or operand", Type();
  return parser.getChecked<FragmentType>(loc, parser.getContext(), *role, shape, element);
}

void FragmentType::print(AsmPrinter &printer) const {
  printer << '<' << stringifyRole(getRole()) << ", ";
  printDimensions(printer, getShape());
  printer << getElementType() << '>';
}

/// Whether the dimensions are those of the role's fragments.
static bool fitsRole(Role role, ArrayRef<int64_t> shape) {
  auto multiple = [&](unsigned dim, int64_t unit) { return shape[dim] >= unit && shape[dim] % unit == 0; };
  switch (role) {
  case Role::accumulator:
    return multiple(0, 16) && multiple(1, 8);
  case Role::stats:
    return shape[0] == 1 && multiple(1, 8);
  case Role::row_stats:
    return multiple(0, 16) && shape[1] == 1;
  case Role::operand:
    return multiple(0, 16) && multiple(1, 16);
  }
  return false;
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError, Role role, ArrayRef<int64_t> shape,
                                   Type element) {
  if (shape.size() != 2 || !fitsRole(role, shape))
    return emitError() << "an accumulator is a multiple of 16 x a multiple of 8, statistics 1 x a multiple of 8, "
                          "row statistics a multiple of 16 x 1, an operand multiples of 16 [fragment-shape]";
  if (role == Role::operand ? !isa<Float16Type, BFloat16Type>(element) : !element.isF32())
    return emitError() << "a fragment holds f32, an operand f16 or bf16, not " << element << " [fragment-element]";
  return success();
}

int64_t FragmentType::getRegisters() const {
  // A quad of lanes shares eight rows; a lane holds two of them, and two of every eight of an accumulator's m.
  switch (getRole()) {
  case Role::accumulator:
    return getShape()[0] * getShape()[1] / 32;
  case Role::stats:
    return getShape()[1] / 4;
  case Role::row_stats:
    return getShape()[0] / 8;
  case Role::operand:
    return getShape()[0] * getShape()[1] / 64;
  }
  return 0;
}

//===-- #tile.schedule ---------------------------------------------------------------------------------===//

std::string ScheduleAttr::problemOf(int64_t rows, int64_t tokens, int64_t stages, int64_t groups, int64_t tokenWarps,
                                    int64_t rowWarps) {
  auto power = [](int64_t value, int64_t most) { return value >= 1 && value <= most && llvm::isPowerOf2_64(value); };
  if (!power(rows, 64) || rows < 8)
    return llvm::formatv("rows is {0}; 8, 16, 32 or 64 [schedule-rows]", rows);
  if (!power(tokens, 128) || tokens < 16)
    return llvm::formatv("tokens is {0}; 16, 32, 64 or 128 [schedule-tokens]", tokens);
  if (stages < 2 || stages > 8)
    return llvm::formatv("stages is {0}; 2 to 8 [schedule-stages]", stages);
  if (!power(groups, 16) || !power(tokenWarps, 16) || !power(rowWarps, 16) || groups * tokenWarps * rowWarps > 16)
    return llvm::formatv("groups x tokenWarps x rowWarps is {0} x {1} x {2}; powers of two, at most 16 warps "
                         "[schedule-warps]",
                         groups, tokenWarps, rowWarps);
  if (tokens < 16 * tokenWarps || rows < 8 * rowWarps)
    return llvm::formatv("{0} tokens x {1} rows do not split over {2} x {3} warps; 16 tokens and 8 rows a warp or more "
                         "[schedule-spread]",
                         tokens, rows, tokenWarps, rowWarps);
  return {};
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t tokens,
                                   int64_t stages, int64_t groups, int64_t tokenWarps, int64_t rowWarps) {
  std::string problem = problemOf(rows, tokens, stages, groups, tokenWarps, rowWarps);
  if (!problem.empty())
    return emitError() << problem;
  return success();
}

//===-- #tile.prefill_schedule -------------------------------------------------------------------------===//

std::string PrefillScheduleAttr::problemOf(int64_t rows, int64_t tokens, int64_t stages, int64_t rowWarps) {
  auto power = [](int64_t value, int64_t least, int64_t most) {
    return value >= least && value <= most && llvm::isPowerOf2_64(value);
  };
  if (!power(rows, 16, 256))
    return llvm::formatv("rows is {0}; 16, 32, 64, 128 or 256 [prefill-rows]", rows);
  if (!power(tokens, 16, 128))
    return llvm::formatv("tokens is {0}; 16, 32, 64 or 128 [prefill-tokens]", tokens);
  if (stages < 1 || stages > 4)
    return llvm::formatv("stages is {0}; 1 to 4 [prefill-stages]", stages);
  if (!power(rowWarps, 1, 16))
    return llvm::formatv("rowWarps is {0}; 1, 2, 4, 8 or 16 [prefill-warps]", rowWarps);
  if (rows != 16 * rowWarps && rows != 32 * rowWarps)
    return llvm::formatv("{0} rows do not split over {1} warps; 16 or 32 rows a warp [prefill-spread]", rows, rowWarps);
  return {};
}

LogicalResult PrefillScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t tokens,
                                          int64_t stages, int64_t rowWarps) {
  std::string problem = problemOf(rows, tokens, stages, rowWarps);
  if (!problem.empty())
    return emitError() << problem;
  return success();
}

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
  if (!isa<FloatType>(element) || (storage && !isa<FloatType>(storage)))
    return emitError() << "a tile holds floating-point values [tile-element]";
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
  if (!isa<FloatType>(element))
    return emitError() << "shared memory holds floating-point values, not " << element << " [shared-element]";
  int64_t rowBytes = shape[2] * element.getIntOrFloatBitWidth() / 8;
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
    return parser.emitError(loc, "unknown role '") << keyword << "'; operand or accumulator", Type();
  return parser.getChecked<FragmentType>(loc, parser.getContext(), *role, shape, element);
}

void FragmentType::print(AsmPrinter &printer) const {
  printer << '<' << stringifyRole(getRole()) << ", ";
  printDimensions(printer, getShape());
  printer << getElementType() << '>';
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError, Role role, ArrayRef<int64_t> shape,
                                   Type element) {
  if (shape.size() != 2 || shape[0] < 16 || shape[1] < 8 || shape[0] % 16 || shape[1] % 8)
    return emitError() << "a fragment is a multiple of 16 x a multiple of 8 [fragment-shape]";
  if (role == Role::accumulator ? !element.isF32() : !isa<Float16Type, BFloat16Type>(element))
    return emitError() << "an accumulator holds f32, an operand f16 or bf16 [fragment-element]";
  return success();
}

int64_t FragmentType::getRegisters() const {
  int64_t perRegister = 32 / getElementType().getIntOrFloatBitWidth();
  return getShape()[0] * getShape()[1] / 32 / perRegister;
}

//===-- #tile.schedule ---------------------------------------------------------------------------------===//

std::string ScheduleAttr::problemOf(int64_t rows, int64_t tokens, int64_t stages, int64_t dimWarps, int64_t tokenWarps) {
  int64_t threads = 32 * dimWarps * tokenWarps;
  if (rows < 8 || rows > 64 || !llvm::isPowerOf2_64(rows))
    return llvm::formatv("rows is {0}; 8, 16, 32 or 64 [schedule-rows]", rows);
  if (stages < 2 || stages > 8)
    return llvm::formatv("stages is {0}; 2 to 8 [schedule-stages]", stages);
  if (dimWarps < 1 || tokenWarps < 1 || threads > 1024 || !llvm::isPowerOf2_64(threads))
    return llvm::formatv("dimWarps x tokenWarps is {0} x {1}; a power of two up to 32 warps [schedule-warps]", dimWarps,
                         tokenWarps);
  if (tokens < 16 * tokenWarps || tokens % (16 * tokenWarps) || !llvm::isPowerOf2_64(tokens))
    return llvm::formatv("tokens is {0}; a power of two, 16 or more a token warp [schedule-tokens]", tokens);
  if (rows * tokens < threads || threads / rows > 32 || threads < std::max(rows, tokens))
    return llvm::formatv("{0} x {1} scores do not spread over {2} threads [schedule-spread]", rows, tokens, threads);
  return {};
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t tokens,
                                   int64_t stages, int64_t dimWarps, int64_t tokenWarps) {
  std::string problem = problemOf(rows, tokens, stages, dimWarps, tokenWarps);
  if (!problem.empty())
    return emitError() << problem;
  return success();
}

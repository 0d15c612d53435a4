// The mla dialect's registration and types.
#include "dialect/mla/MLA.h"

using namespace mlir;
using namespace mlir::mla;

#include "dialect/mla/MLADialect.cpp.inc"
#include "dialect/mla/MLAEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/mla/MLAAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/mla/MLATypes.cpp.inc"

void MLADialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/mla/MLAAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/mla/MLATypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/mla/MLAOps.cpp.inc"
      >();
}

int64_t mlir::mla::bytesOf(Type type, int64_t count) {
  if (auto record = dyn_cast<RecordType>(type))
    return count * record.getBytes() / record.getWidth();
  return count * type.getIntOrFloatBitWidth() / 8;
}

bool mlir::mla::isStorage(Type type) { return isa<FloatType, RecordType>(type) || type.isInteger(8); }

int64_t BufferType::getScaleRowBytes() const {
  auto record = dyn_cast<RecordType>(getElementType());
  return record ? record.getScaleRowBytes() : 0;
}

int64_t BufferType::getTileRowBytes() const {
  int64_t row = getTokenBytes(), scales = getScaleRowBytes();
  return scales ? scalesByte(row) + scales : row;
}

int64_t BufferType::getStrideBytes() const {
  return isa<RecordType>(getElementType()) ? 1 : bytesOf(getElementType(), 1);
}

int64_t BufferType::getTokenBytes() const { return bytesOf(getElementType(), getHeads() * getWidth()); }

//===-- Syntax -----------------------------------------------------------------------------------------===//

/// `8x576xbf16`: one or two dimensions and an element type.
static ParseResult parseShapedElement(AsmParser &parser, SmallVectorImpl<int64_t> &shape, Type &element) {
  return failure(parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element));
}

static void printShapedElement(AsmPrinter &printer, ArrayRef<int64_t> shape, Type element) {
  for (int64_t dim : shape)
    printer << dim << 'x';
  printer << element;
}

/// Whether a token's row may have this shape: [width] or [heads, width], both positive.
static LogicalResult verifyRowShape(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape) {
  if (shape.empty() || shape.size() > 2 || llvm::any_of(shape, [](int64_t dim) { return dim < 1; }))
    return emitError() << "a token's row has one or two positive dimensions [row-shape]";
  return success();
}

Type BufferType::parse(AsmParser &parser) {
  StringRef keyword;
  SmallVector<int64_t> shape;
  Type element;
  int64_t align = 16;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&keyword) || parser.parseComma() ||
      parseShapedElement(parser, shape, element))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("align") || parser.parseEqual() || parser.parseInteger(align)))
    return {};
  if (parser.parseGreater())
    return {};
  std::optional<Layout> layout = symbolizeLayout(keyword);
  if (!layout)
    return parser.emitError(loc, "unknown layout '") << keyword << "'; ragged or paged", Type();
  return parser.getChecked<BufferType>(loc, parser.getContext(), *layout, shape, element, align);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<' << stringifyLayout(getLayout()) << ", ";
  printShapedElement(printer, getShape(), getElementType());
  if (getAlign() != 16)
    printer << ", align = " << getAlign();
  printer << '>';
}

static LogicalResult verifyRecordRow(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape,
                                     RecordType record, int64_t align) {
  if (shape != ArrayRef(record.getWidth()))
    return emitError() << "a record of " << record.getWidth()
                       << " columns is a whole row, without heads [record-row]";
  if (record.getBytes() % std::max<int64_t>(align, 1))
    return emitError() << "a record of " << record.getBytes() << " bytes does not keep an alignment of "
                       << align << " [record-align]";
  return success();
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError, Layout layout,
                                 ArrayRef<int64_t> shape, Type element, int64_t align) {
  if (failed(verifyRowShape(emitError, shape)))
    return failure();
  if (auto record = dyn_cast<RecordType>(element))
    return verifyRecordRow(emitError, shape, record, align);
  if (!isa<Float8E4M3FNType, Float8E5M2Type, Float16Type, BFloat16Type, Float32Type>(element) && !element.isInteger(8))
    return emitError() << "storage type " << element
                       << " is not supported; e4m3, e5m2, int8, f16, bf16 or f32 [buffer-storage]";
  if (align != 4 && align != 8 && align != 16)
    return emitError() << "alignment of " << align << " bytes is not supported; 4, 8 or 16 [buffer-align]";
  return success();
}

Type RowsType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseShapedElement(parser, shape, element) || parser.parseGreater())
    return {};
  return parser.getChecked<RowsType>(loc, parser.getContext(), shape, element);
}

void RowsType::print(AsmPrinter &printer) const {
  printer << '<';
  printShapedElement(printer, getShape(), getElementType());
  printer << '>';
}

LogicalResult RowsType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element) {
  if (failed(verifyRowShape(emitError, shape)))
    return failure();
  if (!isStorage(element))
    return emitError() << "rows hold floating-point values or int8, not " << element << " [rows-element]";
  return success();
}

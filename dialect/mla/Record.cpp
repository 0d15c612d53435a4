// Rows whose columns are not stored alike: !mla.record, its parts and where they lie.
#include "dialect/mla/MLA.h"

#include <numeric>

using namespace mlir;
using namespace mlir::mla;

int64_t mlir::mla::bytesOf(ScaleFormat format) {
  return format == ScaleFormat::none ? 0 : format == ScaleFormat::ue8m0 ? 1 : 4;
}

int64_t PartAttr::getValueBytes() const { return mla::bytesOf(getElementType(), getWidth()); }

int64_t PartAttr::getScaleBytes() const {
  return isScaled() ? getWidth() / getGroup() * mla::bytesOf(getFormat()) : 0;
}

int64_t RecordType::getWidth() const {
  return std::accumulate(getParts().begin(), getParts().end(), int64_t(0),
                         [](int64_t sum, PartAttr part) { return sum + part.getWidth(); });
}

int64_t RecordType::getBytes() const {
  return std::accumulate(getParts().begin(), getParts().end(), int64_t(0), [](int64_t sum, PartAttr part) {
    return sum + part.getValueBytes() + (part.isApart() ? 0 : part.getScaleBytes());
  });
}

int64_t RecordType::getScaleRowBytes() const {
  int64_t bytes =
      std::accumulate(getParts().begin(), getParts().end(), int64_t(0), [](int64_t sum, PartAttr part) {
        return sum + (part.isApart() ? part.getScaleBytes() : 0);
      });
  return (bytes + 3) / 4 * 4;
}

/// The first rule that a part breaks by itself.
static LogicalResult verifyPart(function_ref<InFlightDiagnostic()> emitError, PartAttr part) {
  Type element = part.getElementType();
  auto fail = [&]() { return emitError() << "part " << part.getName() << " "; };
  if (part.getWidth() < 16 || part.getWidth() % 16)
    return fail() << "is " << part.getWidth() << " wide; a multiple of 16 [record-width]";
  if (!isa<Float8E4M3FNType, Float8E5M2Type, Float16Type, BFloat16Type>(element) && !element.isInteger(8))
    return fail() << "stores " << element << "; e4m3, e5m2, int8, f16 or bf16 [record-storage]";
  if (!part.isScaled() && part.getPlace() == ScalePlace::apart)
    return fail() << "has no scales that could lie apart [record-scale]";
  if (part.isScaled() && element.getIntOrFloatBitWidth() != 8)
    return fail() << "stores " << element << ", and only 8-bit values have scales [record-scale]";
  if (part.isScaled() && (part.getGroup() < 32 || part.getGroup() % 32 || part.getWidth() % part.getGroup()))
    return fail() << "has groups of " << part.getGroup() << "; a multiple of 32 that divides its width of "
                  << part.getWidth() << " [record-group]";
  return success();
}

LogicalResult RecordType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<PartAttr> parts) {
  if (parts.empty() || parts.size() > kMostParts)
    return emitError() << "a record has " << parts.size() << " parts; 1 to " << kMostParts
                       << " [record-parts]";
  int64_t byte = 0;
  for (PartAttr part : parts) {
    if (failed(verifyPart(emitError, part)))
      return failure();
    if (byte % 16)
      return emitError() << "part " << part.getName() << " begins at byte " << byte
                         << "; a multiple of 16 [record-offset]";
    byte += part.getValueBytes() + (part.isApart() ? 0 : part.getScaleBytes());
  }
  return success();
}

SmallVector<StoredPart> mlir::mla::partsOf(Type storage, int64_t width) {
  auto record = dyn_cast<RecordType>(storage);
  if (!record)
    return {{.element = storage, .column = 0, .width = width, .byte = 0}};
  SmallVector<StoredPart> parts;
  int64_t column = 0, byte = 0, apart = scalesByte(record.getBytes());
  for (PartAttr part : record.getParts()) {
    int64_t after = byte + part.getValueBytes();
    int64_t &scaleByte = part.isApart() ? apart : after;
    parts.push_back(
        {part.getElementType(), column, part.getWidth(), byte, part.getFormat(), part.getGroup(), scaleByte});
    scaleByte += part.getScaleBytes();
    column += part.getWidth();
    byte = after;
  }
  return parts;
}

StoredPart mlir::mla::partOf(Type storage, int64_t width, int64_t begin, int64_t end) {
  for (const StoredPart &part : partsOf(storage, width))
    if (part.column <= begin && end <= part.getEnd())
      return part;
  return {};
}

#include "runtime/api/OperandCheck.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mla {

using Code = Error::Code;

[[noreturn]] static void mismatch(const Operand &operand, const char *what, std::string value,
                                  std::string planned, const char *wayOut = "") {
  throw Error(Code::operandMismatch, fmt::format("{} of {}", what, operand.name), std::move(value),
              std::move(planned), wayOut);
}

static void checkDType(const Operand &operand, DType given) {
  if (given != operand.dtype)
    mismatch(
        operand, "the dtype", std::string(name(given)), std::string(name(operand.dtype)),
        "nothing is converted here: compile the kernel for this storage, or store what it was compiled for");
}

static void checkNumber(const Operand &operand, const char *what, int64_t given, int64_t wanted) {
  if (given != wanted)
    mismatch(operand, what, std::to_string(given), std::to_string(wanted));
}

/// The address and, scaled by the element size, each stride that is used.
static void checkAlignment(const Operand &operand, const char *what, int64_t byteOffset) {
  if (byteOffset % operand.alignment)
    throw Error(Code::operandAlignment, fmt::format("{} of {}", what, operand.name),
                fmt::format("{} bytes", byteOffset),
                fmt::format("a multiple of {} bytes", operand.alignment));
}

static void requireAddress(const std::string &what, DevicePtr address) {
  if (!address)
    throw Error(Code::operandNull, "the address of " + what, "null", "in device memory");
}

void checkTensor(const Operand &operand, const Tensor &tensor, int64_t rows) {
  checkDType(operand, tensor.dtype);
  checkNumber(operand, "the heads", tensor.heads, operand.shape[0]);
  if (operand.shape.size() > 1)
    checkNumber(operand, "the last dim", tensor.dim, operand.shape[1]);
  if (tensor.rows != rows)
    mismatch(operand, "the rows", std::to_string(tensor.rows), fmt::format("{}, as planned", rows),
             "call plan() for this batch");
  if (rows == 0)
    return;
  requireAddress(operand.name, tensor.data);
  int64_t size = bytes(operand.dtype);
  checkAlignment(operand, "the address", static_cast<int64_t>(tensor.data));
  if (rows > 1)
    checkAlignment(operand, "the token stride", tensor.strideToken * size);
  checkAlignment(operand, "the head stride", tensor.strideHead * size);
}

static void checkPaged(const Operand &operand, const Cache &cache, const Expected &expected) {
  checkNumber(operand, "the page size", cache.pageSize, expected.pageSize);
  checkNumber(operand, "the pages", cache.pages, expected.pages);
  if (cache.tableStride < expected.tableColumns)
    mismatch(operand, "the table stride", std::to_string(cache.tableStride),
             fmt::format("at least the {} columns planned", expected.tableColumns));
  if (expected.cachedTokens == 0)
    return;
  requireAddress("the page table", cache.table);
  checkAlignment(operand, "the page stride", cache.stridePage * bytes(operand.dtype));
}

/// Rows of scales that lie apart are read four bytes at a time.
static void checkScales(const Operand &operand, const Cache &cache) {
  constexpr int64_t alignment = 4;
  requireAddress("the scales of " + operand.name, cache.scales);
  for (auto [what, offset] : {std::pair("the address of the scales", static_cast<int64_t>(cache.scales)),
                              {"the page stride of the scales", cache.strideScalePage},
                              {"the token stride of the scales", cache.strideScaleToken}})
    if (offset % alignment)
      throw Error(Code::operandAlignment, fmt::format("{} of {}", what, operand.name),
                  fmt::format("{} bytes", offset), fmt::format("a multiple of {} bytes", alignment));
}

void checkCache(const Operand &operand, const Cache &cache, const Expected &expected) {
  checkDType(operand, cache.dtype);
  checkNumber(operand, "the dim", cache.dim, operand.shape[0]);
  if (operand.layout == Layout::paged)
    checkPaged(operand, cache, expected);
  if (expected.cachedTokens == 0)
    return;
  if (operand.layout == Layout::ragged)
    requireAddress("the cache indptr", cache.indptr);
  requireAddress(operand.name, cache.data);
  checkAlignment(operand, "the address", static_cast<int64_t>(cache.data));
  checkAlignment(operand, "the token stride", cache.strideToken * bytes(operand.dtype));
  if (operand.scaleRowBytes())
    checkScales(operand, cache);
}

const HeadValues &headValuesOf(const Operand &operand, std::span<const HeadValues> given) {
  for (const HeadValues &values : given) {
    if (values.name != operand.name)
      continue;
    checkNumber(operand, "the heads", values.heads, operand.shape[0]);
    requireAddress(operand.name, values.data);
    checkAlignment(operand, "the address", static_cast<int64_t>(values.data));
    return values;
  }
  throw Error(Code::missingOperand, "head values " + operand.name, "not given", "given");
}

static bool isScale(const KernelInfo &kernel, const std::string &name) {
  auto holds = [&](const Scale &scale) {
    return std::find(scale.scalars.begin(), scale.scalars.end(), name) != scale.scalars.end();
  };
  return holds(kernel.scoreScale) || holds(kernel.valueScale);
}

float scalarValue(const KernelInfo &kernel, const std::string &name, std::span<const Scalar> scalars) {
  for (const Scalar &scalar : scalars) {
    if (scalar.name != name)
      continue;
    bool scale = isScale(kernel, name);
    if (!std::isfinite(scalar.value) || (scale && scalar.value <= 0))
      throw Error(Code::scaleValue, "scalar " + name, fmt::format("{}", scalar.value),
                  scale ? "finite and above 0" : "finite");
    return scalar.value;
  }
  throw Error(Code::missingOperand, "scalar " + name, "not given", "given");
}

} // namespace mla

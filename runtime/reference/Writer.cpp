#include "runtime/reference/Writer.h"

#include "runtime/reference/Formats.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace mla::reference {

static double largestOf(DType type) {
  switch (type) {
  case DType::f16:
    return 65504.0;
  case DType::bf16:
    return 0x1.fep127;
  default:
    return 0x1.fffffep127; // the others saturate by themselves
  }
}

uint32_t quantise(DType storage, float value, float divisor) {
  float quotient = value / divisor;
  double most = largestOf(storage), wide = quotient;
  return encode(storage, std::isnan(wide) ? wide : std::clamp(wide, -most, most));
}

bool sameCode(DType type, uint32_t a, uint32_t b) {
  return a == b || (std::isnan(decode(type, a)) && std::isnan(decode(type, b)));
}

float WriterOperands::divisor(const WriterInfo &writer) const {
  auto product = static_cast<float>(writer.divisor.constant);
  for (const std::string &scalar : writer.divisor.scalars)
    product *= scalars.at(scalar);
  return product;
}

std::vector<int64_t> WriterOperands::slots() const {
  std::vector<int64_t> slots;
  for (size_t request = 0; request < shape.qLens.size(); ++request)
    for (int64_t token = shape.kvLens[request] - shape.qLens[request]; token < shape.kvLens[request]; ++token) {
      int64_t page = table[request * static_cast<size_t>(tableStride) + static_cast<size_t>(token / shape.pageSize)];
      slots.push_back(page * shape.pageSize + token % shape.pageSize);
    }
  return slots;
}

static HostTensor makeRows(const Operand &part, int64_t rows, bool packed, std::mt19937_64 &random) {
  HostTensor tensor;
  tensor.operand = part;
  tensor.tokens = rows;
  int64_t unit = std::max<int64_t>(1, part.alignment / bytes(part.dtype));
  tensor.strideToken = (part.shape[0] + unit - 1) / unit * unit + (packed ? 0 : unit);
  tensor.offset = packed ? 0 : part.alignment;
  // The allocation ends with the last element.
  int64_t elements = rows ? (rows - 1) * tensor.strideToken + part.shape[0] : 0;
  tensor.bytes.resize(tensor.offset + elements * bytes(part.dtype));
  fillPoison(part.dtype, tensor.bytes);
  std::normal_distribution<double> normal;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t d = 0; d < part.shape[0]; ++d) {
      uint64_t bits = random();
      uint32_t code = bits >> 63 ? static_cast<uint32_t>(bits & 0xFFFF) : encode(part.dtype, normal(random));
      storeCode(part.dtype, tensor.data(), row * tensor.strideToken + d, code);
    }
  return tensor;
}

/// As makeOperands() deals pages: by way of a decode kernel over the same cache.
static HostOperands makePool(const WriterInfo &writer, const BatchShape &shape) {
  KernelInfo reader;
  reader.operands = {writer.cache};
  return makeOperands(reader, shape);
}

WriterOperands makeWriterOperands(const WriterInfo &writer, const BatchShape &shape) {
  HostOperands pool = makePool(writer, shape);
  for (size_t r = 0; r < shape.qLens.size(); ++r)
    if (shape.qLens[r] > shape.kvLens[r])
      throw Error(Error::Code::kvLenMismatch, "kv_lens[" + std::to_string(r) + "]", std::to_string(shape.kvLens[r]),
                  "at least the request's " + std::to_string(shape.qLens[r]) + " new rows");
  WriterOperands made;
  made.shape = shape;
  made.indptr = pool.qIndptr;
  made.table = pool.table;
  made.tableColumns = pool.tableColumns;
  made.tableStride = pool.tableStride;
  made.pages = pool.pages;
  made.cache = std::move(pool.tensors.front());
  fillPoison(writer.cache.dtype, made.cache.bytes);
  std::mt19937_64 random(shape.seed);
  for (const Operand &part : writer.parts)
    made.parts.push_back(makeRows(part, made.rows(), shape.packed, random));
  for (const std::string &scalar : writer.divisor.scalars)
    made.scalars[scalar] = 0.375f;
  return made;
}

static void appendRow(const WriterInfo &writer, const WriterOperands &operands, int64_t row, int64_t element, uint8_t *to) {
  float divisor = operands.divisor(writer);
  DType storage = writer.cache.dtype;
  for (const HostTensor &part : operands.parts)
    for (int64_t d = 0; d < part.operand.shape[0]; ++d) {
      uint32_t code = loadCode(part.operand.dtype, part.data(), row * part.strideToken + d);
      if (writer.rounded)
        code = quantise(storage, static_cast<float>(decode(part.operand.dtype, code)), divisor);
      storeCode(storage, to, element++, code);
    }
}

std::vector<uint8_t> appended(const WriterInfo &writer, const WriterOperands &operands, const std::vector<int64_t> &slots) {
  std::vector<uint8_t> result = operands.cache.bytes;
  uint8_t *to = result.data() + operands.cache.offset;
  for (size_t row = 0; row < slots.size(); ++row) {
    if (slots[row] < 0)
      continue;
    int64_t page = slots[row] / operands.shape.pageSize, inPage = slots[row] % operands.shape.pageSize;
    int64_t element = page * operands.cache.stridePage + inPage * operands.cache.strideToken;
    appendRow(writer, operands, static_cast<int64_t>(row), element, to);
  }
  return result;
}

} // namespace mla::reference

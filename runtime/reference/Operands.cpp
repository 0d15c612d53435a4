#include "runtime/reference/Operands.h"

#include "runtime/reference/Formats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace mla::reference {

template <typename Tensors>
static auto *findRole(Tensors &tensors, Role role) {
  auto found = std::find_if(tensors.begin(), tensors.end(),
                            [&](const HostTensor &t) { return t.operand.role == role; });
  return found == tensors.end() ? nullptr : &*found;
}

HostTensor *HostOperands::find(Role role) { return findRole(tensors, role); }
const HostTensor *HostOperands::find(Role role) const { return findRole(tensors, role); }

template <typename Tensors>
static auto *findName(Tensors &tensors, std::string_view name) {
  auto found = std::find_if(tensors.begin(), tensors.end(),
                            [&](const HostTensor &t) { return t.operand.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

HostTensor *HostOperands::find(std::string_view name) { return findName(tensors, name); }
const HostTensor *HostOperands::find(std::string_view name) const { return findName(tensors, name); }

double HostOperands::headValue(std::string_view name, int64_t head) const {
  const HostTensor &tensor = *find(name);
  return decode(tensor.operand.dtype, loadCode(tensor.operand.dtype, tensor.data(), head));
}

int64_t HostOperands::cacheRow(const HostTensor &cache, int64_t request, int64_t token) const {
  if (cache.operand.layout == Layout::ragged)
    return (cacheIndptr[request] + token) * cache.strideToken;
  int64_t page = table[request * tableStride + token / shape.pageSize];
  return page * cache.stridePage + token % shape.pageSize * cache.strideToken;
}

int64_t HostOperands::scaleRow(const HostTensor &cache, int64_t request, int64_t token) const {
  if (cache.operand.layout == Layout::ragged)
    return cache.scalesAt + (cacheIndptr[request] + token) * cache.strideScaleToken;
  int64_t page = table[request * tableStride + token / shape.pageSize];
  return cache.scalesAt + page * cache.strideScalePage + token % shape.pageSize * cache.strideScaleToken;
}

double HostOperands::evaluate(const Scale &scale) const {
  double value = scale.constant;
  for (const std::string &scalar : scale.scalars)
    value *= scalars.at(scalar);
  return value;
}

namespace {

/// Standard deviation of a buffer's values. Integers need a wide one; their scale makes up for it.
double spreadOf(DType type) { return type == DType::s8 ? 32 : 1; }

/// Codes of normal values, drawn from a fixed large sample: encoding each of a pool's elements would take
/// minutes.
class NormalCodes {
public:
  NormalCodes(DType type, std::mt19937_64 &random) : NormalCodes(type, random, spreadOf(type)) {}
  NormalCodes(DType type, std::mt19937_64 &random, double spread) : random(random) {
    std::normal_distribution<double> normal(0, spread);
    for (uint32_t &code : sample)
      code = encode(type, normal(random));
  }

  uint32_t next() {
    if (left == 0) {
      bits = random();
      left = 4;
    }
    --left;
    uint32_t code = sample[bits & 0xFFFF];
    bits >>= 16;
    return code;
  }

private:
  std::mt19937_64 &random;
  std::vector<uint32_t> sample = std::vector<uint32_t>(65536);
  uint64_t bits = 0;
  int left = 0;
};

/// Records of normal values. Those with scales are codes of a wide spread, times scales that differ from
/// group to group and make up for it.
class RecordWriter {
public:
  RecordWriter(const std::vector<RecordPart> &parts, std::mt19937_64 &random) : parts(parts), random(random) {
    for (const RecordPart &part : parts)
      codes.emplace_back(part.dtype, random, part.group ? kScaledSpread : spreadOf(part.dtype));
  }

  /// `apart` is the row of the scales that lie apart.
  void write(uint8_t *row, uint8_t *apart) {
    for (size_t i = 0; i < parts.size(); ++i) {
      for (int64_t column = 0; column < parts[i].width; ++column)
        storeCode(parts[i].dtype, row, column, codes[i].next());
      row += parts[i].valueBytes();
      uint8_t *&scales = parts[i].apart ? apart : row;
      for (int64_t group = 0; group < parts[i].scaleBytes() / std::max<int64_t>(1, bytes(parts[i].scale));
           ++group)
        writeScale(parts[i].scale, scales, group);
      scales += parts[i].scaleBytes();
    }
  }

private:
  /// 2^-6 to 2^-4, of any mantissa where there is one: what is stored as f32 is read as it was declared.
  void writeScale(ScaleFormat format, uint8_t *scales, int64_t group) {
    std::uniform_real_distribution<double> exponent(-6, -4);
    double power = exponent(random);
    if (format == ScaleFormat::ue8m0)
      scales[group] = static_cast<uint8_t>(127 + std::lround(power));
    else
      storeCode(DType::f32, scales, group, encode(DType::f32, std::exp2(power)));
  }

  static constexpr double kScaledSpread = 32;
  const std::vector<RecordPart> &parts;
  std::mt19937_64 &random;
  std::vector<NormalCodes> codes;
};

/// The operand's alignment in elements.
int64_t alignedElements(const Operand &operand) {
  return std::max<int64_t>(1, operand.alignment / bytes(operand.dtype));
}

std::vector<int32_t> runningSum(const std::vector<int32_t> &lengths, const char *field) {
  std::vector<int32_t> sums{0};
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0)
      throw Error(Error::Code::indptrOrder, std::string(field) + "[" + std::to_string(i) + "]",
                  std::to_string(lengths[i]), "at least 0");
    int64_t sum = int64_t{sums.back()} + lengths[i];
    if (sum > std::numeric_limits<int32_t>::max())
      throw Error(Error::Code::tooLarge, std::string("the sum of ") + field, std::to_string(sum),
                  "a 32-bit number");
    sums.push_back(static_cast<int32_t>(sum));
  }
  return sums;
}

void checkShape(const BatchShape &shape) {
  if (shape.kvLens.size() != shape.qLens.size())
    throw Error(Error::Code::kvLenSize, "the number of cached lengths", std::to_string(shape.kvLens.size()),
                std::to_string(shape.qLens.size()) + ", the number of query lengths");
  if (shape.pageSize < 1)
    throw Error(Error::Code::pageSize, "page_size", std::to_string(shape.pageSize), "at least 1");
}

class Maker {
public:
  Maker(const KernelInfo &kernel, const BatchShape &shape) : kernel(kernel), random(shape.seed) {
    checkShape(shape);
    made.shape = shape;
    made.qIndptr = runningSum(shape.qLens, "q_lens");
    made.cacheIndptr = runningSum(shape.kvLens, "kv_lens");
  }

  HostOperands make() {
    for (const Operand &operand : kernel.operands)
      makeOperand(operand);
    return std::move(made);
  }

private:
  void makeOperand(const Operand &operand) {
    switch (operand.role) {
    case Role::scalar:
      made.scalars[operand.name] = scalarValue(operand.name);
      break;
    case Role::headValues:
      makeHeadValues(operand);
      break;
    case Role::query:
      makeQuery(operand);
      break;
    case Role::key:
    case Role::value:
      makeKeyOrValue(operand);
      break;
    case Role::cache:
      operand.layout == Layout::paged ? makePaged(operand) : makeRagged(operand);
      break;
    case Role::output:
    case Role::lse:
      makeOutput(operand);
      break;
    }
  }

  /// Of several scalars that multiply scores alone, the first makes up for the others.
  float scalarValue(const std::string &name) const {
    const auto &ofValue = kernel.valueScale.scalars;
    if (std::find(ofValue.begin(), ofValue.end(), name) != ofValue.end())
      return static_cast<float>(0.5 / spreadOf(storageOf(kernel.isPrefill() ? Role::value : Role::cache)));
    std::vector<std::string> ofScores;
    for (const std::string &scalar : kernel.scoreScale.scalars)
      if (std::find(ofValue.begin(), ofValue.end(), scalar) == ofValue.end())
        ofScores.push_back(scalar);
    auto found = std::find(ofScores.begin(), ofScores.end(), name);
    if (found == ofScores.end())
      return 2.0f;
    if (found != ofScores.begin())
      return 0.5f;
    double spread = kernel.isPrefill() ? spreadOf(storageOf(Role::key)) : 1;
    return static_cast<float>(std::exp2(ofScores.size() - 1) / std::sqrt(192.0) / spread);
  }

  DType storageOf(Role role) const {
    const Operand *operand = kernel.find(role);
    return operand ? operand->dtype : DType::f32;
  }

  /// An aligned stride above `elements`: the next one where operands are packed, else one further.
  int64_t stride(int64_t elements, const Operand &operand) const {
    int64_t unit = alignedElements(operand);
    return (elements + unit - 1) / unit * unit + (made.shape.packed ? 0 : unit);
  }

  /// Bytes before element 0: packed operands start where their allocation does.
  int64_t lead(const Operand &operand) const { return made.shape.packed ? 0 : operand.alignment; }

  /// A tensor of `rows` rows, with everything set but the strides' consequences: bytes and offset.
  HostTensor &addTensor(const Operand &operand, int64_t rows) {
    HostTensor &tensor = made.tensors.emplace_back();
    tensor.operand = operand;
    tensor.tokens = rows;
    return tensor;
  }

  /// [tokens][heads][dim...] with gaps after each head's dims and each token's heads.
  HostTensor &addPerHead(const Operand &operand, int64_t rows) {
    HostTensor &tensor = addTensor(operand, rows);
    bool hasDims = operand.shape.size() > 1;
    tensor.strideHead = hasDims ? stride(operand.shape[1], operand) : made.shape.packed ? 1 : 2;
    tensor.strideToken = stride(operand.shape[0] * tensor.strideHead, operand);
    return tensor;
  }

  /// Poisons `before` bytes, then room for `elements` elements, then `after` bytes.
  static void allocate(HostTensor &tensor, int64_t before, int64_t elements, int64_t after) {
    tensor.offset = before;
    tensor.bytes.resize(before + elements * bytes(tensor.operand.dtype) + after);
    fillPoison(tensor.operand.dtype, tensor.bytes);
  }

  static void fillRow(HostTensor &tensor, int64_t element, int64_t dims, NormalCodes &codes) {
    if (bytes(tensor.operand.dtype) == 1) { // hundreds of millions in a run that measures
      std::generate_n(tensor.data() + element, dims, [&] { return static_cast<uint8_t>(codes.next()); });
      return;
    }
    for (int64_t d = 0; d < dims; ++d)
      storeCode(tensor.operand.dtype, tensor.data(), element + d, codes.next());
  }

  void makeQuery(const Operand &operand) { fillPerHead(addPerHead(operand, made.queryTokens())); }
  void makeKeyOrValue(const Operand &operand) { fillPerHead(addPerHead(operand, made.cacheIndptr.back())); }

  void fillPerHead(HostTensor &tensor) {
    const Operand &operand = tensor.operand;
    int64_t heads = operand.shape[0], dims = operand.shape[1];
    // The allocation ends with the last element, so that reading on is reading out of bounds.
    int64_t end = tensor.tokens ? tensor.element(tensor.tokens - 1, heads - 1, dims) : 0;
    allocate(tensor, lead(operand), end, 0);
    NormalCodes codes(operand.dtype, random);
    for (int64_t token = 0; token < tensor.tokens; ++token)
      for (int64_t head = 0; head < heads; ++head)
        fillRow(tensor, tensor.element(token, head), dims, codes);
  }

  /// The allocation ends with the last head.
  void makeHeadValues(const Operand &operand) {
    HostTensor &tensor = addTensor(operand, 1);
    tensor.strideHead = 1;
    allocate(tensor, lead(operand), operand.shape[0], 0);
    std::normal_distribution<double> normal;
    for (int64_t head = 0; head < operand.shape[0]; ++head) {
      double slope = std::exp2(-8 * static_cast<double>(head + 1) / static_cast<double>(operand.shape[0]));
      double value = operand.name == kernel.sink ? normal(random) : slope;
      storeCode(operand.dtype, tensor.data(), head, encode(operand.dtype, value));
    }
  }

  void makeOutput(const Operand &operand) {
    HostTensor &tensor = addPerHead(operand, made.queryTokens());
    int64_t canary = canaryRows * tensor.strideToken * bytes(operand.dtype);
    allocate(tensor, canary, tensor.tokens * tensor.strideToken, canary);
  }

  void makeRagged(const Operand &operand) {
    HostTensor &tensor = addTensor(operand, made.cacheIndptr.back());
    tensor.strideToken = stride(operand.shape[0], operand);
    int64_t end = tensor.tokens ? (tensor.tokens - 1) * tensor.strideToken + operand.shape[0] : 0;
    allocate(tensor, lead(operand), placeScales(tensor, tensor.tokens, end), 0);
    fillCache(tensor);
  }

  void makePaged(const Operand &operand) {
    makeTable();
    HostTensor &tensor = addTensor(operand, made.pages * made.shape.pageSize);
    tensor.strideToken = stride(operand.shape[0], operand);
    int64_t end = placeScales(tensor, made.shape.pageSize, made.shape.pageSize * tensor.strideToken);
    tensor.strideScalePage = tensor.stridePage = stride(end, operand); // of records, in bytes
    allocate(tensor, lead(operand), made.pages * tensor.stridePage, 0);
    fillCache(tensor);
  }

  void fillCache(HostTensor &tensor) {
    if (!tensor.operand.record.empty()) {
      RecordWriter records(tensor.operand.record, random);
      forEachRow([&](int64_t request, int64_t token) {
        uint8_t *row = tensor.data() + made.cacheRow(tensor, request, token);
        records.write(row, tensor.data() + made.scaleRow(tensor, request, token));
      });
      return;
    }
    NormalCodes codes(tensor.operand.dtype, random);
    forEachRow([&](int64_t request, int64_t token) {
      fillRow(tensor, made.cacheRow(tensor, request, token), tensor.operand.shape[0], codes);
    });
  }

  /// Calls `fill(request, token)` for each cached row that a request owns.
  template <typename Fill>
  void forEachRow(Fill fill) const {
    for (int64_t request = 0; request < made.batch(); ++request)
      for (int64_t token = 0; token < made.shape.kvLens[request]; ++token)
        fill(request, token);
  }

  /// Puts rows of scales that lie apart behind `rows` records that end at byte `end`, with a gap after each,
  /// where a gap is wanted; returns where they end.
  int64_t placeScales(HostTensor &tensor, int64_t rows, int64_t end) {
    int64_t bytes = tensor.operand.scaleRowBytes();
    if (!bytes)
      return end;
    tensor.scalesAt = (end + 3) / 4 * 4;
    tensor.strideScaleToken = bytes + (made.shape.packed ? 0 : 4);
    return tensor.scalesAt + rows * tensor.strideScaleToken;
  }

  int64_t pagesOf(int32_t kvLen) const {
    return (int64_t{kvLen} + made.shape.pageSize - 1) / made.shape.pageSize;
  }

  /// Deals shuffled pages to the requests; some pages remain nobody's.
  void makeTable() {
    constexpr int64_t unownedPages = 3, unusedColumns = 2, gap = 1;
    made.pages = unownedPages;
    for (int32_t kvLen : made.shape.kvLens) {
      made.pages += pagesOf(kvLen);
      made.tableColumns = std::max(made.tableColumns, pagesOf(kvLen));
    }
    made.tableColumns += unusedColumns;
    made.tableStride = made.tableColumns + gap;
    std::vector<int32_t> deck(made.pages);
    std::iota(deck.begin(), deck.end(), 0);
    std::shuffle(deck.begin(), deck.end(), random);
    made.table.assign(made.batch() * made.tableStride, unusedPage);
    for (int64_t request = 0; request < made.batch(); ++request)
      for (int64_t slot = 0; slot < pagesOf(made.shape.kvLens[request]); ++slot) {
        made.table[request * made.tableStride + slot] = deck.back();
        deck.pop_back();
      }
  }

  const KernelInfo &kernel;
  std::mt19937_64 random;
  HostOperands made;
};

} // namespace

HostOperands makeOperands(const KernelInfo &kernel, const BatchShape &shape) {
  return Maker(kernel, shape).make();
}

} // namespace mla::reference

#include "runtime/reference/Oracle.h"

#include "runtime/reference/Formats.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <thread>

namespace mla::reference {

namespace {

/// Decodes values of one type, rounded to the compute type as the language says of queries and of dequant();
/// formats of up to 16 bits through a table.
class ValueDecoder {
public:
  ValueDecoder(DType type, DType compute) : type(type), compute(compute) {
    if (bytes(type) > 2)
      return;
    for (uint32_t code = 0; code < 1u << (8 * bytes(type)); ++code)
      values.push_back(rounded(code));
  }

  double value(const uint8_t *data, int64_t element) const {
    uint32_t code = loadCode(type, data, element);
    return values.empty() ? rounded(code) : values[code];
  }

  void decodeRow(const uint8_t *data, int64_t element, std::vector<double> &row) const {
    if (bytes(type) == 1) {
      decodeBytes(data + element, row);
      return;
    }
    for (size_t d = 0; d < row.size(); ++d) {
      uint32_t code = loadCode(type, data, element + static_cast<int64_t>(d));
      row[d] = values.empty() ? rounded(code) : values[code];
    }
  }

private:
  double rounded(uint32_t code) const {
    double value = decode(type, code);
    return type == compute ? value : decode(compute, encode(compute, value));
  }

  void decodeBytes(const uint8_t *codes, std::vector<double> &row) const {
    for (size_t d = 0; d < row.size(); ++d)
      row[d] = values[codes[d]];
  }

  DType type, compute;
  std::vector<double> values;
};

/// Decodes rows of an operand: of one type, or records. A column that has a scale is its code times the
/// scale, not rounded.
class RowDecoder {
public:
  RowDecoder(const Operand &operand, DType compute) : plain(operand.dtype, compute) {
    int64_t byte = 0, apart = 0;
    for (const RecordPart &part : operand.record) {
      parts.push_back(
          {part, ValueDecoder(part.dtype, compute), byte, part.apart ? apart : byte + part.valueBytes()});
      byte += part.valueBytes() + (part.apart ? 0 : part.scaleBytes());
      apart += part.apart ? part.scaleBytes() : 0;
    }
  }

  /// Columns of the row at `element` from `column` on; the scales that lie apart are at byte `scales`.
  void decodeRow(const uint8_t *data, int64_t element, int64_t scales, int64_t column,
                 std::vector<double> &row) const {
    if (parts.empty()) {
      plain.decodeRow(data, element + column, row);
      return;
    }
    auto columns = static_cast<int64_t>(row.size());
    int64_t first = 0; // of the part
    for (const Part &part : parts) {
      for (int64_t c = std::max(first, column); c < std::min(first + part.info.width, column + columns); ++c)
        row[c - column] = part.decode(data + element, data + (part.info.apart ? scales : element), c - first);
      first += part.info.width;
    }
  }

private:
  struct Part {
    RecordPart info;
    ValueDecoder values;
    int64_t byte, scaleByte; ///< of the row, and of that or of the row of scales

    double decode(const uint8_t *row, const uint8_t *scales, int64_t column) const {
      double value = values.value(row + byte, column);
      if (info.scale == ScaleFormat::none)
        return value;
      uint32_t code = 0;
      int64_t size = bytes(info.scale);
      std::memcpy(&code, scales + scaleByte + column / info.group * size, static_cast<size_t>(size));
      return value * decodeScale(info.scale, code);
    }
  };

  ValueDecoder plain;
  std::vector<Part> parts;
};

/// Eight running sums, which the compiler turns into vector registers.
double dot(const double *a, const double *b, size_t size) {
  double sums[8] = {};
  size_t whole = size / 8 * 8;
  for (size_t i = 0; i < whole; i += 8)
    for (size_t lane = 0; lane < 8; ++lane)
      sums[lane] += a[i + lane] * b[i + lane];
  double sum = 0;
  for (size_t i = whole; i < size; ++i)
    sum += a[i] * b[i];
  for (double lane : sums)
    sum += lane;
  return sum;
}

/// Heads of one query token that share each decoded cache row.
struct Task {
  int64_t request;
  int64_t token; ///< of the whole batch
  int64_t headBegin;
  int64_t headEnd;
};

class Evaluator {
public:
  Evaluator(const KernelInfo &kernel, const HostOperands &operands)
      : kernel(kernel), operands(operands), query(*operands.find(Role::query)),
        keys(*operands.find(kernel.isPrefill() ? Role::key : Role::cache)),
        values(*operands.find(kernel.isPrefill() ? Role::value : Role::cache)),
        queryDecoder(query.operand, kernel.compute), keyDecoder(keys.operand, kernel.compute),
        valueDecoder(values.operand, kernel.compute), scoreScale(operands.evaluate(kernel.scoreScale)),
        valueScale(operands.evaluate(kernel.valueScale)) {
    if (!kernel.scoreEdit.empty())
      edit = ScoreProgram(kernel.scoreEdit);
    int64_t rows = operands.queryTokens() * kernel.heads;
    result.out.assign(rows * kernel.vDim, 0.0);
    result.lse.assign(rows, -std::numeric_limits<double>::infinity());
  }

  Expected run(int threads) {
    std::vector<Task> tasks = listTasks();
    std::atomic<size_t> next = 0;
    auto work = [&] {
      for (size_t i = next++; i < tasks.size(); i = next++)
        evaluate(tasks[i]);
    };
    std::vector<std::jthread> helpers;
    for (int i = 1; i < threads; ++i)
      helpers.emplace_back(work);
    work();
    helpers.clear(); // joins
    return std::move(result);
  }

private:
  std::vector<Task> listTasks() const {
    constexpr int64_t headsAtATime = 8;
    std::vector<Task> tasks;
    for (int64_t request = 0; request < operands.batch(); ++request)
      for (int64_t token = operands.qIndptr[request]; token < operands.qIndptr[request + 1]; ++token)
        for (int64_t head = 0; head < kernel.heads; head += headsAtATime)
          if (operands.isSampled(request, token))
            tasks.push_back({request, token, head, std::min<int64_t>(head + headsAtATime, kernel.heads)});
    return tasks;
  }

  /// The query token's position among the cached tokens.
  int64_t position(const Task &task) const {
    int64_t index = task.token - operands.qIndptr[task.request];
    return index + operands.shape.kvLens[task.request] - operands.shape.qLens[task.request];
  }

  /// By the masks alone; the edit may hide more.
  bool isVisible(const Task &task, int64_t token) const {
    int64_t own = position(task);
    return !(kernel.causal && token > own) && !(kernel.window >= 0 && token < own - kernel.window);
  }

  void evaluate(const Task &task) {
    std::vector<std::vector<double>> weights = scores(task, operands.shape.kvLens[task.request]);
    for (int64_t head = task.headBegin; head < task.headEnd; ++head)
      softmax(task.token * kernel.heads + head, weights[head - task.headBegin]);
    accumulate(task, weights);
  }

  /// Values of the edit's names for one head.
  std::vector<double> namedValues(int64_t head) const {
    std::vector<double> values;
    for (const std::string &name : edit.names())
      values.push_back(operands.scalars.contains(name) ? operands.scalars.at(name)
                                                       : operands.headValue(name, head));
    return values;
  }

  /// Edits a row's scores; a hidden token's becomes -inf.
  void editRow(const Task &task, int64_t head, std::vector<double> &row) const {
    ScoreProgram program = edit;
    std::vector<double> values = namedValues(head);
    for (size_t token = 0; token < row.size(); ++token) {
      ScoreProgram::Place place{double(position(task)), double(token), double(head)};
      if (row[token] != hidden)
        row[token] = program.evaluate(row[token], place, values).value_or(hidden);
    }
  }

  /// Scores as the softmax takes them, [heads of the task][tokens].
  std::vector<std::vector<double>> scores(const Task &task, int64_t tokens) const {
    int64_t heads = task.headEnd - task.headBegin;
    std::vector<std::vector<double>> queries(heads, std::vector<double>(kernel.qkDim));
    for (int64_t head = 0; head < heads; ++head)
      queryDecoder.decodeRow(query.data(), query.element(task.token, task.headBegin + head), 0, 0,
                             queries[head]);
    std::vector<std::vector<double>> scores(heads, std::vector<double>(tokens, hidden));
    std::vector<double> row(kernel.qkDim);
    auto sees = [&](int64_t token, int64_t) { return isVisible(task, token); };
    forEachRow(task, tokens, keys, keyDecoder, 0, row, sees, [&](int64_t token, int64_t head) {
      double *query = queries[head - task.headBegin].data();
      scores[head - task.headBegin][token] = scoreScale * dot(query, row.data(), row.size());
    });
    for (int64_t head = 0; head < heads && !kernel.scoreEdit.empty(); ++head)
      editRow(task, task.headBegin + head, scores[head]);
    return scores;
  }

  /// log(exp(a) + exp(b)), infinities included.
  static double addExponentials(double a, double b) {
    double larger = std::max(a, b);
    return std::isinf(larger) ? larger : larger + std::log1p(std::exp(std::min(a, b) - larger));
  }

  /// Turns a row's scores into weights and stores its LSE.
  void softmax(int64_t resultRow, std::vector<double> &row) {
    double largest = hidden, sum = 0;
    for (double value : row)
      largest = std::max(largest, value);
    for (double value : row)
      sum += value == hidden ? 0 : std::exp(value - largest);
    double lse = sum == 0 ? hidden : largest + std::log(sum), total = lse;
    if (!kernel.sink.empty())
      total = addExponentials(lse, operands.headValue(kernel.sink, resultRow % kernel.heads));
    for (double &value : row)
      value = value == hidden ? 0 : std::exp(value - total);
    result.lse[resultRow] = kernel.sinkInLse ? total : lse;
    if (kernel.lse == LseBase::log2)
      result.lse[resultRow] *= std::numbers::log2e;
  }

  void accumulate(const Task &task, const std::vector<std::vector<double>> &weights) {
    std::vector<double> row(kernel.vDim);
    auto tokens = static_cast<int64_t>(weights[0].size());
    auto weighs = [&](int64_t token, int64_t head) { return weights[head - task.headBegin][token] != 0; };
    forEachRow(task, tokens, values, valueDecoder, kernel.vOffset, row, weighs, [&](int64_t token, int64_t head) {
      addRow(task.token * kernel.heads + head, valueScale * weights[head - task.headBegin][token], row);
    });
  }

  /// Calls `use(token, head)`, where `wanted(token, head)`, with that token's row for that head in `row`, from `column` on.
  template <typename Wanted, typename Use>
  void forEachRow(const Task &task, int64_t tokens, const HostTensor &tensor, const RowDecoder &decoder,
                  int64_t column, std::vector<double> &row, Wanted wanted, Use use) const {
    for (int64_t token = 0; token < tokens; ++token) {
      int64_t decoded = -1;
      for (int64_t head = task.headBegin; head < task.headEnd; ++head) {
        if (!wanted(token, head))
          continue; // hidden rows never reach arithmetic
        int64_t kvHead = head / kernel.headsPerKv();
        if (kvHead != decoded)
          decoder.decodeRow(
              tensor.data(), operands.cacheRow(tensor, task.request, token) + kvHead * tensor.strideHead,
              tensor.operand.record.empty() ? 0 : operands.scaleRow(tensor, task.request, token), column,
              row);
        decoded = kvHead;
        use(token, head);
      }
    }
  }

  void addRow(int64_t resultRow, double weight, const std::vector<double> &row) {
    double *out = result.out.data() + resultRow * kernel.vDim;
    for (size_t d = 0; d < row.size(); ++d)
      out[d] += weight * row[d];
  }

  const KernelInfo &kernel;
  const HostOperands &operands;
  const HostTensor &query;
  const HostTensor &keys;
  const HostTensor &values; ///< decode: the same tensor as the keys
  RowDecoder queryDecoder;
  RowDecoder keyDecoder;
  RowDecoder valueDecoder;
  static constexpr double hidden = -std::numeric_limits<double>::infinity();

  double scoreScale;
  double valueScale;
  ScoreProgram edit;
  Expected result; ///< tasks write disjoint rows
};

} // namespace

Expected evaluate(const KernelInfo &kernel, const HostOperands &operands, int threads) {
  if (threads < 1)
    threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return Evaluator(kernel, operands).run(threads);
}

} // namespace mla::reference

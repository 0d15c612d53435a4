#include "runtime/reference/Oracle.h"

#include "runtime/reference/Formats.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <thread>

namespace mla::reference {

namespace {

/// Decodes rows of one type, rounded to the compute type as the language says of queries and of dequant();
/// formats of up to 16 bits through a table.
class RowDecoder {
public:
  RowDecoder(DType type, DType compute) : type(type), compute(compute) {
    if (bytes(type) > 2)
      return;
    for (uint32_t code = 0; code < 1u << (8 * bytes(type)); ++code)
      values.push_back(rounded(code));
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
        cache(*operands.find(Role::cache)), queryDecoder(query.operand.dtype, kernel.compute),
        cacheDecoder(cache.operand.dtype, kernel.compute), scoreScale(operands.evaluate(kernel.scoreScale)),
        valueScale(operands.evaluate(kernel.valueScale)) {
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
          tasks.push_back({request, token, head, std::min<int64_t>(head + headsAtATime, kernel.heads)});
    return tasks;
  }

  /// Cached tokens that the query token sees: a prefix.
  int64_t visible(const Task &task) const {
    int64_t kvLen = operands.shape.kvLens[task.request];
    if (!kernel.causal)
      return kvLen;
    int64_t index = task.token - operands.qIndptr[task.request];
    int64_t qLen = operands.shape.qLens[task.request];
    return std::clamp<int64_t>(index + kvLen - qLen + 1, 0, kvLen);
  }

  void evaluate(const Task &task) {
    int64_t tokens = visible(task);
    if (tokens == 0)
      return; // the result starts as empty
    std::vector<std::vector<double>> weights = scores(task, tokens);
    for (int64_t head = task.headBegin; head < task.headEnd; ++head)
      softmax(task.token * kernel.heads + head, weights[head - task.headBegin]);
    accumulate(task, weights);
  }

  /// Scaled scores, [heads of the task][tokens].
  std::vector<std::vector<double>> scores(const Task &task, int64_t tokens) const {
    int64_t heads = task.headEnd - task.headBegin;
    std::vector<std::vector<double>> queries(heads, std::vector<double>(kernel.qkDim));
    for (int64_t head = 0; head < heads; ++head)
      queryDecoder.decodeRow(query.data(), query.element(task.token, task.headBegin + head), queries[head]);
    std::vector<std::vector<double>> scores(heads, std::vector<double>(tokens));
    std::vector<double> row(kernel.qkDim);
    for (int64_t token = 0; token < tokens; ++token) {
      cacheDecoder.decodeRow(cache.data(), operands.cacheRow(cache, task.request, token), row);
      for (int64_t head = 0; head < heads; ++head)
        scores[head][token] = scoreScale * dot(queries[head].data(), row.data(), row.size());
    }
    return scores;
  }

  /// Turns a row's scores into weights and stores its LSE.
  void softmax(int64_t resultRow, std::vector<double> &row) {
    double largest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (double &value : row)
      sum += value = std::exp(value - largest);
    for (double &value : row)
      value /= sum;
    double lse = largest + std::log(sum);
    result.lse[resultRow] = kernel.lse == LseBase::log2 ? lse * std::numbers::log2e : lse;
  }

  void accumulate(const Task &task, const std::vector<std::vector<double>> &weights) {
    std::vector<double> row(kernel.vDim);
    auto tokens = static_cast<int64_t>(weights[0].size());
    for (int64_t token = 0; token < tokens; ++token) {
      int64_t element = operands.cacheRow(cache, task.request, token) + kernel.vOffset;
      cacheDecoder.decodeRow(cache.data(), element, row);
      for (int64_t head = task.headBegin; head < task.headEnd; ++head)
        addRow(task.token * kernel.heads + head, valueScale * weights[head - task.headBegin][token], row);
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
  const HostTensor &cache;
  RowDecoder queryDecoder;
  RowDecoder cacheDecoder;
  double scoreScale;
  double valueScale;
  Expected result; ///< tasks write disjoint rows
};

} // namespace

Expected evaluate(const KernelInfo &kernel, const HostOperands &operands, int threads) {
  if (threads < 1)
    threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return Evaluator(kernel, operands).run(threads);
}

} // namespace mla::reference

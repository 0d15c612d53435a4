#include "test/unit/pipeline/Formula.h"

#include "runtime/reference/Formats.h"
#include "test/unit/pipeline/Values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace mlac::test {

double scalar(const HostOperands &operands, const char *name) { return operands.scalars.at(name); }
double ofHead(const HostOperands &operands, const char *name, int64_t head) {
  return operands.headValue(name, head);
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Elements of a row as the kernel computes with them.
std::vector<double> decodeRow(const mla::reference::HostTensor &tensor, int64_t element, int64_t width,
                              DType compute) {
  std::vector<double> row;
  for (int64_t d = 0; d < width; ++d) {
    double value = mla::reference::decode(
        tensor.operand.dtype, mla::reference::loadCode(tensor.operand.dtype, tensor.data(), element + d));
    row.push_back(mla::reference::decode(compute, mla::reference::encode(compute, value)));
  }
  return row;
}

struct Row {
  std::vector<double> out;
  double lse;
};

class Expectation {
public:
  Expectation(const KernelInfo &kernel, const Attended &attended, const Formula &formula,
              const HostOperands &operands)
      : kernel(kernel), attended(attended), formula(formula), operands(operands) {}

  /// One query token and head by the definition of attention.
  Row row(int64_t request, int64_t index, int64_t head) const {
    int64_t kvLen = operands.shape.kvLens[request], position = index + kvLen - operands.shape.qLens[request];
    const auto &query = *operands.find(Role::query);
    std::vector<double> q = decodeRow(query, query.element(operands.qIndptr[request] + index, head),
                                      kernel.qkDim, kernel.compute);
    double scale = attended.factor * scalar(operands, "sm_scale") * scaleOf(attended.keyScale);
    std::vector<double> weights;
    double largest = formula.sink ? ofHead(operands, "sinks", head) : -kInfinity;
    for (int64_t token = 0; token < kvLen; ++token) {
      std::vector<double> k = rowOf(attended.key, request, token, head, kernel.qkDim);
      double dot = 0;
      for (int64_t d = 0; d < kernel.qkDim; ++d)
        dot += q[d] * k[d];
      Place place{dot * scale, position, token, head};
      bool sees = formula.visible(place) && !(attended.causal && token > position);
      weights.push_back(sees ? formula.score(operands, place) : -kInfinity);
      largest = std::max(largest, weights.back());
    }
    return weigh(request, head, weights, largest);
  }

private:
  double scaleOf(const char *name) const { return name ? scalar(operands, name) : 1; }

  std::vector<double> rowOf(Role role, int64_t request, int64_t token, int64_t head, int64_t width) const {
    const auto &tensor = *operands.find(role);
    int64_t first =
        operands.cacheRow(tensor, request, token) + head / kernel.headsPerKv() * tensor.strideHead;
    return decodeRow(tensor, first, width, kernel.compute);
  }

  Row weigh(int64_t request, int64_t head, std::vector<double> weights, double largest) const {
    double sum = 0, sink = formula.sink ? std::exp(ofHead(operands, "sinks", head) - largest) : 0;
    for (double &weight : weights)
      sum += weight = largest == -kInfinity ? 0 : std::exp(weight - largest);
    Row row{std::vector<double>(kernel.vDim), -kInfinity};
    double inLse = sum + (attended.sinkInLse ? sink : 0);
    if (inLse > 0)
      row.lse = (largest + std::log(inLse)) * std::numbers::log2e;
    for (size_t token = 0; token < weights.size(); ++token) {
      if (weights[token] == 0)
        continue;
      std::vector<double> v = rowOf(attended.value, request, int64_t(token), head, kernel.vDim);
      for (int64_t d = 0; d < kernel.vDim; ++d)
        row.out[d] += weights[token] / (sum + sink) * v[d] * scaleOf(attended.valueScale);
    }
    return row;
  }

  const KernelInfo &kernel;
  const Attended &attended;
  const Formula &formula;
  const HostOperands &operands;
};

void expectRow(const Row &expected, const HostOperands &operands, int64_t token, int64_t head,
               double tolerance) {
  double difference = 0, norm = 0;
  for (size_t d = 0; d < expected.out.size(); ++d) {
    double value = outValue(operands, token, head, static_cast<int64_t>(d));
    difference += (value - expected.out[d]) * (value - expected.out[d]);
    norm += expected.out[d] * expected.out[d];
  }
  EXPECT_LE(std::sqrt(difference), tolerance * std::sqrt(norm)) << "token " << token << ", head " << head;
  double lse = lseValue(operands, token, head);
  if (std::isinf(expected.lse))
    EXPECT_EQ(lse, expected.lse) << "token " << token << ", head " << head;
  else
    EXPECT_NEAR(lse, expected.lse, 1e-4) << "token " << token << ", head " << head;
}

} // namespace

void expectFormula(const KernelInfo &kernel, const Attended &attended, const Formula &formula,
                   const HostOperands &operands) {
  Expectation expectation(kernel, attended, formula, operands);
  double tolerance = kernel.compute == DType::f16 ? 4e-3 : 1.2e-2;
  for (int64_t request = 0; request < operands.batch(); ++request)
    for (int64_t index = 0; index < operands.shape.qLens[request]; ++index)
      for (int64_t head = 0; head < kernel.heads; ++head)
        expectRow(expectation.row(request, index, head), operands, operands.qIndptr[request] + index, head,
                  tolerance);
}

} // namespace mlac::test

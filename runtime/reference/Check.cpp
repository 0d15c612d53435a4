#include "runtime/reference/Check.h"

#include "runtime/reference/Formats.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace mla::reference {

Tolerance toleranceFor(DType compute) {
  constexpr double lse = 2e-3;
  switch (compute) {
  case DType::bf16:
    return {1.2e-2, lse};
  case DType::e4m3:
  case DType::e5m2:
  case DType::s8:
  case DType::u8:
    return {6e-2, lse};
  case DType::f16:
  case DType::f32:
    break;
  }
  return {4e-3, lse};
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Squared norms of a difference and of what was expected.
struct Norms {
  double difference = 0;
  double expected = 0;

  double quotient() const {
    if (std::isnan(difference))
      return infinity;
    if (expected == 0)
      return difference == 0 ? 0 : infinity;
    return std::sqrt(difference / expected);
  }
};

Norms rowNorms(const HostTensor &out, int64_t token, int64_t head, const double *expected, int64_t dims) {
  Norms norms;
  for (int64_t d = 0; d < dims; ++d) {
    double value =
        decode(out.operand.dtype, loadCode(out.operand.dtype, out.data(), out.element(token, head, d)));
    norms.difference += (value - expected[d]) * (value - expected[d]);
    norms.expected += expected[d] * expected[d];
  }
  return norms;
}

double lseError(const HostTensor &lse, int64_t token, int64_t head, double expected) {
  double value = decode(lse.operand.dtype, loadCode(lse.operand.dtype, lse.data(), lse.element(token, head)));
  if (std::isinf(expected) || std::isinf(value))
    return value == expected ? 0 : infinity;
  double error = std::fabs(value - expected);
  return std::isnan(error) ? infinity : error;
}

/// Whether everything but the tensor's own elements still holds the poison it was made with.
bool surroundingsIntact(const HostTensor &tensor) {
  DType type = tensor.operand.dtype;
  HostTensor copy = tensor;
  int64_t heads = tensor.operand.shape[0];
  int64_t dims = tensor.operand.shape.size() > 1 ? tensor.operand.shape[1] : 1;
  for (int64_t token = 0; token < tensor.tokens; ++token)
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t d = 0; d < dims; ++d)
        storeCode(type, copy.data(), tensor.element(token, head, d), poisonCode(type));
  std::vector<uint8_t> poison(copy.bytes.size());
  fillPoison(type, poison);
  return copy.bytes == poison;
}

class Checker {
public:
  Checker(const KernelInfo &kernel, const HostOperands &operands, const Expected &expected,
          const Tolerance &tolerance)
      : kernel(kernel), operands(operands), expected(expected), out(*operands.find(Role::output)),
        lse(operands.find(Role::lse)) {
    report.tolerance = tolerance;
  }

  Report run() {
    for (int64_t request = 0; request < operands.batch(); ++request)
      for (int64_t token = operands.qIndptr[request]; token < operands.qIndptr[request + 1]; ++token)
        for (int64_t head = 0; operands.isSampled(request, token) && head < kernel.heads; ++head)
          checkRow(token, head);
    report.overallError = total.quotient();
    report.canariesIntact = surroundingsIntact(out) && (!lse || surroundingsIntact(*lse));
    return report;
  }

private:
  void checkRow(int64_t token, int64_t head) {
    int64_t row = token * kernel.heads + head;
    Norms norms = rowNorms(out, token, head, expected.out.data() + row * kernel.vDim, kernel.vDim);
    total.difference += norms.difference;
    total.expected += norms.expected;
    double outError = norms.quotient();
    double rowLseError = lse ? lseError(*lse, token, head, expected.lse[row]) : 0;
    if (outError > report.maxRowError || report.worstToken < 0) {
      report.maxRowError = outError;
      report.worstToken = token;
      report.worstHead = head;
    }
    report.maxLseError = std::max(report.maxLseError, rowLseError);
    report.badRows += outError > report.tolerance.out || rowLseError > report.tolerance.lse;
    ++report.rows;
  }

  const KernelInfo &kernel;
  const HostOperands &operands;
  const Expected &expected;
  const HostTensor &out;
  const HostTensor *lse;
  Norms total;
  Report report;
};

} // namespace

bool Report::passed() const { return badRows == 0 && canariesIntact; }

std::string Report::toJson() const {
  nlohmann::ordered_json json = {{"passed", passed()},
                                 {"rows", rows},
                                 {"bad_rows", badRows},
                                 {"max_row_error", maxRowError},
                                 {"overall_error", overallError},
                                 {"max_lse_error", maxLseError},
                                 {"worst_token", worstToken},
                                 {"worst_head", worstHead},
                                 {"canaries_intact", canariesIntact},
                                 {"tolerance", {{"out", tolerance.out}, {"lse", tolerance.lse}}}};
  return json.dump(2);
}

std::string Report::toText() const {
  std::string text =
      fmt::format("{}: {} rows, {} out of tolerance\n"
                  "output error: max {:.2e} (token {}, head {}), overall {:.2e}; allowed {:.1e}\n"
                  "LSE error: max {:.2e}; allowed {:.1e}\n",
                  passed() ? "passed" : "FAILED", rows, badRows, maxRowError, worstToken, worstHead,
                  overallError, tolerance.out, maxLseError, tolerance.lse);
  if (!canariesIntact)
    text += "memory around the outputs was overwritten\n";
  return text;
}

Report check(const KernelInfo &kernel, const HostOperands &operands, const Expected &expected,
             const Tolerance &tolerance) {
  return Checker(kernel, operands, expected, tolerance).run();
}

Report check(const KernelInfo &kernel, const HostOperands &operands, const Expected &expected) {
  return check(kernel, operands, expected, toleranceFor(kernel.compute));
}

} // namespace mla::reference

// What an attention program should give, from formulas written in tests: neither the frontend nor the
// reference's reading of an edit takes part.
#pragma once

#include "test/unit/pipeline/Bench.h"

#include <functional>

namespace mlac::test {

/// A score, the positions of query and cached token, and the head.
struct Place {
  double score;
  int64_t query, cached, head;
};

struct Formula {
  std::function<double(const HostOperands &, const Place &)> score = [](auto &, const Place &p) {
    return p.score;
  };
  std::function<bool(const Place &)> visible = [](auto &) { return true; };
  bool sink = false; // of the operand "sinks"
};

double scalar(const HostOperands &operands, const char *name);
double ofHead(const HostOperands &operands, const char *name, int64_t head);

/// Where a program's rows are and what they are multiplied by besides sm_scale; scale null: nothing.
struct Attended {
  bool causal, sinkInLse;
  Role key, value;
  const char *keyScale = nullptr, *valueScale = nullptr;
  double factor = 1; // of scores, as the program spells it
};

/// Compares every row with the definition of attention.
void expectFormula(const KernelInfo &kernel, const Attended &attended, const Formula &formula,
                   const HostOperands &operands);

} // namespace mlac::test

// The exact answer of a kernel, in double precision.
#pragma once

#include "runtime/reference/Operands.h"

namespace mla::reference {

struct Expected {
  std::vector<double> out; ///< [query tokens][heads][vDim]
  std::vector<double> lse; ///< [query tokens][heads], in the kernel's base (ln if it has none)
};

/// Evaluates the definition at KernelInfo row by row: stored values decoded exactly and
/// rounded to the compute type, which the language says of queries and of dequant(), an exact softmax, no
/// tiles. Reads only what the requests own. Uses up to `threads` threads (0: one per processor); the result
/// does not depend on how many. Rows that are not sampled (see HostOperands::isSampled) are left out.
Expected evaluate(const KernelInfo &kernel, const HostOperands &operands, int threads = 0);

} // namespace mla::reference

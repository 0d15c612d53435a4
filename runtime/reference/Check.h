// Comparison of a run's outputs with the exact answer.
#pragma once

#include "runtime/reference/Oracle.h"

namespace mla::reference {

/// What a kernel of some compute dtype may deviate.
struct Tolerance {
  double out = 0; ///< of a row's relative error
  double lse = 0; ///< absolute
};

/// f16: 4e-3; bf16: 1.2e-2; 8-bit floats: 6e-2; f32: 4e-3, for the output's own rounding. LSE: 2e-3.
Tolerance toleranceFor(DType compute);

/// Row errors are ||out - expected|| / ||expected|| over the row's vDim values; a row that must be zero
/// counts 0 if it is and infinity if not. A NaN counts as infinity. An infinite LSE must be met exactly.
struct Report {
  int64_t rows = 0;    ///< (query token, head) pairs
  int64_t badRows = 0; ///< rows out of tolerance in either way
  double maxRowError = 0;
  double overallError = 0; ///< the same quotient over all rows
  double maxLseError = 0;
  int64_t worstToken = -1; ///< where maxRowError is
  int64_t worstHead = -1;
  bool canariesIntact = true; ///< nothing around the outputs was written
  Tolerance tolerance;

  bool passed() const;
  /// A JSON object; infinite errors are null.
  std::string toJson() const;
  /// Two or three lines for people.
  std::string toText() const;
};

/// `operands` holds the outputs as they came back. Works on any operands made by makeOperands().
Report check(const KernelInfo &kernel, const HostOperands &operands, const Expected &expected,
             const Tolerance &tolerance);
/// The same with the tolerance of the kernel's compute type.
Report check(const KernelInfo &kernel, const HostOperands &operands, const Expected &expected);

} // namespace mla::reference

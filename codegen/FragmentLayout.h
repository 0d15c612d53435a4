// Which elements of a row the lanes of a warp hold. Plain index algebra, tested apart from any IR.
//
// Scores are S^T = K Q^T and outputs O^T = V^T P^T: cached rows stand on the instruction's m side, packed
// (query token x head) rows on its n side. A lane l has group g = l / 4 and column c = l % 4.
#pragma once

#include "codegen/Instructions.h"

namespace mlac {

/// How the two 16-bit pairs that come out of one stored register lie in a 16-wide step of the row.
enum class PairOrder : uint8_t {
  Halves,     // 16-bit storage: pair r holds dims 8 r + 2 c + {0, 1}
  Quads,      // 8-bit storage, pairs of neighbours: 4 c + 2 r + {0, 1}
  Interleaved // 8-bit storage, even and odd bytes: 4 c + r + {0, 2}
};

class FragmentLayout {
public:
  FragmentLayout(Element storage, Element compute);

  PairOrder pairOrder() const { return order; }
  bool byteStorage() const { return order != PairOrder::Halves; }

  /// Column of a 16-wide step that `half` of register `pair` holds, as contracted with the query.
  int contractedDim(int pair, int half, int c) const;

  /// Dimension within a 16-wide block of the value that accumulator register `reg` (0..3) holds.
  int valueDim(int reg, int g) const;

  /// Row (of the instruction's 8) that accumulator register `reg` holds.
  static int row(int reg, int c) { return 2 * c + reg % 2; }

  /// Stored bytes of one 16-wide step.
  int stepBytes() const { return byteStorage() ? 16 : 32; }
  /// Value dimensions that one x4 transposed ldmatrix covers for 16 tokens.
  int valueDimsPerLoad() const { return byteStorage() ? 32 : 16; }

private:
  PairOrder order;
};

} // namespace mlac

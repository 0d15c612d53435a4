// Index algebra of fragments.
#include "codegen/FragmentLayout.h"

namespace mlac {

static PairOrder orderOf(Element storage, Element compute) {
  if (bitsOf(storage) == 16)
    return PairOrder::Halves;
  // cvt takes neighbouring bytes; the bit moves that make bf16 take every second one.
  return compute == Element::BF16 ? PairOrder::Interleaved : PairOrder::Quads;
}

FragmentLayout::FragmentLayout(Element storage, Element compute) : order(orderOf(storage, compute)) {}

int FragmentLayout::contractedDim(int pair, int half, int c) const {
  switch (order) {
  case PairOrder::Halves:
    return 8 * pair + 2 * c + half;
  case PairOrder::Quads:
    return 4 * c + 2 * pair + half;
  case PairOrder::Interleaved:
    return 4 * c + 2 * half + pair;
  }
  return 0;
}

int FragmentLayout::valueDim(int reg, int g) const {
  // A transposed b16 load of bytes gives each lane two neighbouring dims: they become rows g and g + 8.
  return byteStorage() ? 2 * g + reg / 2 : g + 8 * (reg / 2);
}

} // namespace mlac

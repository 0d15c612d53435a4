// Batches of reference operands in a device's memory, through the public API.
#pragma once

#include "mla/mla.hpp"
#include "runtime/Manifest.h"
#include "runtime/reference/Check.h"

#include <vector>

namespace mla::test {

/// Outputs without the gaps between them, for bitwise comparison.
struct Bits {
  std::vector<uint8_t> out, lse;
  bool operator==(const Bits &) const = default;
};

/// One of several batches at a time, all at the same addresses and with the same strides and table width, as
/// a captured run needs it.
class Live {
public:
  using BatchShape = reference::BatchShape;

  /// Every batch needs the same page size.
  Live(Device &device, const KernelInfo &kernel, const std::vector<BatchShape> &shapes);
  Live(Device &device, const KernelInfo &kernel, const BatchShape &shape)
      : Live(device, kernel, std::vector{shape}) {}

  /// Uploads batch `index`; outputs hold poison.
  void use(size_t index);
  /// The host's copy of the batch in use, to be changed before upload().
  reference::HostOperands &host() { return batches[current]; }
  void upload();

  Lengths lengths() const;
  const Operands &operands() const { return bound; }
  Operands &operands() { return bound; }

  /// A capacity that fits all batches.
  Capacity capacity() const;

  /// Brings the outputs back and compares.
  reference::Report check();
  Bits bits();

private:
  void place(reference::HostTensor &tensor, Buffer &buffer);
  void download();

  Device &device;
  const KernelInfo &kernel;
  std::vector<reference::HostOperands> batches;
  size_t current = 0;
  std::vector<Buffer> buffers; ///< one for each tensor
  Buffer table, cacheIndptr;
  int64_t tableColumns = 0, pages = 0;
  std::vector<Scalar> scalars;
  std::vector<HeadValues> headValues;
  Operands bound;
};

} // namespace mla::test

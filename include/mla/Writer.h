// Kernels that append rows to a paged cache.
//
//   mla::Writer writer = mla::Writer::load(device, artefact);
//   writer.append({.parts = parts, .rows = 64, .slots = slots, .cache = cache, .scalars = scalars}, stream);
//
// Nothing is planned: append() may be called, and captured, at any time. What holds of mla/Kernel.h's shapes, strides and
// errors holds here.
#pragma once

#include "mla/Kernel.h"

namespace mla {

struct WriterInfo;

/// New rows of one part of the cache's row: row i, element d at data + (i * strideToken + d) elements.
struct NewRows {
  std::string_view name; ///< the buffer's in the program
  DevicePtr data = 0;
  DType dtype = DType::f32;
  int64_t dim = 0;
  int64_t strideToken = 0;
};

/// Rows and where they go, either of two ways.
///
/// By slots: row i goes to slot s = slots[i], row s % pageSize of page s / pageSize. -1 (or any negative number) skips the row. With
/// an indptr, only its last entry counts: rows from indptr[requests] on are skipped, so that a graph's replays can
/// have fewer.
///
/// By request lists, without slots: rows indptr[r] .. indptr[r + 1] - 1 are the last of the kvLen[r] cached tokens of request r, and
/// go where the page table says; the same lists then plan the attention over them.
///
/// A row whose slot or page is outside of the pool is not written; nothing outside of the pool ever is.
struct Append {
  std::span<const NewRows> parts; ///< all that the program names
  int64_t rows = 0;               ///< of the parts
  DevicePtr slots = 0;            ///< i64[rows] or i32[rows], device memory
  int slotBytes = 8;              ///< 8 or 4
  int64_t requests = 0;           ///< of the lists
  DevicePtr indptr = 0;           ///< i32[requests + 1], device memory
  DevicePtr kvLen = 0;            ///< i32[requests], device memory
  int64_t tableColumns = 0;       ///< page-table entries of a request
  Cache cache;                    ///< table and tableStride: of request lists alone
  std::span<const Scalar> scalars;
  /// For debugging: looks through slots or lists first, and throws for the first row that would not be written, or of two
  /// rows that go to one slot. Waits for the stream, so it cannot be captured.
  bool check = false;
};

/// A writer on a device. A handle, as Kernel is.
class Writer {
public:
  /// Loads an artefact's PTX into the device. `name` may be empty if there is one writer. Throws as Kernel::load().
  static Writer load(std::shared_ptr<Device> device, std::string_view artefact, std::string_view name = {});

  const std::string &name() const;
  DType cacheDType() const;
  int64_t width() const; ///< of the cache's rows
  Device &device() const;

  /// Queues the launch. Allocates nothing, unless Append::check is set, and may be captured; a captured append keeps its addresses,
  /// strides, scalars and numbers. Throws Error operandMismatch, operandNull, operandAlignment, missingOperand, scaleValue,
  /// pageSize, poolSize, tableGeometry, tooLarge; and with Append::check slot, pageEntry, indptrStart, indptrOrder, kvLenNegative,
  /// kvLenBeyondTable, kvLenMismatch, streamCapturing.
  void append(const Append &append, Stream stream = 0) const;

  const WriterInfo &info() const;

private:
  struct Loaded;
  std::shared_ptr<const Loaded> loaded;
};

} // namespace mla

// From an append to the launch of a writer.
#pragma once

#include "mla/Writer.h"
#include "runtime/Abi.h"

#include <array>

namespace mla {

/// What each parameter of a writer is, found once. Holds the writer by reference.
class AppendLaunch {
public:
  /// Throws Error unknownParameter, or tooLarge for more parts and scalars than a launch takes.
  explicit AppendLaunch(const WriterInfo &writer);

  /// Everything that can be known without the device; no allocation unless it throws.
  void check(const Append &append) const;
  /// Waits for the stream and looks at slots or lists.
  void checkPlaces(Device &device, const Append &append, Stream stream) const;
  /// Checks and queues.
  void launch(Device &device, Module &module, const Append &append, Stream stream) const;

  /// The shape of any launch, for Device::prepare().
  const Launch &shape() const { return prepared; }

private:
  static constexpr size_t most = 128;
  using Words = std::array<uint64_t, most>;

  void fill(const Append &append, Words &words) const;

  const WriterInfo &writer;
  Launch prepared;
  std::vector<uint16_t> places; ///< of the entry's parameters in Words, whose order is that of writerParams()
};

/// The rows that an append writes at most, as its lists say, and where: page and row of it of each, page -1 for a row that is
/// skipped. Reads device memory; throws what checkPlaces() promises.
std::vector<std::pair<int64_t, int64_t>> placesOf(Device &device, const Append &append);

} // namespace mla

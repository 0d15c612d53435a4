// From bound operands and a plan to the parameter list of a launch.
#pragma once

#include "runtime/Abi.h"
#include "runtime/Device.h"

#include <map>
#include <string>
#include <vector>

namespace mla {

/// The launch-time values of one operand; the fields that its role does not have are ignored. Strides count
/// elements.
struct BoundOperand {
  DevicePtr data = 0; ///< address of element 0
  int64_t strideToken = 0;
  int64_t strideHead = 0;
  int64_t stridePage = 0;
  DevicePtr table = 0; ///< paged: i32[batch][tableStride]
  int64_t tableStride = 0;
  int32_t pageSize = 1;
  DevicePtr indptr = 0; ///< ragged cache: i32[batch + 1]
  DevicePtr scales = 0; ///< rows of scales that lie apart; strides in bytes
  int64_t strideScalePage = 0;
  int64_t strideScaleToken = 0;
  float scalar = 0;
};

using BoundOperands = std::map<std::string, BoundOperand, std::less<>>;

/// Device copies of a plan's arrays.
struct BoundPlan {
  DevicePtr qIndptr = 0;
  DevicePtr kvLen = 0;
  DevicePtr workIndptr = 0;
  DevicePtr work = 0;
  DevicePtr merges = 0;
  DevicePtr partialOut = 0;
  DevicePtr partialLse = 0;
};

/// Parameter values and the array of pointers to them that a launch takes. Movable, not copyable.
class ParamList {
public:
  explicit ParamList(std::vector<uint64_t> values);
  ParamList(const ParamList &) = delete;
  ParamList(ParamList &&) = default;

  void **data() { return pointers.data(); }
  size_t size() const { return values.size(); }
  /// The value's bytes, zero-extended to 64 bits.
  uint64_t value(size_t index) const { return values[index]; }

private:
  std::vector<uint64_t> values;
  std::vector<void *> pointers;
};

/// A launch of that entry; grid and stream are left open.
Launch launchOf(const Entry &entry);

/// The parameters of `entry`, in its order. Throws Error unknownParameter for a word outside the vocabulary
/// and missingOperand for an operand that is not bound.
ParamList bindParams(const KernelInfo &kernel, const Entry &entry, const BoundOperands &operands,
                     const BoundPlan &plan);

} // namespace mla

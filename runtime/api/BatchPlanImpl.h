// What a BatchPlan holds.
#pragma once

#include "runtime/Plan.h"
#include "runtime/api/Loaded.h"
#include "runtime/api/OperandCheck.h"
#include "runtime/api/Sizes.h"
#include "runtime/api/Staging.h"
#include "runtime/api/StatusWord.h"

namespace mla {

struct BatchPlan::Impl {
  Impl(std::shared_ptr<Kernel::Loaded> kernel, Config config, Sizes sizes, Workspace workspace);

  void plan(const Lengths &lengths, Stream stream);
  void planOnDevice(const DeviceLengths &lengths, Stream stream);
  void checkDevice();
  void run(const Operands &operands, Stream stream);
  void checkOperands(const Operands &operands) const;

  std::shared_ptr<Kernel::Loaded> kernel;
  Config config;
  Sizes sizes;
  StatusWord status; ///< released last: the release of device memory waits for kernels that may write to it
  Buffer lists;
  StagingRing staging;
  Buffer scratch;
  Plan made;   ///< kept for its memory
  Words words; ///< the plan's addresses; run() adds the operands'
  Launch main, combine, planner, check;

  // Of the batch planned last.
  bool planned = false;
  PlanStats stats;
  Expected expected;
  PageDivision division{};
  int64_t requests = 0;

private:
  const KernelInfo &info() const { return *kernel->info; }
  Device &device() const { return *kernel->device; }
  void checkCapacity() const;
  /// Writes the lists at their places, but for the work items; gives the bytes to copy.
  size_t write(std::byte *to) const;
  void remember(const Lengths &lengths);
  void setLaunches(int64_t grid, CombineLaunch merging);
  /// The combine's launch for any batch of the capacity.
  CombineLaunch capacityCombine() const;
  void setGeometry(int32_t pageSize, int64_t tableColumns, int64_t pages);
  PlanRequest deviceRequest(const DeviceLengths &lengths) const;
  void checkDeviceLengths(const DeviceLengths &lengths) const;
  void writeBatch(const DeviceLengths &lengths, Words &into) const;
  void checkTable(Words &values, Stream stream);
  void writeOperands(const Operands &operands, Words &into) const;
  void launch(const Binding &binding, Launch &launch, Words &values, Stream stream);
};

/// A request of no lengths yet, split as the configuration says.
PlanRequest splitOf(const Config &config);

} // namespace mla

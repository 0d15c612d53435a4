// What a BatchPlan holds.
#pragma once

#include "runtime/Plan.h"
#include "runtime/api/Loaded.h"
#include "runtime/api/OperandCheck.h"
#include "runtime/api/Sizes.h"
#include "runtime/api/Staging.h"

namespace mla {

struct BatchPlan::Impl {
  Impl(std::shared_ptr<Kernel::Loaded> kernel, Config config, Sizes sizes, Workspace workspace);

  void plan(const Lengths &lengths, Stream stream);
  void run(const Operands &operands, Stream stream);
  void checkOperands(const Operands &operands) const;

  std::shared_ptr<Kernel::Loaded> kernel;
  Config config;
  Sizes sizes;
  Buffer lists;
  StagingRing staging;
  Words words; ///< the plan's addresses; run() adds the operands'
  Launch main, combine;

  // Of the batch planned last.
  bool planned = false;
  PlanStats stats;
  Expected expected;
  PageDivision division{};
  std::vector<int32_t> kvLen;

private:
  const KernelInfo &info() const { return *kernel->info; }
  Device &device() const { return *kernel->device; }
  void checkCapacity(const Plan &made) const;
  /// Writes the lists at their places; gives the bytes to copy.
  size_t write(const Plan &made, std::byte *to) const;
  void remember(const Plan &made, const Lengths &lengths);
  void checkTable(const Cache &cache, Stream stream) const;
  void writeOperands(const Operands &operands, Words &into) const;
  void launch(const Binding &binding, Launch &launch, Words &values, Stream stream);
};

} // namespace mla

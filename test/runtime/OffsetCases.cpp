// Pools beyond 2^31 and 2^32 bytes: only the touched pages are written, and results have the bits of a
// compact pool.
#include "Rig.h"

#include <algorithm>

using namespace mla;
using namespace mla::test;

namespace {

class Offsets : public DeviceCase {
protected:
  /// Runs one request on pages `ids` of a pool with that stride, and compares with the same pages side by
  /// side.
  void compare(int32_t pageSize, int64_t stridePage, const std::vector<int32_t> &ids) {
    Kernel kernel = rig->load(Program::decode);
    Live live(device(), kernel.info(),
              {{1}, {static_cast<int32_t>(ids.size()) * pageSize - (pageSize > 1)}, pageSize});
    Bits expected = runBits(kernel, live);
    int64_t pages = *std::max_element(ids.begin(), ids.end()) + 1;
    Buffer pool(device(), static_cast<size_t>(pages * stridePage), "a large pool");
    Buffer table(device(), ids.size() * sizeof(int32_t), "its table");
    table.copyIn(ids.data(), ids.size() * sizeof(int32_t));
    const reference::HostTensor &cache = *live.host().find(Role::cache);
    for (size_t i = 0; i < ids.size(); ++i) {
      const uint8_t *from = cache.data() + live.host().table[i] * cache.stridePage;
      device().copyIn(pool.get() + static_cast<uint64_t>(ids[i]) * static_cast<uint64_t>(stridePage), from,
                      static_cast<size_t>(pageSize * cache.strideToken));
    }
    Lengths lengths = live.lengths();
    lengths.pages = pages;
    lengths.tableColumns = static_cast<int64_t>(ids.size());
    Operands operands = live.operands();
    operands.cache.data = pool.get();
    operands.cache.pages = pages;
    operands.cache.stridePage = stridePage;
    operands.cache.table = table.get();
    operands.cache.tableStride = lengths.tableColumns;
    Config config;
    config.capacity = live.capacity();
    Planned plan(kernel, config);
    plan->plan(lengths);
    plan->run(operands);
    EXPECT_EQ(live.bits(), expected);
  }

  /// Bytes of a page whose rows lie as the reference operands' do.
  int64_t pageBytes(int32_t pageSize) {
    Kernel kernel = rig->load(Program::decode);
    return pageSize * Live(device(), kernel.info(), {{1}, {1}, pageSize}).operands().cache.strideToken;
  }
};

} // namespace

TEST_F(Offsets, PagesAround31And32Bits) {
  int64_t stride = pageBytes(32);
  std::vector<int32_t> ids{0, 3};
  if (rig->full)
    for (int64_t boundary : {int64_t{1} << 31, int64_t{1} << 32})
      for (int64_t page = boundary / stride - 1; page <= boundary / stride + 1; ++page)
        ids.push_back(static_cast<int32_t>(page));
  compare(32, stride, ids);
}

TEST_F(Offsets, LargeStridesBetweenFewPages) {
  constexpr int64_t stride = 1077120; // a record of all layers
  compare(16, stride,
          rig->full ? std::vector<int32_t>{1992, 1993, 1994, 1995, 1} : std::vector<int32_t>{5, 2});
}

TEST_F(Offsets, SlotsOfOneToken) {
  int64_t stride = pageBytes(1);
  auto boundary = static_cast<int32_t>((int64_t{1} << 31) / stride);
  compare(1, stride,
          rig->full ? std::vector<int32_t>{boundary - 1, boundary, boundary + 1, boundary + 2, 7}
                    : std::vector<int32_t>{9, 0, 4});
}

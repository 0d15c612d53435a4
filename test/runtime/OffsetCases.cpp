// Pools beyond 2^31 and 2^32 bytes: only the touched pages are written, and results have the bits of a
// compact pool.
#include "Rig.h"

#include <algorithm>
#include <numeric>

using namespace mla;
using namespace mla::test;

namespace {

class Offsets : public DeviceCase {
protected:
  /// Runs one request on pages `ids` of a pool with that stride, and compares with the same pages side by
  /// side.
  /// `below`: bytes of the pool's allocation in front of its first page.
  void compare(int32_t pageSize, int64_t stridePage, const std::vector<int32_t> &ids, int64_t below = 0) {
    Kernel kernel = rig->load(Program::decode);
    Live live(device(), kernel.info(),
              {{1}, {static_cast<int32_t>(ids.size()) * pageSize - (pageSize > 1)}, pageSize});
    Bits expected = runBits(kernel, live);
    int64_t pages = *std::max_element(ids.begin(), ids.end()) + 1;
    Buffer allocation(device(), static_cast<size_t>(below + pages * stridePage), "a large pool");
    DevicePtr pool = allocation.get() + static_cast<uint64_t>(below);
    Buffer table(device(), ids.size() * sizeof(int32_t), "its table");
    table.copyIn(ids.data(), ids.size() * sizeof(int32_t));
    const reference::HostTensor &cache = *live.host().find(Role::cache);
    for (size_t i = 0; i < ids.size(); ++i) {
      const uint8_t *from = cache.data() + live.host().table[i] * cache.stridePage;
      device().copyIn(pool + static_cast<uint64_t>(ids[i]) * static_cast<uint64_t>(stridePage), from,
                      static_cast<size_t>(pageSize * cache.strideToken));
    }
    Lengths lengths = live.lengths();
    lengths.pages = pages;
    lengths.tableColumns = static_cast<int64_t>(ids.size());
    Operands operands = live.operands();
    operands.cache.data = pool;
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

  /// A batch behind `ahead` other requests of one query token: its rows must have the bits that they have
  /// alone. The others read the cache rows of the batch's first request.
  void compareBehind(Program program, int64_t ahead) {
    Kernel kernel = rig->load(program);
    constexpr int32_t batch = 64;
    Live live(device(), kernel.info(), {std::vector<int32_t>(batch, 1), std::vector<int32_t>(batch, 1), 16});
    Bits expected = runBits(kernel, live);
    Far query(device(), live.operands().query, ahead), out(device(), live.operands().out, ahead),
        lse(device(), live.operands().lse, ahead);
    query.copyTail(live.host().find(Role::query)->data());
    std::vector<int32_t> qIndptr(static_cast<size_t>(ahead + batch + 1)),
        kvLen(static_cast<size_t>(ahead + batch), 1);
    std::iota(qIndptr.begin(), qIndptr.end(), 0);
    Lengths lengths = live.lengths();
    lengths.qIndptr = qIndptr;
    lengths.kvLen = kvLen;
    std::vector<int32_t> table(kvLen.size() * static_cast<size_t>(lengths.tableColumns),
                               live.host().table[0]);
    for (int64_t r = 0; r < batch; ++r)
      table[static_cast<size_t>((ahead + r) * lengths.tableColumns)] =
          live.host().table[static_cast<size_t>(r * live.host().tableStride)];
    Buffer farTable(device(), table.size() * sizeof(int32_t), "its table");
    farTable.copyIn(table.data(), table.size() * sizeof(int32_t));
    Operands operands = live.operands();
    operands.query = query.tensor;
    operands.out = out.tensor;
    operands.lse = lse.tensor;
    operands.cache.table = farTable.get();
    Config config;
    config.capacity = {ahead + batch, ahead + batch, 0};
    Planned plan(kernel, config);
    plan->plan(lengths);
    plan->run(operands);
    device().synchronize();
    out.fetchTail(live.host().find(Role::output)->data());
    lse.fetchTail(live.host().find(Role::lse)->data());
    live.upload(); // what was fetched, so that bits() reads it back
    EXPECT_EQ(live.bits(), expected);
  }

  /// A tensor of the batch's rows and strides with rows in front of them.
  struct Far {
    Far(Device &device, const Tensor &like, int64_t ahead)
        : tensor(like), rowBytes(like.strideToken * bytes(like.dtype)), tailBytes(like.rows * rowBytes),
          buffer(device, static_cast<size_t>(ahead * rowBytes + tailBytes), "a tensor of many rows"),
          tail(buffer.get() + static_cast<uint64_t>(ahead * rowBytes)), device(device) {
      buffer.fill(0);
      tensor.data = buffer.get();
      tensor.rows = ahead + like.rows;
    }
    // The last row ends where its last head does.
    int64_t used() const {
      return tailBytes - rowBytes + tensor.strideHead * tensor.heads * bytes(tensor.dtype);
    }
    void copyTail(const uint8_t *from) { device.copyIn(tail, from, static_cast<size_t>(used())); }
    void fetchTail(uint8_t *to) { device.copyOut(to, tail, static_cast<size_t>(used())); }

    Tensor tensor;
    int64_t rowBytes, tailBytes;
    Buffer buffer;
    DevicePtr tail;
    Device &device;
  };

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

TEST_F(Offsets, ViewIntoTheUpperHalf) {
  // A view into a pool that other tensors share: bounds are those of the view, not of the allocation.
  int64_t stride = pageBytes(32), half = int64_t{9} << 28;
  auto last = static_cast<int32_t>(half / stride);
  compare(32, stride, rig->full ? std::vector<int32_t>{0, last - 1, last, 3} : std::vector<int32_t>{0, 5, 3},
          rig->full ? half : 4096);
}

TEST_F(Offsets, QueryTokensBeyond31BitsOfElements) {
  // 128 heads x 512 elements a token pass 2^31 at 32,768 tokens.
  compareBehind(Program::wide, rig->full ? 32768 : 40);
}

TEST_F(Offsets, OutputsBeyond32BitsLeaveWhatLiesBelow) {
  Kernel kernel = rig->load(Program::decode);
  Live live(device(), kernel.info(), {{1, 1, 1}, {20, 0, 33}, 16});
  Bits expected = runBits(kernel, live);
  constexpr int64_t canary = 1 << 20;
  Operands operands = live.operands();
  Tensor &out = operands.out;
  int64_t stride =
      rig->full ? (int64_t{1} << 30) + 64 : 2 * out.strideToken; // elements: row 2 begins beyond 2^32 bytes
  int64_t rowBytes = out.strideHead * out.heads * bytes(out.dtype);
  Buffer allocation(device(), static_cast<size_t>(canary + 2 * stride * bytes(out.dtype) + rowBytes),
                    "far outputs");
  allocation.fill(0xA5);
  out.data = allocation.get() + canary;
  out.strideToken = stride;
  Config config;
  config.capacity = live.capacity();
  Planned plan(kernel, config);
  plan->plan(live.lengths());
  plan->run(operands);
  device().synchronize();
  std::vector<uint8_t> below(canary);
  device().copyOut(below.data(), allocation.get(), canary);
  EXPECT_TRUE(std::all_of(below.begin(), below.end(), [](uint8_t byte) { return byte == 0xA5; }));
  reference::HostTensor &host = *live.host().find(Role::output);
  for (int64_t row = 0; row < 3; ++row)
    device().copyOut(host.data() + row * host.strideToken * bytes(out.dtype),
                     out.data + static_cast<uint64_t>(row * stride * bytes(out.dtype)),
                     static_cast<size_t>(rowBytes));
  Bits got = expected;
  live.upload();
  got.out = live.bits().out;
  EXPECT_EQ(got, expected);
}

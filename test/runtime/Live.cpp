#include "Live.h"

#include <algorithm>
#include <cstring>

namespace mla::test {

using reference::HostOperands;
using reference::HostTensor;

Live::Live(Device &device, const KernelInfo &kernel, const std::vector<BatchShape> &shapes)
    : device(device), kernel(kernel) {
  std::vector<size_t> sizes;
  size_t requests = 0;
  for (const BatchShape &shape : shapes) {
    const HostOperands &batch = batches.emplace_back(reference::makeOperands(kernel, shape));
    sizes.resize(batch.tensors.size());
    for (size_t i = 0; i < sizes.size(); ++i)
      sizes[i] = std::max(sizes[i], batch.tensors[i].bytes.size());
    tableColumns = std::max(tableColumns, batch.tableColumns);
    pages = std::max(pages, batch.pages);
    requests = std::max(requests, shape.kvLens.size());
  }
  for (size_t size : sizes)
    buffers.emplace_back(device, size, "a tensor of the test");
  table = Buffer(device, (requests * static_cast<size_t>(tableColumns)) * sizeof(int32_t), "the page table");
  cacheIndptr = Buffer(device, (requests + 1) * sizeof(int32_t), "the cache indptr");
  use(0);
}

void Live::use(size_t index) {
  current = index;
  upload();
}

void Live::upload() {
  HostOperands &batch = host();
  std::vector<int32_t> wide(static_cast<size_t>(batch.batch() * tableColumns), reference::unusedPage);
  for (int64_t r = 0; r < batch.batch() && batch.tableStride; ++r)
    std::copy_n(&batch.table[static_cast<size_t>(r * batch.tableStride)], batch.tableColumns,
                &wide[static_cast<size_t>(r * tableColumns)]);
  table.copyIn(wide.data(), wide.size() * sizeof(int32_t));
  cacheIndptr.copyIn(batch.cacheIndptr.data(), batch.cacheIndptr.size() * sizeof(int32_t));
  scalars.clear();
  for (const auto &[name, value] : batch.scalars)
    scalars.push_back({name, value});
  bound.scalars = scalars;
  headValues.clear();
  for (size_t i = 0; i < buffers.size(); ++i)
    place(batch.tensors[i], buffers[i]);
  bound.headValues = headValues;
}

static Tensor tensorOf(const HostTensor &tensor, DevicePtr data) {
  const std::vector<int64_t> &shape = tensor.operand.shape;
  return {data,
          tensor.operand.dtype,
          tensor.tokens,
          shape[0],
          shape.size() > 1 ? shape[1] : 1,
          tensor.strideToken,
          tensor.strideHead};
}

void Live::place(HostTensor &tensor, Buffer &buffer) {
  buffer.copyIn(tensor.bytes.data(), tensor.bytes.size());
  DevicePtr data = buffer.get() + static_cast<uint64_t>(tensor.offset);
  switch (tensor.operand.role) {
  case Role::query:
    bound.query = tensorOf(tensor, data);
    break;
  case Role::output:
    bound.out = tensorOf(tensor, data);
    break;
  case Role::lse:
    bound.lse = tensorOf(tensor, data);
    break;
  case Role::headValues:
    headValues.push_back({tensor.operand.name, data, tensor.operand.shape[0]});
    break;
  case Role::key:
    bound.key = tensorOf(tensor, data);
    break;
  case Role::value:
    bound.value = tensorOf(tensor, data);
    break;
  default:
    bound.cache = {data,
                   tensor.operand.dtype,
                   tensor.operand.shape[0],
                   tensor.strideToken,
                   pages,
                   host().shape.pageSize,
                   tensor.stridePage,
                   table.get(),
                   tableColumns,
                   cacheIndptr.get(),
                   data + static_cast<uint64_t>(tensor.scalesAt),
                   tensor.strideScalePage,
                   tensor.strideScaleToken};
  }
}

Lengths Live::lengths() const {
  const HostOperands &batch = batches[current];
  Lengths lengths;
  lengths.qIndptr = batch.qIndptr;
  lengths.kvLen = batch.shape.kvLens;
  lengths.pageSize = batch.shape.pageSize;
  lengths.tableColumns = tableColumns;
  lengths.pages = pages;
  lengths.cacheIndptr = batch.cacheIndptr;
  return lengths;
}

Capacity Live::capacity() const {
  Capacity capacity{1, 1, 0};
  for (const HostOperands &batch : batches) {
    capacity.requests = std::max(capacity.requests, batch.batch());
    capacity.queryRows = std::max(capacity.queryRows, batch.queryTokens());
  }
  return capacity;
}

void Live::download() {
  for (size_t i = 0; i < buffers.size(); ++i) {
    HostTensor &tensor = host().tensors[i];
    if (tensor.operand.role == Role::output || tensor.operand.role == Role::lse)
      buffers[i].copyOut(tensor.bytes.data(), tensor.bytes.size());
  }
}

reference::Report Live::check() {
  download();
  return reference::check(kernel, host(), reference::evaluate(kernel, host()));
}

static std::vector<uint8_t> packed(const HostTensor &tensor) {
  int64_t size = bytes(tensor.operand.dtype), heads = tensor.operand.shape[0];
  int64_t rowBytes = size * (tensor.operand.shape.size() > 1 ? tensor.operand.shape[1] : 1);
  std::vector<uint8_t> rows(static_cast<size_t>(tensor.tokens * heads * rowBytes));
  uint8_t *to = rows.data();
  for (int64_t token = 0; token < tensor.tokens; ++token)
    for (int64_t head = 0; head < heads; ++head, to += rowBytes)
      std::memcpy(to, tensor.data() + tensor.element(token, head) * size, static_cast<size_t>(rowBytes));
  return rows;
}

Bits Live::bits() {
  download();
  Bits bits{packed(*host().find(Role::output)), {}};
  if (const HostTensor *lse = host().find(Role::lse))
    bits.lse = packed(*lse);
  return bits;
}

} // namespace mla::test

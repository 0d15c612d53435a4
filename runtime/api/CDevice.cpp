// Devices through the C API.
#include "runtime/api/CHandles.h"

using namespace mla::c;

static mla::Device &deviceOf(mla_device *device) { return *required(device, "device").device; }

mla_status mla_cuda_device_count(int *count) {
  return guarded([&] { required(count, "count") = mla::cudaDeviceCount(); });
}

mla_status mla_cuda_device_create(int index, mla_device **device) {
  return guarded([&] {
    required(device, "device") = nullptr;
    *device = new mla_device{mla::createCudaDevice(index)};
  });
}

void mla_device_free(mla_device *device) { delete device; }

mla_status mla_device_allocate(mla_device *device, size_t bytes, uint64_t *address) {
  return guarded(
      [&] { required(address, "address") = deviceOf(device).allocate(bytes, "allocated through C"); });
}

mla_status mla_device_release(mla_device *device, uint64_t address) {
  return guarded([&] { deviceOf(device).release(address); });
}

mla_status mla_device_copy_in(mla_device *device, uint64_t to, const void *from, size_t bytes) {
  return guarded([&] {
    required(static_cast<const char *>(from), "from");
    deviceOf(device).copyIn(to, from, bytes);
  });
}

mla_status mla_device_copy_out(mla_device *device, void *to, uint64_t from, size_t bytes) {
  return guarded([&] {
    required(static_cast<char *>(to), "to");
    deviceOf(device).copyOut(to, from, bytes);
  });
}

mla_status mla_device_synchronize(mla_device *device, uint64_t stream) {
  return guarded([&] { deviceOf(device).synchronize(stream); });
}

mla_status mla_stream_create(mla_device *device, uint64_t *stream) {
  return guarded([&] { required(stream, "stream") = deviceOf(device).createStream(); });
}

void mla_stream_free(mla_device *device, uint64_t stream) {
  if (device && stream)
    device->device->destroyStream(stream);
}

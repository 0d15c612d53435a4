// A device whose launches break off half way when it is told so, as after a fault or a timeout.
#pragma once

#include "mla/Device.h"

namespace mla::test {

/// Hands everything on to another device; every launch takes the first half of its blocks only, and then
/// throws, while `aborting` is set.
class AbortingDevice : public Device {
public:
  explicit AbortingDevice(std::shared_ptr<Device> on) : on(std::move(on)) {}

  bool aborting = false;

  std::string name() const override { return on->name(); }
  int multiprocessors() const override { return on->multiprocessors(); }
  DevicePtr allocate(size_t bytes, const std::string &label) override { return on->allocate(bytes, label); }
  void release(DevicePtr pointer) noexcept override { on->release(pointer); }
  void copyIn(DevicePtr to, const void *from, size_t bytes) override { on->copyIn(to, from, bytes); }
  void copyOut(void *to, DevicePtr from, size_t bytes) override { on->copyOut(to, from, bytes); }
  void fill(DevicePtr to, uint8_t value, size_t bytes) override { on->fill(to, value, bytes); }
  std::unique_ptr<Module> load(std::string_view image) override { return on->load(image); }
  void prepare(Module &module, const Launch &launch) override { on->prepare(module, launch); }
  int residentBlocks(Module &module, const Launch &launch) override {
    return on->residentBlocks(module, launch);
  }
  void synchronize() override { on->synchronize(); }
  void *allocateHost(size_t bytes) override { return on->allocateHost(bytes); }
  void releaseHost(void *memory) noexcept override { on->releaseHost(memory); }
  void copyInAsync(DevicePtr to, const void *from, size_t bytes, Stream stream) override {
    on->copyInAsync(to, from, bytes, stream);
  }
  std::unique_ptr<Event> createEvent() override { return on->createEvent(); }
  std::optional<double> timed(const std::function<void()> &work) override { return on->timed(work); }
  std::optional<uint64_t> bytesRead(DevicePtr allocation) const override { return on->bytesRead(allocation); }

  void launch(Module &module, const Launch &launch, void **params) override {
    if (!aborting)
      return on->launch(module, launch, params);
    Launch half = launch;
    half.grid /= 2;
    if (half.grid)
      on->launch(module, half, params);
    throw Error(Error::Code::driverFailure, launch.entry + " broke off", "", "");
  }

private:
  std::shared_ptr<Device> on;
};

} // namespace mla::test

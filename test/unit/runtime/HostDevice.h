// A device in plain host memory whose kernels are C++ functions.
#pragma once

#include "runtime/Device.h"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace mla::test {

using HostEntry = std::function<void(const Launch &launch, void **params)>;

class HostDevice : public Device {
public:
  explicit HostDevice(std::map<std::string, HostEntry> entries) : entries(std::move(entries)) {}

  int blocks = 8;
  static constexpr size_t mostLaunches = 1000;
  std::vector<Launch> launches; ///< the first ones

  std::string name() const override { return "host"; }
  int multiprocessors() const override { return blocks; }
  DevicePtr allocate(size_t bytes, const std::string &label) override;
  void release(DevicePtr pointer) noexcept override;
  void copyIn(DevicePtr to, const void *from, size_t bytes) override;
  void copyOut(void *to, DevicePtr from, size_t bytes) override;
  void fill(DevicePtr to, uint8_t value, size_t bytes) override;
  std::unique_ptr<Module> load(std::string_view image) override;
  void launch(Module &module, const Launch &launch, void **params) override;
  int residentBlocks(Module &, const Launch &) override { return blocks; }
  void synchronize() override {}
  std::optional<double> timed(const std::function<void()> &work) override;
  std::optional<uint64_t> bytesRead(DevicePtr) const override { return std::nullopt; }
  size_t live() const { return allocations.size(); }
  Stream createStream() override { return ++lastStream; }
  bool capturing(Stream stream) override;
  std::unique_ptr<Graph> capture(Stream stream, const std::function<void()> &record) override;

  /// The stream that a graph's launches are on: none that is captured.
  static constexpr Stream replaying = ~Stream{0};

  /// A launch with its parameters' values.
  struct Recorded {
    Launch launch;
    std::vector<uint64_t> values;
  };

private:
  void setRecording(Stream stream, std::vector<Recorded> *launches);

  std::map<std::string, HostEntry> entries;
  std::map<DevicePtr, std::unique_ptr<std::byte[]>> allocations;
  std::map<Stream, std::vector<Recorded> *> recordings; ///< of the streams that are being captured
  std::atomic<Stream> lastStream = 0;
  std::mutex mutex;     ///< of the allocations
  std::mutex launching; ///< one launch at a time
};

} // namespace mla::test

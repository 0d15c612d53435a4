// Tables of the target model.
#include "codegen/Target.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace mlac {

namespace {
using F = Feature;
constexpr uint32_t kAda = F::Fp8Convert | F::Fp8Mma;
constexpr uint32_t kHopper = kAda | F::Bulk | F::GridDependency;
constexpr uint32_t kHopperA = kHopper | F::Wgmma | F::SetMaxNReg;
constexpr uint32_t kBlackwell = kHopper | F::PackedF32x2;
constexpr uint32_t kDataCenterA = kBlackwell | F::Tcgen05 | F::LdmatrixB8 | F::Fp4Convert | F::SetMaxNReg;
constexpr uint32_t kConsumerA = kBlackwell | F::KindMma | F::BlockScaleMma | F::LdmatrixB8 | F::Fp4Convert | F::SetMaxNReg;
} // namespace

const std::vector<Target> &Target::all() {
  static const std::vector<Target> targets{
      {"sm_89", 89, 81, kAda},           {"sm_90", 90, 78, kHopper},        {"sm_90a", 90, 80, kHopperA},
      {"sm_100", 100, 86, kBlackwell},   {"sm_100a", 100, 86, kDataCenterA}, {"sm_103", 103, 88, kBlackwell},
      {"sm_103a", 103, 88, kDataCenterA}, {"sm_120", 120, 87, kBlackwell},  {"sm_120a", 120, 87, kConsumerA},
      {"sm_120f", 120, 88, kConsumerA},  {"sm_121", 121, 88, kBlackwell},   {"sm_121a", 121, 88, kConsumerA},
  };
  return targets;
}

const std::vector<Profile> &Profile::all() {
  static const std::vector<Profile> profiles{
      {.name = "sm_90", .sharedPerBlock = 232448, .sharedPerSM = 233472, .sharedReserved = 1024,
       .registersPerSM = 65536, .registersPerThread = 255, .warpsPerSM = 64, .blocksPerSM = 32, .threadsPerBlock = 1024,
       .multiprocessors = 132, .bandwidth = 4.5e12, .mmaFlops = 614e12, .clock = 1.755e9},
      {.name = "sm_120", .sharedPerBlock = 101376, .sharedPerSM = 102400, .sharedReserved = 1024,
       .registersPerSM = 65536, .registersPerThread = 255, .warpsPerSM = 48, .blocksPerSM = 24, .threadsPerBlock = 1024,
       .multiprocessors = 188, .bandwidth = 1.79e12, .mmaFlops = 503e12, .clock = 2.4e9},
      {.name = "sm_89", .sharedPerBlock = 101376, .sharedPerSM = 102400, .sharedReserved = 1024,
       .registersPerSM = 65536, .registersPerThread = 255, .warpsPerSM = 48, .blocksPerSM = 24, .threadsPerBlock = 1024,
       .multiprocessors = 128, .bandwidth = 1.0e12, .mmaFlops = 165e12, .clock = 2.5e9},
      {.name = "sm_100", .sharedPerBlock = 232448, .sharedPerSM = 233472, .sharedReserved = 1024,
       .registersPerSM = 65536, .registersPerThread = 255, .warpsPerSM = 64, .blocksPerSM = 32, .threadsPerBlock = 1024,
       .multiprocessors = 148, .bandwidth = 8.0e12, .mmaFlops = 614e12, .clock = 1.8e9},
  };
  return profiles;
}

template <typename T>
static std::optional<T> findByName(const std::vector<T> &all, std::string_view name) {
  auto it = std::find_if(all.begin(), all.end(), [&](const T &entry) { return entry.name == name; });
  return it == all.end() ? std::nullopt : std::optional<T>(*it);
}

std::optional<Target> Target::find(std::string_view name) { return findByName(all(), name); }

std::optional<Profile> Profile::find(std::string_view name) {
  if (std::optional<Profile> exact = findByName(all(), name))
    return exact;
  std::optional<Target> target = Target::find(name);
  if (!target)
    return std::nullopt;
  // A family shares its limits: sm_120a, sm_120f and sm_121 those of sm_120, sm_103 those of sm_100.
  return findByName(all(), "sm_" + std::to_string(target->capability >= 100 ? target->capability / 10 * 10
                                                                            : target->capability));
}

std::optional<int> parsePtxVersion(std::string_view text) {
  int major = 0, minor = 0;
  const char *end = text.data() + text.size();
  auto [dot, error] = std::from_chars(text.data(), end, major);
  if (error != std::errc() || dot == end || *dot != '.')
    return std::nullopt;
  auto [last, minorError] = std::from_chars(dot + 1, end, minor);
  if (minorError != std::errc() || last != end || end - dot != 2 || major < 1 || major > 99)
    return std::nullopt;
  return 10 * major + minor;
}

std::string formatPtxVersion(int version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

namespace {
struct PtxDriver {
  int ptx, driver;
};
// CUDA release notes: the PTX ISA that came with each CUDA version.
constexpr std::array<PtxDriver, 14> kPtxDrivers{{{78, 11080}, {80, 12000}, {81, 12010}, {82, 12020}, {83, 12030},
                                                 {84, 12040}, {85, 12050}, {86, 12070}, {87, 12080}, {88, 12090},
                                                 {90, 13000}, {91, 13010}, {92, 13020}, {93, 13030}}};
} // namespace

int driverForPtx(int version) {
  for (const PtxDriver &entry : kPtxDrivers)
    if (entry.ptx >= version)
      return entry.driver;
  return kPtxDrivers.back().driver;
}

int ptxForDriver(int driver) {
  int best = 0;
  for (const PtxDriver &entry : kPtxDrivers)
    if (entry.driver <= driver)
      best = entry.ptx;
  return std::min(best, kMaxPtx);
}

int64_t blocksPerSM(const Profile &profile, int64_t threads, int64_t registersPerThread, int64_t sharedBytes) {
  int64_t warps = (threads + 31) / 32;
  // Registers are given out a warp at a time in units of 256.
  int64_t warpRegisters = (std::max<int64_t>(registersPerThread, 1) * 32 + 255) / 256 * 256;
  int64_t byRegisters = profile.registersPerSM / (warpRegisters * warps);
  int64_t byShared = profile.sharedPerSM / (sharedBytes + profile.sharedReserved);
  return std::min({byRegisters, byShared, profile.warpsPerSM / warps, profile.blocksPerSM});
}

} // namespace mlac

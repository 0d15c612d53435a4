// The target model: what an instruction target can execute and what a resource profile can hold. The only place
// that answers hardware questions. Sources: PTX ISA 9.0, ptxas 13.0, CUDA programming guide tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlac {

/// Hardware features that differ between capabilities; never derived from an ordering of capabilities.
enum class Feature : uint32_t {
  Fp8Convert = 1 << 0,     // cvt f16x2 <- e4m3x2
  Fp8Mma = 1 << 1,         // mma.sync m16n8k32 e4m3 without a kind
  Bulk = 1 << 2,           // cp.async.bulk, mbarrier.try_wait, TMA tensor copies
  Wgmma = 1 << 3,          // warp-group MMA
  Tcgen05 = 1 << 4,        // tensor memory
  KindMma = 1 << 5,        // mma.sync kind::f8f6f4
  BlockScaleMma = 1 << 6,  // mma.sync kind::mxf8f6f4 / mxf4nvf4 .block_scale
  LdmatrixB8 = 1 << 7,     // ldmatrix m16n16 b8
  Fp4Convert = 1 << 8,     // cvt f16x2 <- e2m1x2, ue8m0
  SetMaxNReg = 1 << 9,     // setmaxnreg
  PackedF32x2 = 1 << 10,   // fma.rn.f32x2
  GridDependency = 1 << 11, // griddepcontrol
};

constexpr uint32_t operator|(Feature a, Feature b) { return uint32_t(a) | uint32_t(b); }
constexpr uint32_t operator|(uint32_t a, Feature b) { return a | uint32_t(b); }

/// An instruction target such as sm_90, sm_120 or sm_120a.
struct Target {
  std::string_view name;
  int capability;       // 10 * major + minor
  int minPtx;           // lowest PTX ISA version that knows it, 10 * major + minor
  uint32_t features;

  bool has(Feature feature) const { return features & uint32_t(feature); }

  /// The target of this name, or nothing.
  static std::optional<Target> find(std::string_view name);
  static const std::vector<Target> &all();
};

/// What one SM of a card holds. A kernel compiled for one target may obey another card's profile: an H200 runs
/// `--target sm_90 --profile sm_120` kernels within SM120's limits.
struct Profile {
  std::string_view name;
  int64_t sharedPerBlock;     // opt-in limit, bytes
  int64_t sharedPerSM;        // bytes
  int64_t sharedReserved;     // bytes that the system takes a block
  int64_t registersPerSM;     // 32-bit
  int64_t registersPerThread; // limit
  int64_t warpsPerSM, blocksPerSM, threadsPerBlock;
  int64_t multiprocessors;
  double bandwidth;           // bytes a second that DRAM reads reach
  double mmaFlops;            // dense f16/bf16 mma.sync with f32 accumulation, flop/s
  double clock;               // Hz

  static std::optional<Profile> find(std::string_view name);
  static const std::vector<Profile> &all();
};

/// Highest PTX ISA version that LLVM 22 prints.
inline constexpr int kMaxPtx = 90;

/// "8.7" as 87; nothing if malformed.
std::optional<int> parsePtxVersion(std::string_view text);
/// 87 as "8.7".
std::string formatPtxVersion(int version);
/// Lowest CUDA driver version (as cuDriverGetVersion gives it) that takes this PTX version.
int driverForPtx(int version);
/// Highest PTX version that this driver takes, capped by kMaxPtx.
int ptxForDriver(int driver);

/// Blocks of this shape that one SM holds at once, by registers, shared memory, warps and block slots.
int64_t blocksPerSM(const Profile &profile, int64_t threads, int64_t registersPerThread, int64_t sharedBytes);

} // namespace mlac

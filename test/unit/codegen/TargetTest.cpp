// What each target executes and what each profile holds, as literal tables.
#include "codegen/Target.h"

#include <gmock/gmock.h>
#include <set>

namespace mlac {
namespace {

/// The features that separate the generations: what both ptxas 13.0 and LLVM 22 take. (ptxas also assembles kind::f8f6f4
/// for 10.x, which LLVM 22 cannot select.)
struct Row {
  const char *name;
  int capability, minPtx;
  bool wgmma, tcgen05, blockScaleMma, kindMma, ldmatrixB8, bulk, setMaxNReg, packedF32x2;
};

// clang-format off
constexpr Row kRows[] = {
    // target, cc, PTX       wgmma  tcgen05 scale  kind   ld.b8  bulk   maxnreg f32x2
    {"sm_89", 89, 81,        false, false,  false, false, false, false, false, false},
    {"sm_90", 90, 78,        false, false,  false, false, false, true,  false, false},
    {"sm_90a", 90, 80,       true,  false,  false, false, false, true,  true,  false},
    {"sm_100", 100, 86,      false, false,  false, false, false, true,  false, true},
    {"sm_100a", 100, 86,     false, true,   false, false, true,  true,  true,  true},
    {"sm_103", 103, 88,      false, false,  false, false, false, true,  false, true},
    {"sm_103a", 103, 88,     false, true,   false, false, true,  true,  true,  true},
    {"sm_120", 120, 87,      false, false,  false, false, false, true,  false, true},
    {"sm_120a", 120, 87,     false, false,  true,  true,  true,  true,  true,  true},
    {"sm_120f", 120, 88,     false, false,  true,  true,  true,  true,  true,  true},
    {"sm_121", 121, 88,      false, false,  false, false, false, true,  false, true},
    {"sm_121a", 121, 88,     false, false,  true,  true,  true,  true,  true,  true},
};
// clang-format on

TEST(Target, FeaturesOfEveryTarget) {
  for (const Row &row : kRows) {
    SCOPED_TRACE(row.name);
    std::optional<Target> target = Target::find(row.name);
    ASSERT_TRUE(target);
    EXPECT_EQ(target->capability, row.capability);
    EXPECT_EQ(target->minPtx, row.minPtx);
    EXPECT_EQ(target->has(Feature::Wgmma), row.wgmma);
    EXPECT_EQ(target->has(Feature::Tcgen05), row.tcgen05);
    EXPECT_EQ(target->has(Feature::BlockScaleMma), row.blockScaleMma);
    EXPECT_EQ(target->has(Feature::KindMma), row.kindMma);
    EXPECT_EQ(target->has(Feature::LdmatrixB8), row.ldmatrixB8);
    EXPECT_EQ(target->has(Feature::Bulk), row.bulk);
    EXPECT_EQ(target->has(Feature::GridDependency), row.bulk);
    EXPECT_EQ(target->has(Feature::SetMaxNReg), row.setMaxNReg);
    EXPECT_EQ(target->has(Feature::PackedF32x2), row.packedF32x2);
    EXPECT_TRUE(target->has(Feature::Fp8Convert));
    EXPECT_TRUE(target->has(Feature::Fp8Mma));
  }
}

TEST(Target, TheTableAboveNamesEveryTargetOnce) {
  std::set<std::string_view> names;
  for (const Target &target : Target::all())
    EXPECT_TRUE(names.insert(target.name).second) << target.name;
  EXPECT_EQ(names.size(), std::size(kRows));
}

TEST(Target, LaterCapabilitiesHaveNotAllThatEarlierOnesHave) {
  // A comparison of numbers would give 12.x the matrix units of 10.x, and 10.x those of 9.0.
  EXPECT_FALSE(Target::find("sm_120a")->has(Feature::Tcgen05));
  EXPECT_FALSE(Target::find("sm_121a")->has(Feature::Tcgen05));
  EXPECT_FALSE(Target::find("sm_100a")->has(Feature::Wgmma));
  EXPECT_FALSE(Target::find("sm_120")->has(Feature::SetMaxNReg));
}

TEST(Target, EveryTargetHasAPtxVersionThatWePrint) {
  for (const Target &target : Target::all())
    EXPECT_LE(target.minPtx, kMaxPtx) << target.name;
}

TEST(Target, NamesAreExact) {
  for (const char *name : {"", "sm_12", "sm_1200", "SM_120", "120", "sm_120 ", "compute_120", "sm_89a"})
    EXPECT_FALSE(Target::find(name)) << name;
}

//===-- Profiles ---------------------------------------------------------------------------------------===//

TEST(Profile, LimitsOfSM120) {
  std::optional<Profile> profile = Profile::find("sm_120");
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->sharedPerBlock, 101376);
  EXPECT_EQ(profile->sharedPerSM, 102400);
  EXPECT_EQ(profile->sharedReserved, 1024);
  EXPECT_EQ(profile->registersPerSM, 65536);
  EXPECT_EQ(profile->registersPerThread, 255);
  EXPECT_EQ(profile->warpsPerSM, 48);
  EXPECT_EQ(profile->blocksPerSM, 24);
}

TEST(Profile, LimitsOfSM90) {
  std::optional<Profile> profile = Profile::find("sm_90");
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->sharedPerBlock, 232448);
  EXPECT_EQ(profile->sharedPerSM, 233472);
  EXPECT_EQ(profile->warpsPerSM, 64);
  EXPECT_EQ(profile->blocksPerSM, 32);
}

TEST(Profile, FamiliesShareTheirLimits) {
  const std::pair<const char *, const char *> families[] = {
      {"sm_90a", "sm_90"},   {"sm_100a", "sm_100"}, {"sm_103", "sm_100"}, {"sm_103a", "sm_100"},
      {"sm_120a", "sm_120"}, {"sm_120f", "sm_120"}, {"sm_121", "sm_120"}, {"sm_121a", "sm_120"}};
  for (auto [name, family] : families) {
    std::optional<Profile> profile = Profile::find(name);
    ASSERT_TRUE(profile) << name;
    EXPECT_EQ(profile->name, family) << name;
  }
}

TEST(Profile, EveryTargetHasOne) {
  for (const Target &target : Target::all())
    EXPECT_TRUE(Profile::find(target.name)) << target.name;
  EXPECT_FALSE(Profile::find("sm_86"));
}

TEST(Profile, ABlockNeverTakesMoreThanItsSM) {
  for (const Profile &profile : Profile::all())
    EXPECT_LE(profile.sharedPerBlock + profile.sharedReserved, profile.sharedPerSM) << profile.name;
}

//===-- Blocks an SM ------------------------------------------------------------------------------------===//

struct Occupancy {
  int64_t threads, registers, shared, blocks;
};

void checkOccupancy(const char *profile, std::initializer_list<Occupancy> rows) {
  for (const Occupancy &row : rows)
    EXPECT_EQ(blocksPerSM(*Profile::find(profile), row.threads, row.registers, row.shared), row.blocks)
        << profile << ": " << row.threads << " threads, " << row.registers << " registers, " << row.shared
        << " bytes";
}

TEST(BlocksPerSM, SharedMemoryWithItsReserve) {
  checkOccupancy("sm_120", {{256, 32, 101376, 1},
                            {256, 32, 101377, 0},
                            {256, 32, 65536, 1}, // a 64 KB tile leaves one block
                            {256, 32, 50176, 2}, // (102400 - 2 x 1024) / 2
                            {256, 32, 50177, 1}});
  checkOccupancy("sm_90",
                 {{256, 32, 232448, 1}, {256, 32, 115712, 2}, {256, 32, 115713, 1}, {256, 32, 65536, 3}});
}

TEST(BlocksPerSM, RegistersInUnitsOfAWarp) {
  checkOccupancy("sm_120", {{256, 255, 0, 1},
                            {256, 128, 0, 2},
                            {256, 64, 0, 4},
                            {256, 65, 0, 3},     // 65 x 32 registers round up to 2304
                            {1024, 128, 0, 0}}); // 131,072 registers do not fit at all
}

TEST(BlocksPerSM, WarpsAndBlockSlots) {
  checkOccupancy("sm_120",
                 {{256, 32, 0, 6}, {32, 16, 0, 24}, {33, 16, 0, 24}, {65, 16, 0, 16}, {1024, 32, 0, 1}});
  checkOccupancy("sm_90", {{256, 32, 0, 8}, {32, 16, 0, 32}, {1024, 32, 0, 2}});
}

} // namespace
} // namespace mlac

// Tuned schedules on disk.
#include "runtime/cache/TunedStore.h"

#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

using namespace mla;
namespace fs = std::filesystem;

namespace {

struct TunedStoreTest : testing::Test {
  fs::path folder = fs::path(testing::TempDir()) / ("tuned." + std::to_string(getpid()));
  TunedStore store{folder};
  TunedRecord record{
      {"form", "sm_90", "sm_90", "A GPU"}, "#tile.schedule<>", 90.5, 97.25, "decode", "64 requests", "mlac"};
  std::string problem;

  void SetUp() override { fs::remove_all(folder); }
  void TearDown() override { fs::remove_all(folder); }
  fs::path file() const { return folder / "tuned" / (record.key.digest() + ".json"); }
};

} // namespace

TEST_F(TunedStoreTest, WhatIsSavedIsFound) {
  EXPECT_FALSE(store.find(record.key, problem));
  EXPECT_TRUE(problem.empty());
  ASSERT_TRUE(store.save(record, problem)) << problem;
  EXPECT_EQ(store.find(record.key, problem), record);
  EXPECT_EQ(store.list(), std::vector{record});
  record.schedule = "#tile.schedule<other>";
  ASSERT_TRUE(store.save(record, problem)) << "the newer replaces the older";
  EXPECT_EQ(store.list(), std::vector{record});
}

TEST_F(TunedStoreTest, EveryPartOfTheKeyCounts) {
  ASSERT_TRUE(store.save(record, problem));
  for (std::string TunedKey::*part :
       {&TunedKey::form, &TunedKey::target, &TunedKey::profile, &TunedKey::device}) {
    TunedKey other = record.key;
    other.*part += "x";
    EXPECT_FALSE(store.find(other, problem));
    EXPECT_NE(other.digest(), record.key.digest());
  }
  TunedKey shifted{"for", "msm_90", "sm_90", "A GPU"};
  EXPECT_NE(shifted.digest(), record.key.digest()) << "the parts are kept apart";
}

TEST_F(TunedStoreTest, DamagedRecordsAreToldAndSkipped) {
  ASSERT_TRUE(store.save(record, problem));
  for (const char *text : {"", "{", "[]", "{\"version\": 1}", "{\"version\": 2}", "\xFF"}) {
    std::ofstream(file()) << text;
    EXPECT_FALSE(store.find(record.key, problem));
    EXPECT_NE(problem.find(file().string() + " cannot be used: "), std::string::npos)
        << text << ": " << problem;
    EXPECT_TRUE(store.list().empty());
  }
}

TEST_F(TunedStoreTest, ARecordUnderAnotherNameIsNotTaken) {
  ASSERT_TRUE(store.save(record, problem));
  TunedKey other = record.key;
  other.device = "B GPU";
  fs::copy_file(file(), folder / "tuned" / (other.digest() + ".json"));
  EXPECT_FALSE(store.find(other, problem));
  EXPECT_NE(problem.find("another kernel, target or device"), std::string::npos) << problem;
}

TEST_F(TunedStoreTest, NowhereToKeepIt) {
  EXPECT_FALSE(TunedStore(fs::path()).save(record, problem));
  EXPECT_NE(problem.find("MLAC_CACHE_DIR"), std::string::npos);
  EXPECT_FALSE(TunedStore("/dev/null/none").save(record, problem));
  EXPECT_NE(problem.find("cannot be written"), std::string::npos);
}

// The artefact cache: publishing, locking, keys, damage and directories that cannot be used.
#include "runtime/cache/ArtefactCache.h"
#include "runtime/cache/Sha256.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mla;
namespace fs = std::filesystem;
using Outcome = ArtefactCache::Outcome;

namespace {

class Cache : public testing::Test {
protected:
  Cache()
      : folder(fs::temp_directory_path() / ("mlac-cache-test." + std::to_string(getpid()))), cache(folder) {
    fs::remove_all(folder);
  }
  ~Cache() override {
    chmod(folder.c_str(), 0755);
    fs::remove_all(folder);
  }

  static std::string keyOf(int number) { return sha256(std::to_string(number)); }

  Outcome get(const std::string &key, const std::string &artefact, std::string *result = nullptr,
              std::string *message = nullptr) {
    Outcome outcome;
    std::string got = cache.get(key, [&] { return ++builds, artefact; }, &outcome, message);
    if (result)
      *result = got;
    return outcome;
  }

  /// Runs `child` in `count` processes and gives the number that returned true.
  template <typename Child>
  static int inProcesses(int count, Child child) {
    std::vector<pid_t> pids;
    for (int i = 0; i < count; ++i) {
      pid_t pid = fork();
      if (pid == 0)
        _exit(child(i) ? 0 : 1);
      pids.push_back(pid);
    }
    int passed = 0;
    for (pid_t pid : pids) {
      int status = 1;
      waitpid(pid, &status, 0);
      passed += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return passed;
  }

  fs::path folder;
  ArtefactCache cache;
  int builds = 0;
};

} // namespace

TEST(Sha256, KnownDigests) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_F(Cache, BuildsOnceThenHits) {
  std::string result;
  EXPECT_EQ(get(keyOf(1), "text", &result), Outcome::built);
  EXPECT_EQ(get(keyOf(1), "other", &result), Outcome::hit);
  EXPECT_EQ(result, "text");
  EXPECT_EQ(builds, 1);
}

TEST_F(Cache, DamagedEntriesAreRebuiltAndSaidSo) {
  get(keyOf(1), "text");
  fs::path path = folder / (keyOf(1) + ".mlac");
  std::string whole;
  {
    std::ifstream file(path);
    whole.assign(std::istreambuf_iterator<char>(file), {});
  }
  for (size_t cut : {size_t{0}, size_t{5}, whole.size() - 1}) {
    std::ofstream(path) << whole.substr(0, cut);
    std::string result, message;
    EXPECT_EQ(get(keyOf(1), "text", &result, &message), Outcome::rebuilt);
    EXPECT_EQ(result, "text");
    EXPECT_NE(message.find("damaged"), std::string::npos);
    EXPECT_NE(message.find(path.string()), std::string::npos);
  }
  whole[whole.size() - 2] ^= 1;
  std::ofstream(path) << whole;
  ASSERT_EQ(cache.list().size(), 1u);
  EXPECT_FALSE(cache.list()[0].intact);
  EXPECT_EQ(get(keyOf(1), "text"), Outcome::rebuilt);
  EXPECT_TRUE(cache.list()[0].intact);
}

TEST_F(Cache, EntryUnderAnotherKeyIsDamaged) {
  get(keyOf(1), "text");
  fs::copy_file(folder / (keyOf(1) + ".mlac"), folder / (keyOf(2) + ".mlac"));
  EXPECT_EQ(get(keyOf(2), "second"), Outcome::rebuilt);
}

TEST_F(Cache, ReadersNeverSeeAHalfWrittenEntry) {
  std::string artefact(1 << 20, 'x');
  int passed = inProcesses(6, [&](int) {
    std::string got = cache.get(keyOf(1), [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200)); // others must wait, not build
      std::ofstream(folder / "builds", std::ios::app) << "b";
      return artefact;
    });
    return got == artefact;
  });
  EXPECT_EQ(passed, 6);
  EXPECT_EQ(fs::file_size(folder / "builds"), 1u) << "one process built, the others waited for it";
}

TEST_F(Cache, ProcessesWithDistinctKeysDoNotDisturb) {
  EXPECT_EQ(inProcesses(8,
                        [&](int i) {
                          std::string text = "artefact " + std::to_string(i);
                          return cache.get(keyOf(i), [&] { return text; }) == text;
                        }),
            8);
  EXPECT_EQ(cache.list().size(), 8u);
}

TEST_F(Cache, AFailedBuildLeavesNothing) {
  EXPECT_THROW(cache.get(keyOf(1), []() -> std::string { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_TRUE(cache.list().empty());
  EXPECT_EQ(get(keyOf(1), "text"), Outcome::built);
}

TEST_F(Cache, AKilledWriterLeavesTheKeyUsable) {
  inProcesses(1, [&](int) {
    cache.get(keyOf(1), []() -> std::string { _exit(1); });
    return true;
  });
  EXPECT_EQ(get(keyOf(1), "text"), Outcome::built);
}

TEST_F(Cache, TimesMeanNothing) {
  get(keyOf(1), "text");
  for (auto shift : {std::chrono::hours(-100000), std::chrono::hours(100000)}) {
    fs::last_write_time(folder / (keyOf(1) + ".mlac"), fs::file_time_type::clock::now() + shift);
    EXPECT_EQ(get(keyOf(1), "other"), Outcome::hit);
  }
}

TEST_F(Cache, DirectoriesThatCannotBeUsed) {
  std::string message;
  ArtefactCache none{fs::path()};
  Outcome outcome;
  EXPECT_EQ(none.get(keyOf(1), [] { return std::string("text"); }, &outcome, &message), "text");
  EXPECT_EQ(outcome, Outcome::unstored);
  std::ofstream(fs::temp_directory_path() / "mlac-no-folder") << "";
  ArtefactCache file(fs::temp_directory_path() / "mlac-no-folder" / "below");
  EXPECT_EQ(file.get(keyOf(1), [] { return std::string("text"); }, &outcome, &message), "text");
  EXPECT_EQ(outcome, Outcome::unstored);
  EXPECT_NE(message.find("cannot be written"), std::string::npos);
  EXPECT_TRUE(file.list().empty());
  fs::remove(fs::temp_directory_path() / "mlac-no-folder");
}

TEST_F(Cache, ReadOnlyDirectoryStillServes) {
  get(keyOf(1), "text");
  fs::remove(folder / (keyOf(1) + ".lock"));
  chmod(folder.c_str(), 0555);
  EXPECT_EQ(get(keyOf(1), "other"), Outcome::hit);
  if (geteuid() != 0) {
    EXPECT_EQ(get(keyOf(2), "new"), Outcome::unstored);
  }
}

TEST_F(Cache, ClearRemovesEverythingOfIt) {
  get(keyOf(1), "a");
  get(keyOf(2), "b");
  std::ofstream(folder / "left.1.2.tmp") << "half";
  std::ofstream(folder / "other.txt") << "somebody else's";
  EXPECT_EQ(cache.clear(), 2u);
  EXPECT_TRUE(fs::exists(folder / "other.txt"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  EXPECT_EQ(ArtefactCache(folder / "absent").clear(), 0u);
}

TEST_F(Cache, KeyDependsOnAllThatMatters) {
  CacheKeyParts parts{"source", "heads=8", "mlac 1 abc", "sm_120", "", "8.7"};
  std::string key = cacheKey(parts);
  EXPECT_EQ(cacheKey(parts), key);
  for (std::string CacheKeyParts::*part :
       {&CacheKeyParts::source, &CacheKeyParts::options, &CacheKeyParts::compiler, &CacheKeyParts::target,
        &CacheKeyParts::profile, &CacheKeyParts::ptx}) {
    CacheKeyParts changed = parts;
    changed.*part += "x";
    EXPECT_NE(cacheKey(changed), key);
  }
  CacheKeyParts moved = parts;
  moved.source = "sourceh", moved.options = "eads=8";
  EXPECT_NE(cacheKey(moved), key) << "text may not move from one part to the next";
  fs::path before = fs::current_path();
  fs::current_path("/");
  EXPECT_EQ(cacheKey(parts), key);
  fs::current_path(before);
}

TEST_F(Cache, DefaultDirectory) {
  setenv("MLAC_CACHE_DIR", "/a/b", 1);
  EXPECT_EQ(ArtefactCache::defaultDirectory(), "/a/b");
  unsetenv("MLAC_CACHE_DIR");
  setenv("XDG_CACHE_HOME", "/c", 1);
  EXPECT_EQ(ArtefactCache::defaultDirectory(), "/c/mlac");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/h", 1);
  EXPECT_EQ(ArtefactCache::defaultDirectory(), "/h/.cache/mlac");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(ArtefactCache::defaultDirectory(), "");
}

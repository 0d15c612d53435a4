// Programs from source: targets, PTX versions, the cache, errors.
#include "Programs.h"

#include "mla/Jit.h"
#include "runtime/cache/TunedStore.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace mla;
using namespace mla::test;
namespace fs = std::filesystem;

namespace {

class Jit : public testing::Test {
protected:
  Jit() : folder(fs::temp_directory_path() / ("mlac-jit-test." + std::to_string(getpid()))) {
    fs::remove_all(folder);
    options.cacheDirectory = folder.string();
  }
  ~Jit() override { fs::remove_all(folder); }

  static Error errorOf(const std::function<void()> &call) {
    try {
      call();
    } catch (const Error &error) {
      return error;
    }
    ADD_FAILURE() << "nothing thrown";
    return Error(Error::Code::internal, "", "", "");
  }

  fs::path folder;
  jit::Options options;
};

} // namespace

TEST_F(Jit, SecondCompilationComesFromTheCache) {
  jit::Compiled first = jit::compile(sourceOf(Program::decode), options);
  jit::Compiled second = jit::compile(sourceOf(Program::decode), options);
  EXPECT_FALSE(first.fromCache);
  EXPECT_TRUE(second.fromCache);
  EXPECT_EQ(first.artefact, second.artefact);
  EXPECT_EQ(KernelDescription::read(first.artefact).name(), "decode");
}

TEST_F(Jit, KeysFollowWhatChangesTheCode) {
  std::string source = sourceOf(Program::decode);
  std::string key = jit::compile(source, options).key;
  EXPECT_NE(jit::compile(sourceOf(Program::plain), options).key, key);
  jit::Options heads = options;
  heads.defines["heads"] = 16;
  EXPECT_NE(jit::compile(source, heads).key, key);
  jit::Options hopper = options;
  hopper.target = "sm_90";
  jit::Compiled forHopper = jit::compile(source, hopper);
  EXPECT_NE(forHopper.key, key);
  EXPECT_NE(forHopper.artefact.find(".target sm_90"), std::string::npos) << "the target is honoured";
  hopper.profile = "sm_120";
  EXPECT_NE(jit::compile(source, hopper).key, forHopper.key);
  jit::Options newer = options;
  newer.ptx = "9.0";
  EXPECT_NE(jit::compile(source, newer).key, key);
  fs::path before = fs::current_path();
  fs::current_path("/");
  EXPECT_TRUE(jit::compile(source, options).fromCache) << "the working directory is no part of the key";
  fs::current_path(before);
}

TEST_F(Jit, TunedSchedulesAreTakenOnlyWhenAsked) {
  std::string source = sourceOf(Program::decode), problem;
  std::string plain = jit::compile(source, options).key;
  TunedRecord record{{"a form", "sm_120", "sm_120", "A GPU"}, "#tile.schedule<>", 1, 1, "decode", "", ""};
  ASSERT_TRUE(TunedStore(folder).save(record, problem)) << problem;
  EXPECT_EQ(jit::compile(source, options).key, plain) << "off unless asked for";
  jit::Options tuned = options;
  tuned.tuned = "A GPU";
  jit::Compiled first = jit::compile(source, tuned);
  EXPECT_NE(first.key, plain);
  record.schedule = "#tile.schedule<another>";
  ASSERT_TRUE(TunedStore(folder).save(record, problem));
  EXPECT_NE(jit::compile(source, tuned).key, first.key) << "a newer record is not hidden by the cache";
  tuned.tuned = "Another GPU";
  EXPECT_EQ(jit::compile(source, tuned).key, plain) << "no record of that device: the same code";
  tuned.tuned = "here";
  EXPECT_EQ(errorOf([&] { jit::compile(source, tuned); }).code, Error::Code::badArgument);
}

TEST_F(Jit, DamagedEntryIsRebuiltAndSaidSo) {
  jit::Compiled first = jit::compile(sourceOf(Program::decode), options);
  fs::resize_file(folder / (first.key + ".mlac"), 1000);
  jit::Compiled again = jit::compile(sourceOf(Program::decode), options);
  EXPECT_FALSE(again.fromCache);
  EXPECT_EQ(again.artefact, first.artefact);
  EXPECT_NE(again.message.find("damaged"), std::string::npos);
}

TEST_F(Jit, NeedsNoToolkit) {
  const char *path = std::getenv("PATH");
  std::string before = path ? path : "";
  for (const char *home : {":", "/nonexistent"}) {
    setenv("PATH", ":/nonexistent:", 1);
    setenv("CUDA_HOME", home, 1);
    jit::Options none = options;
    none.cacheDirectory = "";
    EXPECT_FALSE(jit::compile(sourceOf(Program::decode), none).artefact.empty());
  }
  setenv("PATH", before.c_str(), 1);
  unsetenv("CUDA_HOME");
}

TEST_F(Jit, ErrorsCarryTheDiagnostics) {
  Error error = errorOf([&] { jit::compile("kernel broken(", options); });
  EXPECT_EQ(error.code, Error::Code::sourceRefused);
  EXPECT_NE(std::string(error.what()).find("error:"), std::string::npos) << error.what();
  EXPECT_TRUE(!fs::exists(folder) || fs::is_empty(folder) ||
              jit::compile(sourceOf(Program::decode), options).key.size() == 64);
  jit::Options unknown = options;
  unknown.target = "sm_1";
  EXPECT_EQ(errorOf([&] { jit::compile(sourceOf(Program::decode), unknown); }).code,
            Error::Code::targetUnknown);
}

TEST_F(Jit, PtxVersionFollowsTheDriver) {
  EXPECT_EQ(jit::choosePtx("sm_120", 12080), "8.7");
  EXPECT_EQ(jit::choosePtx("sm_120", 12090), "8.8");
  EXPECT_EQ(jit::choosePtx("sm_120", 13000), "9.0");
  for (int driver : {13010, 13020})
    EXPECT_EQ(jit::choosePtx("sm_120", driver), "9.0") << "the newest that LLVM prints";
  EXPECT_EQ(jit::choosePtx("sm_120", 0), "8.7") << "without a driver, what every suitable one takes";
  Error error = errorOf([] { jit::choosePtx("sm_120", 12040); });
  EXPECT_EQ(error.code, Error::Code::driverTooOld);
  EXPECT_NE(std::string(error.what()).find("12.4"), std::string::npos) << error.what();
  EXPECT_NE(std::string(error.what()).find("12.8"), std::string::npos) << error.what();
  EXPECT_EQ(jit::chooseTarget(90), "sm_90");
  EXPECT_EQ(errorOf([] { jit::chooseTarget(10); }).code, Error::Code::targetUnknown);
}

TEST_F(Jit, TheCompilerKnowsItsBuild) {
  EXPECT_GE(jit::compilerId().size(), std::string("mlac 0.1.0 ").size() + 16)
      << "no build id: " << jit::compilerId();
}

TEST_F(Jit, EmulatorTakesSourceAlone) {
  std::shared_ptr<Device> device = jit::createEmulator();
  jit::Compiled compiled = jit::compile(sourceOf(Program::decode), options);
  EXPECT_EQ(errorOf([&] { Kernel::load(device, compiled.artefact); }).code, Error::Code::imageRefused);
  Kernel kernel = jit::load(device, sourceOf(Program::decode), options);
  EXPECT_EQ(kernel.heads(), 8);
}

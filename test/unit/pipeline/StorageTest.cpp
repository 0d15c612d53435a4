// Storage x compute types over latent widths, rope widths and layouts.
#include "test/unit/pipeline/Bench.h"

#include <gtest/gtest.h>

namespace mlac::test {
namespace {

constexpr int kLatents[] = {64, 128, 256, 320, 448, 512};
constexpr int kRopes[] = {0, 16, 32, 64};
constexpr int kHeads[] = {8, 16, 5, 20, 32, 1};

using Types = std::tuple<const char *, const char *>;

class Storage : public testing::TestWithParam<Types> {
protected:
  /// One of the shapes that are tried with these types: every latent width, each with another rope, layout
  /// and type of query and output.
  static Source sourceOf(int latent, int salt) {
    Source source;
    std::tie(source.storage, source.compute) = GetParam();
    source.latent = kLatents[latent];
    source.rope = kRopes[(latent + salt) % 4];
    source.heads = kHeads[latent];
    source.layout = (latent / 2 + salt) % 2 ? "ragged" : "paged";
    source.query = latent % 3 ? "bf16" : "f16";
    const char *outs[] = {"bf16", "f16", "f32"};
    source.out = outs[(latent + salt) % 3];
    source.lse = latent % 2 ? "ln" : "log2";
    return source;
  }
};

TEST_P(Storage, MatchesTheReferenceOrIsRefused) {
  int salt = std::get<0>(GetParam())[0] + std::get<0>(GetParam())[1] + std::get<1>(GetParam())[0];
  bool supported =
      std::get<0>(GetParam()) != std::string("e5m2") || std::get<1>(GetParam()) == std::string("f16");
  for (int latent = 0; latent < 6; ++latent) {
    Source source = sourceOf(latent, salt);
    SCOPED_TRACE(source.text());
    if (!supported) {
      EXPECT_NE(refusal(source).find("[target-conversion]"), std::string::npos) << refusal(source);
      continue;
    }
    RunConfig config{.qLens = {1, 3, 2, 1}, .kvLens = {70, 33, 0, 129}, .pageSize = 16, .seed = 5};
    mla::reference::Report report = Bench(source).check(config);
    EXPECT_TRUE(report.passed()) << report.toText();
  }
}

INSTANTIATE_TEST_SUITE_P(Pipeline, Storage,
                         testing::Combine(testing::Values("e4m3", "e5m2", "int8", "bf16", "f16"),
                                          testing::Values("f16", "bf16")),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                         });

TEST(StorageShapes, EightBitQueries) {
  Source source;
  source.query = "e4m3";
  EXPECT_NE(refusal(source).find("[dot-storage]"), std::string::npos) << refusal(source);
}

TEST(StorageShapes, LatentThatIsNoMultipleOf64) {
  Source source;
  source.latent = 500;
  EXPECT_NE(refusal(source), "");
}

} // namespace
} // namespace mlac::test

#include "TestKernel.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace mla;
using test::expectError;
using Code = Error::Code;

static const std::string ptx = ".version 8.7\n.target sm_120\n.address_size 64\n";

TEST(Manifest, RoundTrip) {
  Manifest manifest = test::makeManifest();
  std::string artefact = writeArtefact(manifest, ptx);
  EXPECT_EQ(readArtefact(artefact), manifest);
  EXPECT_EQ(writeArtefact(readArtefact(artefact), ptx), artefact);
}

TEST(Manifest, PrefillRoundTripAndRefusals) {
  Manifest manifest = test::makeManifest();
  manifest.kernels = {test::makePrefillKernel({.heads = 8, .kvHeads = 2})};
  EXPECT_EQ(manifestFromJson(toJson(manifest)), manifest);
  manifest.kernels[0].kvHeads = 3;
  EXPECT_EQ(expectError(Code::manifestInvalid, [&] { manifestFromJson(toJson(manifest)); }).field,
            "manifest field kernels[0].kv_heads");
  manifest.kernels[0].kvHeads = 4;
  EXPECT_EQ(expectError(Code::manifestInvalid, [&] { manifestFromJson(toJson(manifest)); }).field,
            "manifest field kernels[0].operands.k");
}

TEST(Manifest, ArtefactIsPtxBehindComments) {
  std::string artefact = writeArtefact(test::makeManifest(), ptx);
  EXPECT_EQ(artefact.substr(artefact.size() - ptx.size()), ptx);
  size_t body = artefact.size() - ptx.size();
  for (size_t line = 0; line < body; line = artefact.find('\n', line) + 1)
    EXPECT_EQ(artefact.substr(line, 2), "//");
}

TEST(Manifest, NamesSurviveOddCharacters) {
  Manifest manifest = test::makeManifest();
  manifest.compiler = "line\nbreak \"quoted\" */ \\ \xc3\xa9";
  EXPECT_EQ(readArtefact(writeArtefact(manifest, ptx)).compiler, manifest.compiler);
}

TEST(Manifest, TextThatIsNoUtf8IsReplaced) {
  Manifest manifest = test::makeManifest();
  manifest.compiler = "\xff";
  EXPECT_EQ(readArtefact(writeArtefact(manifest, ptx)).compiler, "\xef\xbf\xbd");
}

TEST(Manifest, FindsKernelsAndOperands) {
  Manifest manifest = test::makeManifest();
  ASSERT_NE(manifest.find("extend"), nullptr);
  EXPECT_EQ(manifest.find("absent"), nullptr);
  EXPECT_EQ(manifest.find("extend")->find("kv")->role, Role::cache);
  EXPECT_EQ(manifest.find("extend")->find(Role::output)->name, "o");
}

TEST(Manifest, MissingFromPlainPtx) {
  expectError(Code::artefactMissing, [] { readArtefact(ptx); });
  expectError(Code::artefactMissing, [] { readArtefact(""); });
}

TEST(Manifest, EveryTruncationIsRefused) {
  std::string artefact = writeArtefact(test::makeManifest(), ptx);
  for (size_t size = 0; size < artefact.size(); ++size) {
    try {
      readArtefact(std::string_view(artefact).substr(0, size));
      ADD_FAILURE() << "accepted " << size << " of " << artefact.size() << " bytes";
    } catch (const Error &error) {
      bool expected =
          error.code == Code::artefactTruncated ||
          (size < std::string_view("// mlac artefact ").size() && error.code == Code::artefactMissing);
      EXPECT_TRUE(expected) << size << ": " << error.what();
    }
  }
}

TEST(Manifest, EveryChangedByteIsRefused) {
  std::string artefact = writeArtefact(test::makeManifest(), ptx);
  for (size_t i = 0; i < artefact.size(); ++i) {
    std::string damaged = artefact;
    damaged[i] ^= 0x04;
    EXPECT_THROW(readArtefact(damaged), Error) << "byte " << i;
  }
}

TEST(Manifest, DamageIsNamed) {
  std::string artefact = writeArtefact(test::makeManifest(), ptx);
  std::string inJson = artefact;
  inJson.replace(inJson.find("bf16"), 4, "bf61");
  expectError(Code::artefactDamaged, [&] { readArtefact(inJson); });
  std::string inPtx = artefact;
  inPtx.replace(inPtx.rfind("sm_120"), 6, "sm_121");
  expectError(Code::artefactDamaged, [&] { readArtefact(inPtx); });
  expectError(Code::artefactDamaged, [&] { readArtefact(artefact + "x"); });
}

TEST(Manifest, NewerVersionsAreNamed) {
  Manifest manifest = test::makeManifest();
  manifest.version = manifestVersion + 1;
  Error error = expectError(Code::artefactNewer, [&] { readArtefact(writeArtefact(manifest, ptx)); });
  EXPECT_EQ(error.value, std::to_string(manifestVersion + 1));

  std::string frame = writeArtefact(test::makeManifest(), ptx);
  frame.replace(frame.find("artefact 1"), 10, "artefact 2");
  expectError(Code::artefactNewer, [&] { readArtefact(frame); });
}

TEST(Manifest, EditsWindowsAndSinksRoundTrip) {
  Manifest manifest = test::makeManifest();
  KernelInfo &kernel = manifest.kernels[0];
  kernel.window = 127;
  kernel.sink = "sinks";
  kernel.sinkInLse = true;
  kernel.operands.push_back({"sinks", Role::headValues, Layout::ragged, DType::f32, {kernel.heads}, 4});
  kernel.scoreEdit = {{"div score $kv_scale", "lt kv_pos q_pos", "add %0 $sinks"}, "%2", "%1"};
  EXPECT_EQ(manifestFromJson(toJson(manifest)), manifest);
  kernel.operands.back().shape = {kernel.heads + 1};
  expectError(Code::manifestInvalid, [&] { manifestFromJson(toJson(manifest)); });
}

TEST(Manifest, RecordsRoundTrip) {
  Manifest manifest = test::makeManifest();
  KernelInfo &kernel = manifest.kernels[0];
  auto cache = std::ranges::find(kernel.operands, Role::cache, &Operand::role);
  cache->dtype = DType::u8;
  cache->shape = {656};
  cache->record = {{"latent", DType::e4m3, 512, ScaleFormat::f32, 128}, {"rope", DType::bf16, 64}};
  EXPECT_EQ(manifestFromJson(toJson(manifest)), manifest);
  cache->record[0].apart = true; // 16 bytes less
  expectError(Code::manifestInvalid, [&] { manifestFromJson(toJson(manifest)); });
  cache->shape = {640};
  EXPECT_EQ(manifestFromJson(toJson(manifest)), manifest);
  cache->shape = {656};
  cache->record[0].apart = false;
  cache->record[0].group = 256; // two scales less
  expectError(Code::manifestInvalid, [&] { manifestFromJson(toJson(manifest)); });
  cache->record[0].group = 0;
  expectError(Code::manifestInvalid, [&] { manifestFromJson(toJson(manifest)); });
  cache->record = {{"latent", DType::e4m3, 592, ScaleFormat::none, 0}, {"rope", DType::bf16, 32}};
  EXPECT_NE(expectError(Code::manifestInvalid, [&] { manifestFromJson(toJson(manifest)); })
                .value.find("624 columns"),
            std::string::npos);
}

TEST(Manifest, UnknownKeysAreIgnored) {
  auto json = nlohmann::json::parse(toJson(test::makeManifest()));
  json["kernels"][0]["of_a_later_version"] = 1;
  EXPECT_EQ(manifestFromJson(json.dump()), test::makeManifest());
}

TEST(Manifest, TryReadGivesTheMessage) {
  std::string message;
  EXPECT_FALSE(tryReadArtefact(ptx, message));
  EXPECT_NE(message.find("without a manifest"), std::string::npos) << message;
  EXPECT_TRUE(tryReadArtefact(writeArtefact(test::makeManifest(), ptx), message));
}

namespace {

struct Mutation {
  const char *pointer; ///< JSON pointer of the field to change
  const char *value;   ///< JSON text
  const char *field;   ///< what the error must name
};

/// For the name of the test.
void PrintTo(const Mutation &mutation, std::ostream *out) {
  *out << mutation.pointer << " = " << mutation.value;
}

class InvalidManifest : public testing::TestWithParam<Mutation> {};

} // namespace

TEST_P(InvalidManifest, IsRefusedByField) {
  auto json = nlohmann::json::parse(toJson(test::makeManifest()));
  json[nlohmann::json::json_pointer(GetParam().pointer)] = nlohmann::json::parse(GetParam().value);
  Error error = expectError(Code::manifestInvalid, [&] { manifestFromJson(json.dump()); });
  EXPECT_NE(error.field.find(GetParam().field), std::string::npos) << error.what();
}

INSTANTIATE_TEST_SUITE_P(
    Manifest, InvalidManifest,
    testing::Values(
        Mutation{"/version", "0", "version"}, Mutation{"/version", "\"1\"", "version"},
        Mutation{"/target", "12", "target"}, Mutation{"/kernels", "{}", "kernels"},
        Mutation{"/kernels/0", "3", "kernels[0]"}, Mutation{"/kernels/1/heads", "0", "kernels[1].heads"},
        Mutation{"/kernels/0/heads", "2.5", "heads"}, Mutation{"/kernels/0/heads", "1e99", "heads"},
        Mutation{"/kernels/0/heads", "4294967312", "heads"},
        Mutation{"/kernels/0/v_offset", "65", "v_offset"}, Mutation{"/kernels/0/v_offset", "-1", "v_offset"},
        Mutation{"/kernels/0/compute", "\"fp8\"", "compute"}, Mutation{"/kernels/0/causal", "1", "causal"},
        Mutation{"/kernels/0/score_scale/scalars", "[\"kv\"]", "score_scale.scalars"},
        Mutation{"/kernels/0/window", "-2", "window"}, Mutation{"/kernels/0/window", "1.5", "window"},
        Mutation{"/kernels/0/sink", "\"kv_scale\"", "sink"},
        Mutation{"/kernels/0/sink", "\"absent\"", "sink"},
        Mutation{"/kernels/0/score_edit/steps", "[\"add score kv\"]", "score_edit"},
        Mutation{"/kernels/0/score_edit/value", "\"%0\"", "score_edit"},
        Mutation{"/kernels/0/operands/1/shape", "[575]", "operands.kv"},
        Mutation{"/kernels/0/operands/1/role", "\"scalar\"", "operands"},
        Mutation{"/kernels/0/operands/1/alignment", "0", "operands[1].alignment"},
        Mutation{"/kernels/0/tile/tokens", "0", "tile.tokens"},
        Mutation{"/kernels/0/main/threads", "0", "main.threads"},
        Mutation{"/kernels/0/main/threads", "1025", "main.threads"},
        Mutation{"/kernels/0/main/name", "\"\"", "main.name"},
        Mutation{"/kernels/0/main/shared_bytes", "4294967296", "main.shared_bytes"},
        Mutation{"/kernels/0/main/params", "[\"q.dato\"]", "main.params"}));

TEST(Manifest, EveryMissingFieldIsNamed) {
  auto json = nlohmann::json::parse(toJson(test::makeManifest()));
  for (auto &[key, value] : json["kernels"][0].items()) {
    auto without = json;
    without["kernels"][0].erase(key);
    Error error = expectError(Code::manifestInvalid, [&] { manifestFromJson(without.dump()); });
    EXPECT_NE(error.field.find(key), std::string::npos) << error.what();
  }
}

TEST(Manifest, NoJsonIsDamage) {
  expectError(Code::artefactDamaged, [] { manifestFromJson("{"); });
}

TEST(Types, NamesRoundTrip) {
  for (DType type : {DType::f32, DType::f16, DType::bf16, DType::e4m3, DType::e5m2, DType::s8, DType::u8})
    EXPECT_EQ(parseDType(name(type)), type);
  for (ScaleFormat format : {ScaleFormat::none, ScaleFormat::f32, ScaleFormat::pow2, ScaleFormat::ue8m0})
    EXPECT_EQ(parseScaleFormat(name(format)), format);
  for (Layout layout : {Layout::ragged, Layout::paged})
    EXPECT_EQ(parseLayout(name(layout)), layout);
  for (Role role : {Role::query, Role::cache, Role::scalar, Role::headValues, Role::output, Role::lse})
    EXPECT_EQ(parseRole(name(role)), role);
  for (LseBase base : {LseBase::none, LseBase::log2, LseBase::ln})
    EXPECT_EQ(parseLseBase(name(base)), base);
  EXPECT_EQ(parseDType("fp8"), std::nullopt);
}

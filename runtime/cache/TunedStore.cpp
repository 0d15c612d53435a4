#include "runtime/cache/TunedStore.h"

#include "runtime/cache/ArtefactCache.h"
#include "runtime/cache/Publish.h"
#include "runtime/cache/Sha256.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace mla {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

static constexpr int recordVersion = 1;

std::string TunedKey::digest() const {
  std::string text = "mlac tuned key 1\n";
  for (const std::string *part : {&form, &target, &profile, &device})
    text += fmt::format("{}\n{}\n", part->size(), *part); // lengths keep the parts apart
  return sha256(text);
}

TunedStore::TunedStore(const fs::path &cacheDirectory)
    : folder(cacheDirectory.empty() ? fs::path() : cacheDirectory / "tuned") {}

TunedStore::TunedStore() : TunedStore(ArtefactCache::defaultDirectory()) {}

static std::string toText(const TunedRecord &record) {
  Json json = {{"version", recordVersion},
               {"form", record.key.form},
               {"target", record.key.target},
               {"profile", record.key.profile},
               {"device", record.key.device},
               {"schedule", record.schedule},
               {"microseconds", record.microseconds},
               {"predicted", record.predicted},
               {"kernel", record.kernel},
               {"measured", record.measured},
               {"compiler", record.compiler}};
  return json.dump(2) + "\n";
}

/// Empty, with a problem, for a text that is no record of this version.
static std::optional<TunedRecord> fromText(const std::string &text, std::string &problem) {
  try {
    Json json = Json::parse(text);
    if (json.at("version") != recordVersion) {
      problem = fmt::format("its version is {}, not {}", json.at("version").dump(), recordVersion);
      return std::nullopt;
    }
    return TunedRecord{{json.at("form"), json.at("target"), json.at("profile"), json.at("device")},
                       json.at("schedule"),
                       json.at("microseconds"),
                       json.at("predicted"),
                       json.at("kernel"),
                       json.at("measured"),
                       json.at("compiler")};
  } catch (const Json::exception &error) {
    problem = error.what();
    return std::nullopt;
  }
}

/// Empty without a problem where there is no file.
static std::optional<TunedRecord> read(const fs::path &path, std::string &problem) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return std::nullopt;
  std::optional<TunedRecord> record = fromText({std::istreambuf_iterator<char>(file), {}}, problem);
  if (!problem.empty())
    problem = fmt::format("{} cannot be used: {}", path.string(), problem);
  return record;
}

std::optional<TunedRecord> TunedStore::find(const TunedKey &key, std::string &problem) const {
  problem.clear();
  fs::path path = folder / (key.digest() + ".json");
  std::optional<TunedRecord> record = folder.empty() ? std::nullopt : read(path, problem);
  if (!record || record->key == key)
    return record;
  problem = fmt::format("{} cannot be used: it is of another kernel, target or device", path.string());
  return std::nullopt;
}

std::vector<TunedRecord> TunedStore::list() const {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".json")
      files.push_back(it->path());
  std::sort(files.begin(), files.end());
  std::vector<TunedRecord> records;
  std::string ignored;
  for (const fs::path &path : files)
    if (std::optional<TunedRecord> record = read(path, ignored))
      records.push_back(std::move(*record));
  return records;
}

bool TunedStore::save(const TunedRecord &record, std::string &problem) const {
  if (folder.empty()) {
    problem = "no cache directory: MLAC_CACHE_DIR, XDG_CACHE_HOME and HOME are not set";
    return false;
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (publishFile(folder / (record.key.digest() + ".json"), {toText(record)}))
    return true;
  problem = fmt::format("{} cannot be written", folder.string());
  return false;
}

} // namespace mla

#include "runtime/cache/ArtefactCache.h"

#include "runtime/Manifest.h"
#include "runtime/cache/FileLock.h"
#include "runtime/cache/Publish.h"
#include "runtime/cache/Sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace mla {

namespace fs = std::filesystem;

std::string cacheKey(const CacheKeyParts &parts) {
  std::string text = "mlac cache key 1\n";
  for (const std::string *part :
       {&parts.source, &parts.options, &parts.compiler, &parts.target, &parts.profile, &parts.ptx})
    text += fmt::format("{}\n{}\n", part->size(), *part); // lengths keep the parts apart
  return sha256(text);
}

fs::path ArtefactCache::defaultDirectory() {
  auto variable = [](const char *name) -> fs::path {
    const char *value = std::getenv(name);
    return value ? value : "";
  };
  if (fs::path own = variable("MLAC_CACHE_DIR"); !own.empty())
    return own;
  if (fs::path xdg = variable("XDG_CACHE_HOME"); xdg.is_absolute())
    return xdg / "mlac";
  fs::path home = variable("HOME");
  return home.is_absolute() ? home / ".cache" / "mlac" : fs::path();
}

//===-- Reading --===//

struct ArtefactCache::Read {
  bool exists = false;
  std::optional<std::string> artefact;
  std::string problem; ///< of an entry that exists without a usable artefact
  uint64_t bytes = 0;
};

static std::string headerOf(const std::string &key, const std::string &artefact) {
  return fmt::format("mlac cache 1 {} {} {}\n", key, artefact.size(), sha256(artefact));
}

ArtefactCache::Read ArtefactCache::read(const std::string &key) const {
  Read result;
  std::ifstream file(entryPath(key), std::ios::binary);
  if (!file)
    return result;
  result.exists = true;
  std::string text{std::istreambuf_iterator<char>(file), {}};
  result.bytes = text.size();
  size_t lineEnd = text.find('\n');
  if (lineEnd == std::string::npos || text.rfind("mlac cache ", 0) != 0) {
    result.problem = "it does not start as a cache entry";
    return result;
  }
  std::string artefact = text.substr(lineEnd + 1);
  if (text.substr(0, lineEnd + 1) == headerOf(key, artefact))
    result.artefact = std::move(artefact);
  else
    result.problem = "its checksum, length or key is not its contents'";
  return result;
}

//===-- Writing --===//

bool ArtefactCache::publish(const std::string &key, const std::string &artefact) const {
  return publishFile(entryPath(key), {headerOf(key, artefact), artefact});
}

std::string ArtefactCache::get(const std::string &key, const std::function<std::string()> &build,
                               Outcome *outcome, std::string *message) const {
  auto say = [&](Outcome what, std::string text) {
    if (outcome)
      *outcome = what;
    if (message)
      *message = std::move(text);
  };
  say(Outcome::hit, "");
  if (std::optional<std::string> artefact = folder.empty() ? std::nullopt : read(key).artefact)
    return *artefact;
  std::error_code ignored;
  if (!folder.empty())
    fs::create_directories(folder, ignored);
  FileLock lock(folder.empty() ? fs::path() : folder / (key + ".lock"));
  Read present;
  if (lock.held())
    present = read(key); // somebody may have built it while this process waited
  if (present.artefact)
    return *present.artefact;
  std::string artefact = build();
  if (!lock.held() || !publish(key, artefact))
    say(Outcome::unstored, folder.empty()
                               ? "no cache directory is set"
                               : fmt::format("{} cannot be written; nothing is kept", folder.string()));
  else if (present.exists)
    say(Outcome::rebuilt,
        fmt::format("{} was damaged ({}) and was rebuilt", entryPath(key).string(), present.problem));
  else
    say(Outcome::built, "");
  return artefact;
}

//===-- Care --===//

static std::vector<fs::path> filesIn(const fs::path &folder, std::string_view extension) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == extension)
      files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Kernels and target of an artefact; other contents are shown as such.
static std::string summarise(const std::string &artefact) {
  std::string problem, names;
  std::optional<Manifest> manifest = tryReadArtefact(artefact, problem);
  if (!manifest)
    return "no artefact of this version";
  for (const KernelInfo &kernel : manifest->kernels)
    names += (names.empty() ? "" : ", ") + kernel.name;
  return fmt::format("{} for {}, PTX {}", names, manifest->target, manifest->ptxVersion);
}

std::vector<ArtefactCache::Entry> ArtefactCache::list() const {
  std::vector<Entry> entries;
  for (const fs::path &path : filesIn(folder, ".mlac")) {
    std::string key = path.stem().string();
    Read found = read(key);
    entries.push_back({key, found.bytes, found.artefact.has_value(), found.problem,
                       found.artefact ? summarise(*found.artefact) : ""});
  }
  return entries;
}

size_t ArtefactCache::clear() const {
  size_t removed = 0;
  auto remove = [](const fs::path &path) {
    std::error_code error;
    fs::remove(path, error);
    if (error)
      throw Error(Error::Code::cacheFailure, path.string(), "", "",
                  "it cannot be removed: " + error.message());
  };
  for (const fs::path &path : filesIn(folder, ".mlac"))
    remove(path), ++removed;
  for (const fs::path &path : filesIn(folder, ".tmp"))
    remove(path);
  for (const fs::path &path : filesIn(folder, ".lock"))
    FileLock::removeIfFree(path);
  return removed;
}

} // namespace mla

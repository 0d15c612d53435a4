// Compiled artefacts on disk.
//
// An entry is one file, KEY.mlac: a line "mlac cache 1 KEY BYTES SHA256" and then the artefact. It appears by
// rename, complete or not at all. KEY.lock is held while an entry is built, so that processes that want the
// same one wait for the first. Times of files mean nothing here.
#pragma once

#include "mla/Error.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace mla {

/// All that decides what an artefact holds. Paths, times and device numbers are not among it.
struct CacheKeyParts {
  std::string source;   ///< text of the program
  std::string options;  ///< every option that changes the code, in one order
  std::string compiler; ///< identity of the compiler's build
  std::string target;
  std::string profile;
  std::string ptx;
};

/// 64 hexadecimal digits.
std::string cacheKey(const CacheKeyParts &parts);

class ArtefactCache {
public:
  /// What get() did.
  enum class Outcome {
    hit,
    built,
    rebuilt, ///< the entry was there but damaged
    unstored ///< built, but the directory cannot be written
  };

  struct Entry {
    std::string key;
    uint64_t bytes = 0;
    bool intact = false;
    std::string problem; ///< why not
    std::string summary; ///< kernels and target of an intact one
  };

  explicit ArtefactCache(std::filesystem::path directory) : folder(std::move(directory)) {}

  /// MLAC_CACHE_DIR, or mlac in XDG_CACHE_HOME, or ~/.cache/mlac; empty if none of them is set: nothing is
  /// kept.
  static std::filesystem::path defaultDirectory();

  const std::filesystem::path &directory() const { return folder; }

  /// The artefact of that key; `build` makes it if there is none. Throws what `build` throws; a directory
  /// that cannot be read or written is no error. `message` gets a line on anything but a hit and a plain
  /// build.
  std::string get(const std::string &key, const std::function<std::string()> &build,
                  Outcome *outcome = nullptr, std::string *message = nullptr) const;

  /// All entries by key; each is read and compared with its checksum.
  std::vector<Entry> list() const;

  /// Removes entries, locks that nobody holds and what interrupted writers left; gives the number of entries.
  /// Throws Error cacheFailure for one that cannot be removed.
  size_t clear() const;

private:
  struct Read;
  Read read(const std::string &key) const;
  bool publish(const std::string &key, const std::string &artefact) const;
  std::filesystem::path entryPath(const std::string &key) const { return folder / (key + ".mlac"); }

  std::filesystem::path folder;
};

} // namespace mla

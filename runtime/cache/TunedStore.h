// Schedules that were measured to be the fastest, kept beside the compiled artefacts.
//
// A record is one JSON file, tuned/DIGEST.json in the cache's directory, named by what it is for: the
// kernel's form, the target, the profile and the device's name. Nothing here throws.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mla {

/// What a tuned schedule is for. Names of kernels and operands, lengths and batches are not among it.
struct TunedKey {
  std::string form; ///< digest of the kernel before it is scheduled
  std::string target;
  std::string profile;
  std::string device; ///< as the driver names it

  bool operator==(const TunedKey &) const = default;
  std::string digest() const;
};

struct TunedRecord {
  TunedKey key;
  std::string schedule; ///< as the compiler prints it
  double microseconds = 0;
  double predicted = 0; ///< microseconds by the cost model
  std::string kernel;   ///< its name, for people
  std::string measured; ///< the batch that it was measured on, for people
  std::string compiler; ///< name and version

  bool operator==(const TunedRecord &) const = default;
};

class TunedStore {
public:
  /// Below the artefact cache's directory; an empty one keeps nothing.
  explicit TunedStore(const std::filesystem::path &cacheDirectory);
  /// In the cache's default directory.
  TunedStore();

  const std::filesystem::path &directory() const { return folder; }

  /// The record of that key. `problem` says what is wrong with one that is there and cannot be used.
  std::optional<TunedRecord> find(const TunedKey &key, std::string &problem) const;
  /// All that can be read, by file name.
  std::vector<TunedRecord> list() const;
  /// Stores or replaces. On failure false, and `problem` says why.
  bool save(const TunedRecord &record, std::string &problem) const;

private:
  std::filesystem::path folder;
};

} // namespace mla

// A lock that processes and threads share through a file.
#pragma once

#include <filesystem>

namespace mla {

/// Held from construction on, if the file can be made; its death frees it.
class FileLock {
public:
  explicit FileLock(const std::filesystem::path &path);
  FileLock(const FileLock &) = delete;
  FileLock &operator=(const FileLock &) = delete;
  ~FileLock();

  bool held() const { return file >= 0; }

  /// Removes the lock's file unless somebody holds it.
  static void removeIfFree(const std::filesystem::path &path);

private:
  int file = -1;
};

} // namespace mla

#include "runtime/cache/Publish.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace mla {

namespace fs = std::filesystem;

namespace {

/// A file that is removed unless it was renamed.
class TemporaryFile {
public:
  explicit TemporaryFile(fs::path name) : path(std::move(name)) {
    file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  }
  ~TemporaryFile() {
    if (file >= 0) {
      close(file);
      unlink(path.c_str());
    }
  }

  bool write(std::string_view text) {
    while (file >= 0 && !text.empty()) {
      ssize_t written = ::write(file, text.data(), text.size());
      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        return false;
      text.remove_prefix(static_cast<size_t>(written));
    }
    return file >= 0;
  }

  /// On disk first, then under its name.
  bool publish(const fs::path &name) {
    if (fsync(file) != 0 || rename(path.c_str(), name.c_str()) != 0)
      return false;
    close(file);
    file = -1;
    return true;
  }

private:
  fs::path path;
  int file = -1;
};

void syncDirectory(const fs::path &folder) {
  int directory = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return;
  fsync(directory);
  close(directory);
}

} // namespace

bool publishFile(const fs::path &path, std::initializer_list<std::string_view> parts) {
  static std::atomic<unsigned> serial = 0;
  TemporaryFile file(path.parent_path() /
                     fmt::format("{}.{}.{}.tmp", path.stem().string(), getpid(), serial++));
  for (std::string_view part : parts)
    if (!file.write(part))
      return false;
  if (!file.publish(path))
    return false;
  syncDirectory(path.parent_path());
  return true;
}

} // namespace mla

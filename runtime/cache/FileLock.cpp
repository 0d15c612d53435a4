#include "runtime/cache/FileLock.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mla {

/// Is the open file still the one of that name? Whoever clears the cache may have removed it meanwhile.
static bool isCurrent(int file, const std::filesystem::path &path) {
  struct stat opened, named;
  return fstat(file, &opened) == 0 && stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

static int lock(const std::filesystem::path &path, int extra) {
  for (;;) {
    int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
      return -1;
    int result;
    do
      result = flock(file, LOCK_EX | extra);
    while (result != 0 && errno == EINTR);
    if (result == 0 && isCurrent(file, path))
      return file;
    close(file);
    if (result != 0)
      return -1;
  }
}

FileLock::FileLock(const std::filesystem::path &path) : file(lock(path, 0)) {}

FileLock::~FileLock() {
  if (file >= 0)
    close(file);
}

void FileLock::removeIfFree(const std::filesystem::path &path) {
  int file = lock(path, LOCK_NB);
  if (file < 0)
    return;
  unlink(path.c_str());
  close(file);
}

} // namespace mla

// Bounded reading.
#include "frontend/ReadSource.h"

#include "frontend/Frontend.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace mlac;

static Error refuse(const char *reason) { return createStringError(reason); }

/// Directories and devices can be opened, but are no source.
static Error checkKind(StringRef path) {
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status))
    return errorCodeToError(error);
  if (is_directory(status))
    return refuse("it is a directory");
  if (status.type() != sys::fs::file_type::regular_file && status.type() != sys::fs::file_type::fifo_file)
    return refuse("it is not a file");
  return Error::success();
}

static Expected<SmallString<0>> readToEnd(sys::fs::file_t file) {
  constexpr size_t chunk = 1 << 16;
  SmallString<0> text;
  while (text.size() <= kLargestSource) {
    size_t size = text.size();
    text.resize_for_overwrite(size + chunk);
    Expected<size_t> count = sys::fs::readNativeFile(file, {text.data() + size, chunk});
    if (!count)
      return count.takeError();
    text.truncate(size + *count);
    if (*count == 0)
      return text;
  }
  return refuse("it is larger than 64 MiB");
}

Expected<SmallString<0>> mlac::readSource(StringRef path) {
  if (path == "-")
    return readToEnd(sys::fs::getStdinHandle());
  if (Error error = checkKind(path))
    return error;
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
  if (!file)
    return file.takeError();
  scope_exit close([&] { sys::fs::closeFile(*file); });
  return readToEnd(*file);
}

// Output files appear complete or not at all.
#include "tools/mlac/Output.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

/// Writes all of `contents`; the stream's error, if it has one, is taken from it.
static Error writeStream(raw_fd_ostream &os, StringRef name, StringRef contents) {
  os << contents;
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  return error ? createFileError(name, error) : Error::success();
}

/// A device or a pipe: nothing can be renamed to it.
static Error writeInPlace(StringRef path, StringRef contents) {
  std::error_code error;
  raw_fd_ostream os(path, error);
  return error ? createFileError(path, error) : writeStream(os, path, contents);
}

static Error writeFile(StringRef path, StringRef contents) {
  auto mode = sys::fs::all_read | sys::fs::all_write;
  Expected<sys::fs::TempFile> file = sys::fs::TempFile::create(path + ".%%%%%%%%.tmp", mode);
  if (!file)
    return createFileError(path, file.takeError());
  Error error = Error::success();
  {
    raw_fd_ostream os(file->FD, /*shouldClose=*/false);
    error = writeStream(os, path, contents);
  }
  if (error)
    return joinErrors(std::move(error), file->discard());
  if (Error failed = file->keep(path)) {
    consumeError(file->discard());
    return createFileError(path, std::move(failed));
  }
  return Error::success();
}

static Error write(StringRef path, StringRef contents) {
  if (path == "-")
    return writeStream(outs(), "standard output", contents);
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && sys::fs::is_other(status))
    return writeInPlace(path, contents);
  return writeFile(path, contents);
}

bool mlac::writeOutput(StringRef path, StringRef contents) {
  Error error = write(path, contents);
  if (!error)
    return true;
  WithColor::error() << "cannot write " << toString(std::move(error)) << '\n';
  return false;
}

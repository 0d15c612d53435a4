// Output files appear complete or not at all.
#include "tools/mlac/Output.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static Error writeStandardOutput(StringRef contents) {
  outs() << contents;
  outs().flush();
  std::error_code error = outs().error();
  outs().clear_error();
  return error ? createFileError("standard output", error) : Error::success();
}

static Error writeFile(StringRef path, StringRef contents) {
  return writeToOutput(path, [contents](raw_ostream &os) {
    os << contents;
    return Error::success();
  });
}

bool mlac::writeOutput(StringRef path, StringRef contents) {
  Error error = path == "-" ? writeStandardOutput(contents) : writeFile(path, contents);
  if (!error)
    return true;
  WithColor::error() << "cannot write " << toString(std::move(error)) << '\n';
  return false;
}

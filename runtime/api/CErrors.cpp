// The calling thread's last failure.
#include "runtime/api/CHandles.h"

#include <string>

namespace mla::c {

namespace {

struct Last {
  std::string message, code, field, value, allowed;
};
thread_local Last last;

} // namespace

static mla_status statusOf(Error::Code code) {
  using Code = Error::Code;
  struct Range {
    Code first, last;
    mla_status status;
  };
  // The enumerators are grouped by what they are about.
  static constexpr Range ranges[] = {
      {Code::artefactMissing, Code::manifestInvalid, MLA_INVALID_ARTEFACT},
      {Code::kernelUnknown, Code::kernelUnknown, MLA_INVALID_ARTEFACT},
      {Code::indptrSize, Code::kvLenMismatch, MLA_INVALID_PLAN},
      {Code::pageSize, Code::poolSize, MLA_INVALID_PLAN},
      {Code::slot, Code::pageEntry, MLA_INVALID_OPERAND},
      {Code::blockCount, Code::blockCount, MLA_INVALID_CONFIG},
      {Code::tooLarge, Code::tooLarge, MLA_INVALID_PLAN},
      {Code::configMismatch, Code::workspaceAlignment, MLA_INVALID_CONFIG},
      {Code::streamCapturing, Code::notPlanned, MLA_INVALID_PLAN},
      {Code::unknownParameter, Code::mergeCount, MLA_INVALID_OPERAND},
      {Code::noDriver, Code::outOfMemory, MLA_DEVICE_FAILURE},
      {Code::sourceRefused, Code::cacheFailure, MLA_COMPILE_FAILURE},
      {Code::badArgument, Code::badArgument, MLA_BAD_ARGUMENT},
  };
  for (const Range &range : ranges)
    if (range.first <= code && code <= range.last)
      return range.status;
  return MLA_INTERNAL;
}

mla_status keep(const Error &error) noexcept {
  try {
    last = {error.what(), std::string(name(error.code)), error.field, error.value, error.allowed};
  } catch (...) {
    last = {};
  }
  return statusOf(error.code);
}

mla_status keepInternal(const char *what) noexcept {
  try {
    last = {what, "internal", "", "", ""};
  } catch (...) {
    last = {};
  }
  return MLA_INTERNAL;
}

} // namespace mla::c

const char *mla_error_message(void) { return mla::c::last.message.c_str(); }
const char *mla_error_code(void) { return mla::c::last.code.c_str(); }
const char *mla_error_field(void) { return mla::c::last.field.c_str(); }
const char *mla_error_value(void) { return mla::c::last.value.c_str(); }
const char *mla_error_allowed(void) { return mla::c::last.allowed.c_str(); }
const char *mla_version(void) { return MLAC_VERSION; }

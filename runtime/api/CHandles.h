// The C API's handles, and how exceptions become statuses.
#pragma once

#include "mla/mla.h"
#include "mla/mla.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

struct mla_device {
  std::shared_ptr<mla::Device> device;
};

struct mla_kernel {
  std::shared_ptr<mla::Device> device;
  mla::Kernel kernel;
};

struct mla_plan {
  std::shared_ptr<mla::Device> device;
  mla::BatchPlan plan;
};

struct mla_writer {
  std::shared_ptr<mla::Device> device;
  mla::Writer writer;
};

struct mla_graph {
  std::shared_ptr<mla::Device> device;
  std::unique_ptr<mla::Graph> graph;
};

namespace mla::c {

/// Keeps the failure for mla_error_...() and gives its status.
mla_status keep(const Error &error) noexcept;
mla_status keepInternal(const char *what) noexcept;

/// Runs `body`; exceptions end here.
template <typename Body>
mla_status guarded(Body body) noexcept {
  try {
    body();
    return MLA_OK;
  } catch (const Error &error) {
    return keep(error);
  } catch (const std::exception &error) {
    return keepInternal(error.what());
  } catch (...) {
    return keepInternal("an unknown exception");
  }
}

/// The argument, which must not be null.
template <typename T>
T &required(T *argument, const char *name) {
  if (!argument)
    throw Error(Error::Code::badArgument, name, "NULL", "a pointer");
  return *argument;
}

/// A copy of a caller's structure, of whichever version of the header.
template <typename T>
T readStruct(const T *given, const char *name) {
  size_t size = required(given, name).size;
  constexpr size_t most = 1 << 16;
  if (size < sizeof(T) || size > most)
    throw Error(Error::Code::badArgument, std::string(name) + ".size", std::to_string(size),
                "sizeof the structure, at least " + std::to_string(sizeof(T)));
  auto *bytes = reinterpret_cast<const unsigned char *>(given);
  if (std::any_of(bytes + sizeof(T), bytes + size, [](unsigned char byte) { return byte != 0; }))
    throw Error(Error::Code::badArgument, name,
                "a newer structure with fields set that this library does not know", "of this version",
                "use a newer library");
  T copy;
  std::memcpy(&copy, given, sizeof(T));
  return copy;
}

inline Cache convert(const mla_cache &c) {
  return {c.data,
          static_cast<DType>(c.dtype),
          c.dim,
          c.stride_token,
          c.pages,
          c.page_size,
          c.stride_page,
          c.table,
          c.table_stride,
          c.indptr,
          c.scales,
          c.scale_stride_page,
          c.scale_stride_token};
}

} // namespace mla::c

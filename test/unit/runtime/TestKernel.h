// Kernel descriptions for the tests, as the compiler would write them.
#pragma once

#include "runtime/Manifest.h"
#include "runtime/Plan.h"

#include <gtest/gtest.h>

namespace mla::test {

struct KernelShape {
  int heads = 16;
  int qkDim = 576;
  int vDim = 512;
  int vOffset = 0;
  int tileRows = 16;
  int tileTokens = 64;
  bool causal = false;
  Layout layout = Layout::paged;
  DType cache = DType::e4m3;
  DType query = DType::bf16;
  LseBase lse = LseBase::log2;
};

/// MLA decode with a scale per tensor; its entries take every parameter of the vocabulary.
KernelInfo makeKernel(const KernelShape &shape = {});

struct PrefillKernelShape {
  int heads = 16;
  int kvHeads = 16;
  int qkDim = 192;
  int vDim = 128;
  bool causal = true;
};

/// Prefill over bf16 keys and values; never split.
KernelInfo makePrefillKernel(const PrefillKernelShape &shape = {});

Manifest makeManifest();

/// A batch to plan; keeps what the request's spans point to.
struct Batch {
  Batch(std::vector<int32_t> qLens, std::vector<int32_t> kvLens, int32_t pageSize = 64);

  std::vector<int32_t> qIndptr;
  std::vector<int32_t> kvLens;
  std::vector<int32_t> cacheIndptr;
  PlanRequest request(int blocks) const;

private:
  int32_t pageSize;
};

/// Runs `call`, which must throw Error with that code; gives the error back for closer looks.
template <typename Call>
Error expectError(Error::Code code, Call call) {
  try {
    call();
  } catch (const Error &error) {
    EXPECT_EQ(name(error.code), name(code)) << error.what();
    return error;
  }
  ADD_FAILURE() << "nothing thrown; expected " << name(code);
  return Error(code, "", "", "");
}

} // namespace mla::test

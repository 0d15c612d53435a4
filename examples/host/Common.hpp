// What the examples share: arguments, a device, and a toy model's cache.
#pragma once

#include "mla/Jit.h"
#include "mla/mla.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

namespace example {

struct Arguments {
  std::string program; ///< a .mla file with one kernel like glm5_decode
  std::string device = "emulator";
};

inline Arguments parse(int argc, char **argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    std::string text = argv[i];
    if (text == "--device" && i + 1 < argc)
      arguments.device = argv[++i];
    else
      arguments.program = text;
  }
  if (arguments.program.empty())
    throw std::invalid_argument(std::string("usage: ") + argv[0] + " PROGRAM.mla [--device emulator|cuda]");
  return arguments;
}

inline mla::Kernel loadKernel(const Arguments &arguments) {
  std::ifstream file(arguments.program);
  std::string source(std::istreambuf_iterator<char>(file), {});
  std::shared_ptr<mla::Device> device = arguments.device == "cuda"
                                            ? std::shared_ptr<mla::Device>(mla::createCudaDevice())
                                            : mla::jit::createEmulator();
  std::printf("running on %s\n", device->name().c_str());
  return mla::jit::load(device, source);
}

/// A paged e4m3 cache of random rows, and queries and outputs for `rows` tokens.
class Model {
public:
  static constexpr int32_t pageSize = 16;

  Model(const mla::Kernel &kernel, int32_t requests, int32_t rows, int64_t columns)
      : columns(columns), pages(requests * columns), kernel(kernel),
        cache(kernel.device(), static_cast<size_t>(pages * pageSize * kernel.qkDim()), "cache"),
        query(kernel.device(), static_cast<size_t>(rows * kernel.heads() * kernel.qkDim() * 2), "query"),
        out(kernel.device(), static_cast<size_t>(rows * kernel.heads() * kernel.vDim() * 2), "out"),
        lse(kernel.device(), static_cast<size_t>(rows * kernel.heads() * 4), "lse"),
        table(kernel.device(), static_cast<size_t>(pages * 4), "page table") {
    fill(cache, 0x5F); // every code below 0x60 is a number of at most 30
    fill(query, 0x3F); // bf16 of at most 0.75
    std::vector<int32_t> order(static_cast<size_t>(pages));
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<int32_t>(order.size() - 1 - i);
    table.copyIn(order.data(), order.size() * 4);
  }

  /// The operands for the first `rows` query tokens.
  mla::Operands operands(int64_t rows) const {
    int64_t heads = kernel.heads(), qk = kernel.qkDim(), v = kernel.vDim();
    mla::Operands result;
    result.query = {query.get(), mla::DType::bf16, rows, heads, qk, heads * qk, qk};
    result.out = {out.get(), mla::DType::bf16, rows, heads, v, heads * v, v};
    result.lse = {lse.get(), mla::DType::f32, rows, heads, 1, heads, 1};
    result.cache = {cache.get(), mla::DType::e4m3,       qk,          qk,      pages,
                    pageSize,    int64_t{pageSize} * qk, table.get(), columns, 0};
    result.scalars = scales;
    return result;
  }

  mla::Lengths lengths(const std::vector<int32_t> &qIndptr, const std::vector<int32_t> &kvLen) const {
    mla::Lengths result;
    result.qIndptr = qIndptr;
    result.kvLen = kvLen;
    result.pageSize = pageSize;
    result.tableColumns = columns;
    result.pages = pages;
    return result;
  }

  std::vector<float> logSumExps(int64_t rows) const {
    std::vector<float> values(static_cast<size_t>(rows * kernel.heads()));
    lse.copyOut(values.data(), values.size() * 4);
    return values;
  }

  int64_t columns, pages;

private:
  static void fill(mla::Buffer &buffer, uint8_t most) {
    std::mt19937 random(7);
    std::vector<uint8_t> bytes(buffer.size());
    for (uint8_t &byte : bytes)
      byte = static_cast<uint8_t>(random() % (most + 1u));
    buffer.copyIn(bytes.data(), bytes.size());
  }

  static constexpr mla::Scalar scales[] = {{"kv_scale", 0.05f}, {"sm_scale", 0.0722f}};
  const mla::Kernel &kernel;
  mla::Buffer cache, query, out, lse, table;
};

/// A workspace and the plan over it.
struct Planned {
  Planned(const mla::Kernel &kernel, const mla::Config &config)
      : workspace(kernel.device(), kernel.workspaceSize(config), "workspace"),
        plan(kernel.prepare(config, {workspace.get(), workspace.size()})) {}

  mla::Buffer workspace;
  mla::BatchPlan plan;
};

/// Runs an example's body and prints what it throws.
template <typename Body>
int guarded(int argc, char **argv, Body body) {
  try {
    body(parse(argc, argv));
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

} // namespace example

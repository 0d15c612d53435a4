// Texts of attention programs.
#pragma once

#include <string>

namespace mlac::test {

/// Whether a storage type is read with a scale: it has 8 bits.
bool isScaled(const std::string &storage);

/// What varies from one program to the next; `text()` declares the kernel `attention`.
struct Source {
  int heads = 16;
  std::string storage = "e4m3", compute = "f16", query = "bf16", out = "bf16";
  int latent = 512, rope = 64;
  std::string record;       ///< parts, in place of `storage`
  bool recordScale = false; ///< whether the program multiplies them by a scale
  int valueBegin = 0;       ///< first of the value's columns
  std::string layout = "paged";
  bool causal = true;
  std::string lse = "log2";
  int align = 16;
  std::string hints; ///< such as "tokens = 32, stages = 2"
  std::string before;     ///< functions and constants
  std::string operands;   ///< more parameters, such as "cap : f32"
  std::string edit = "s"; ///< what is computed of the scaled scores s; `causal` comes after it
  std::string sink;       ///< logits, if there is a sink
  bool sinkInLse = true;

  bool quantised() const { return record.empty() ? isScaled(storage) : recordScale; }
  int width() const { return latent + rope; }
  std::string text() const;
};

/// The same of prefill: keys and values of two buffers.
struct PrefillSource {
  int heads = 2, kvHeads = 2, keyWidth = 192, valueWidth = 128;
  std::string keys = "bf16", values = "bf16", compute = "bf16", query = "bf16", out = "bf16";
  bool causal = true;
  std::string lse = "log2";
  int align = 16;
  std::string hints = {};
  std::string operands = {}; ///< more parameters, such as "cap : f32"
  std::string factor = {};   ///< of the scores beside sm_scale, such as "-2.0 * "
  std::string edit = "s";    ///< what is computed of the scaled scores s; `causal` comes after it
  std::string sink = {};     ///< logits, if there is a sink
  bool sinkInLse = true;

  std::string text() const;
};

} // namespace mlac::test

#include "test/unit/pipeline/Source.h"

#include <fmt/format.h>

namespace mlac::test {

bool isScaled(const std::string &storage) {
  return storage == "e4m3" || storage == "e5m2" || storage == "int8";
}

std::string Source::text() const {
  std::string rows = storage == compute && record.empty() ? "kv" : "dequant(kv)";
  std::string row = record.empty() ? fmt::format("{}[{}]", storage, width()) : "record { " + record + " }";
  std::string scores = causal ? "causal(" + edit + ")" : edit;
  std::string sunk = sink.empty() ? "t" : "sink(t, " + sink + ")";
  return fmt::format("{}kernel attention(q : ragged {}[heads = {}, {}], kv : {} {} align {},\n"
                     "                 {}sm_scale : f32{})\n"
                     "  -> (o : ragged {}[heads = {}, {}], lse : {}) compute {}{}\n"
                     "{{\n"
                     "  let k = {}{};\n"
                     "  let s = dot(q, k) * sm_scale;\n"
                     "  let t = {};\n"
                     "  let u = {};\n"
                     "  o   = softmax(u) @ k[{}:{}];\n"
                     "  lse = logsumexp({});\n"
                     "}}\n",
                     before, query, heads, width(), layout, row, align, quantised() ? "kv_scale : f32, " : "",
                     operands.empty() ? "" : ", " + operands, out, heads, latent, lse, compute,
                     hints.empty() ? "" : " hint " + hints, rows, quantised() ? " * kv_scale" : "", scores,
                     sunk, valueBegin, valueBegin + latent, sinkInLse ? "u" : "t");
}

/// How stored rows are read: as they are, converted, or with the scale that 8-bit storage has.
static std::string read(const std::string &name, const std::string &storage, const std::string &compute) {
  if (storage == compute)
    return name;
  std::string rows = "dequant(" + name + ")";
  return isScaled(storage) ? "(" + rows + " * " + name + "_scale)" : rows;
}

std::string PrefillSource::text() const {
  std::string scores = "dot(q, " + read("k", keys, compute) + ") * " + factor + "sm_scale";
  std::string scales =
      std::string(isScaled(keys) ? "k_scale : f32, " : "") + (isScaled(values) ? "v_scale : f32, " : "");
  std::string sunk = sink.empty() ? "t" : "sink(t, " + sink + ")";
  return fmt::format(
      "kernel attention(q : ragged {}[heads = {}, {}], k : ragged {}[heads = {}, {}] align {},\n"
      "                 v : ragged {}[heads = {}, {}] align {}, {}sm_scale : f32{})\n"
      "  -> (o : ragged {}[heads = {}, {}], lse : {}) compute {}{}\n"
      "{{\n"
      "  let s = {};\n"
      "  let t = {};\n"
      "  let u = {};\n"
      "  o   = softmax(u) @ {};\n"
      "  lse = logsumexp({});\n"
      "}}\n",
      query, heads, keyWidth, keys, kvHeads, keyWidth, align, values, kvHeads, valueWidth, align, scales,
      operands.empty() ? "" : ", " + operands, out, heads, valueWidth, lse, compute,
      hints.empty() ? "" : " hint " + hints, scores, causal ? "causal(" + edit + ")" : edit, sunk,
      read("v", values, compute), sinkInLse ? "u" : "t");
}

} // namespace mlac::test

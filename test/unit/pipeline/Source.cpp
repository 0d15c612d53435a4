#include "test/unit/pipeline/Source.h"

#include <fmt/format.h>

namespace mlac::test {

std::string Source::text() const {
  std::string rows = storage == compute ? "kv" : "dequant(kv)";
  std::string scores = causal ? "causal(" + edit + ")" : edit;
  std::string sunk = sink.empty() ? "t" : "sink(t, " + sink + ")";
  return fmt::format("{}kernel attention(q : ragged {}[heads = {}, {}], kv : {} {}[{}] align {},\n"
                     "                 {}sm_scale : f32{})\n"
                     "  -> (o : ragged {}[heads = {}, {}], lse : {}) compute {}{}\n"
                     "{{\n"
                     "  let k = {}{};\n"
                     "  let s = dot(q, k) * sm_scale;\n"
                     "  let t = {};\n"
                     "  let u = {};\n"
                     "  o   = softmax(u) @ k[0:{}];\n"
                     "  lse = logsumexp({});\n"
                     "}}\n",
                     before, query, heads, width(), layout, storage, width(), align,
                     quantised() ? "kv_scale : f32, " : "", operands.empty() ? "" : ", " + operands, out,
                     heads, latent, lse, compute, hints.empty() ? "" : " hint " + hints, rows,
                     quantised() ? " * kv_scale" : "", scores, sunk, latent, sinkInLse ? "u" : "t");
}

} // namespace mlac::test

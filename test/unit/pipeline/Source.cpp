#include "test/unit/pipeline/Source.h"

#include <fmt/format.h>

namespace mlac::test {

std::string Source::text() const {
  std::string rows = storage == compute ? "kv" : "dequant(kv)";
  std::string scores = "dot(q, k) * sm_scale";
  return fmt::format("kernel attention(q : ragged {}[heads = {}, {}], kv : {} {}[{}] align {},\n"
                     "                 {}sm_scale : f32)\n"
                     "  -> (o : ragged {}[heads = {}, {}], lse : {}) compute {}{}\n"
                     "{{\n"
                     "  let k = {}{};\n"
                     "  let s = {};\n"
                     "  o   = softmax(s) @ k[0:{}];\n"
                     "  lse = logsumexp(s);\n"
                     "}}\n",
                     query, heads, width(), layout, storage, width(), align,
                     quantised() ? "kv_scale : f32, " : "", out, heads, latent, lse, compute,
                     hints.empty() ? "" : " hint " + hints, rows, quantised() ? " * kv_scale" : "",
                     causal ? "causal(" + scores + ")" : scores, latent);
}

} // namespace mlac::test

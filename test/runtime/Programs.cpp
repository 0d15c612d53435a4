#include "Programs.h"

namespace mla::test {

std::string sourceOf(Program program) {
  bool causal = program == Program::decode;
  std::string base = program == Program::ln ? "ln" : "log2";
  return "const heads = 8;\n"
         "kernel decode(q : ragged bf16[heads, 576], kv : paged e4m3[576], kv_scale : f32, sm_scale : f32)\n"
         "  -> (o : ragged bf16[heads, 512], lse : " +
         base +
         ")\n"
         "  compute f16\n"
         "{\n"
         "  let k = dequant(kv) * kv_scale;\n"
         "  let s = " +
         (causal ? "causal(dot(q, k) * sm_scale)" : "dot(q, k) * sm_scale") +
         ";\n"
         "  o   = softmax(s) @ k[0:512];\n"
         "  lse = logsumexp(s);\n"
         "}\n";
}

} // namespace mla::test

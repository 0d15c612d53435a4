#include "Programs.h"

namespace mla::test {

/// A window, a cap, slopes and a sink.
static std::string editedSource() {
  return "kernel decode(q : ragged bf16[heads = 8, 576], kv : paged e4m3[576], kv_scale : f32, sm_scale : "
         "f32,\n"
         "              cap : f32, slopes : f32[heads = 8], sinks : f32[heads = 8])\n"
         "  -> (o : ragged bf16[heads = 8, 512], lse : log2)\n"
         "  compute f16\n"
         "{\n"
         "  let k = dequant(kv) * kv_scale;\n"
         "  let s = window(causal(dot(q, k) * sm_scale), left = 100);\n"
         "  let t = sink(alibi(softcap(s, cap), slopes), sinks);\n"
         "  o   = softmax(t) @ k[0:512];\n"
         "  lse = logsumexp(t);\n"
         "}\n";
}

std::string sourceOf(Program program) {
  if (program == Program::edited)
    return editedSource();
  bool causal = program == Program::decode || program == Program::wide;
  std::string base = program == Program::ln ? "ln" : "log2";
  std::string heads = program == Program::wide ? "128" : "8";
  return "const heads = " + heads +
         ";\n"
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

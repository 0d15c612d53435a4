#!/usr/bin/env bash
# Makes the folder that runtime.sh needs: prepare-runtime.sh BUILD FOLDER. BUILD has mlac and runtime_gpu_test.
set -euo pipefail
build=$1 folder=$2
mkdir -p "$folder"
cp "$build/bin/runtime_gpu_test" "$folder/"
[ ! -x "$build/bin/run_bench" ] || cp "$build/bin/run_bench" "$folder/"
cp -L "$(ldd "$build/bin/runtime_gpu_test" | awk '/libfmt/ {print $3}')" "$folder/"
program() { # NAME MASK BASE
  local scores='dot(q, k) * sm_scale'
  [ "$2" = causal ] && scores="causal($scores)"
  cat >"$folder/$1.mla" <<TXT
kernel decode(q : ragged bf16[heads = 8, 576], kv : paged e4m3[576], kv_scale : f32, sm_scale : f32)
  -> (o : ragged bf16[heads = 8, 512], lse : $3) compute f16
{
  let k = dequant(kv) * kv_scale;
  let s = $scores;
  o   = softmax(s) @ k[0:512];
  lse = logsumexp(s);
}
TXT
  compile "$1"
}
compile() {
  "$build/bin/mlac" compile "$folder/$1.mla" --target "${TARGET:-sm_90}" --profile "${PROFILE:-sm_120}" -o "$folder/$1.ptx"
}
program decode causal log2
program plain full log2
program ln full ln
cat >"$folder/edited.mla" <<'TXT'
kernel decode(q : ragged bf16[heads = 8, 576], kv : paged e4m3[576], kv_scale : f32, sm_scale : f32,
              cap : f32, slopes : f32[heads = 8], sinks : f32[heads = 8])
  -> (o : ragged bf16[heads = 8, 512], lse : log2) compute f16
{
  let k = dequant(kv) * kv_scale;
  let s = window(causal(dot(q, k) * sm_scale), left = 100);
  let t = sink(alibi(softcap(s, cap), slopes), sinks);
  o   = softmax(t) @ k[0:512];
  lse = logsumexp(t);
}
TXT
compile edited

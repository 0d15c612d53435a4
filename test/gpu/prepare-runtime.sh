#!/usr/bin/env bash
# Makes the folder that runtime.sh needs, and FOLDER.tar.xz of it: prepare-runtime.sh BUILD FOLDER
# BUILD is a static build with tests and examples, so that nothing of LLVM need be where the folder goes:
#   cmake --preset static -DMLAC_BUILD_TESTS=ON -DMLAC_BUILD_EXAMPLES=ON [-DMLAC_BUILD_BENCH=ON]
#   ninja -C build-static mlac runtime_gpu_test decode_loop captured_graph device_plan shared_prefix decode_c [run_bench]
set -euo pipefail
build=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
examples=(decode_loop captured_graph device_plan shared_prefix decode_c)
mkdir -p "$folder"
cp "$here/runtime.sh" "$root/examples/glm5_decode.mla" "$folder/"
cp "$build/bin/mlac" "$build/bin/runtime_gpu_test" "$folder/"
for optional in run_bench; do
  [ ! -x "$build/bin/$optional" ] || cp "$build/bin/$optional" "$folder/"
done
for example in "${examples[@]}"; do
  cp "$build/bin/$example" "$folder/"
done
# The project's own libraries, and those of others that a bare machine lacks.
for binary in runtime_gpu_test mlac "${examples[@]}"; do
  ldd "$build/bin/$binary" | awk '/libmla_|libfmt|libLLVM|libMLIR/ {print $1, $3}'
done | sort -u | while read -r name path; do
  cp -L "$path" "$folder/$name"
done
strip "$folder"/libmla_* "$folder"/runtime_gpu_test "${examples[@]/#/$folder/}"

program() { # NAME HEADS MASK BASE
  local scores='dot(q, k) * sm_scale'
  [ "$3" = causal ] && scores="causal($scores)"
  cat >"$folder/$1.mla" <<TXT
kernel decode(q : ragged bf16[heads = $2, 576], kv : paged e4m3[576], kv_scale : f32, sm_scale : f32)
  -> (o : ragged bf16[heads = $2, 512], lse : $4) compute f16
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
program decode 8 causal log2
program plain 8 full log2
program ln 8 full ln
program wide 128 causal log2
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

tar -C "$(dirname "$folder")" -cf - "$(basename "$folder")" | xz -T0 -6 >"$folder.tar.xz"
du -h "$folder.tar.xz"

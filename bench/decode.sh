#!/usr/bin/env bash
# Decode times on a CUDA device beside floors and a peer: bench/decode.sh MLAC [PATTERN]
# MLAC is a binary that runs there (the static preset makes one). Every case is also compared with the reference. Times are
# medians of 21 readings of five queued launches, combine included, pages shuffled, rows without gaps. The peer is FlashInfer
# 0.6.18 fa2 on an H200 (docs/kernels.md), with a bf16 cache where the case has one and within SM120's limits; the floor reads the cache once at 4.5 TB/s or multiplies at 614 Tflop/s.
set -u
mlac=$1
pattern=${2:-.}
program=$(mktemp)
trap 'rm -f "$program"' EXIT

# write_program HEADS STORAGE COMPUTE
write_program() {
  local scale='' parameter='' rows='kv'
  [ "$2" = e4m3 ] && scale=' * kv_scale' parameter='kv_scale : f32, '
  [ "$2" = "$3" ] || rows='dequant(kv)'
  cat >"$program" <<TXT
kernel decode(q : ragged bf16[heads = $1, 576], kv : paged $2[576], ${parameter}sm_scale : f32)
  -> (o : ragged bf16[heads = $1, 512], lse : log2) compute $3 {
  let k = $rows$scale;
  let s = causal(dot(q, k) * sm_scale);
  o   = softmax(s) @ k[0:512];
  lse = logsumexp(s);
}
TXT
}

# measure PROFILE BATCH LENGTH HEADS STORAGE COMPUTE PAGE PEER
measure() {
  local name="$1 B=$2 L=$3 H=$4 $5/$6 page $7" lengths out us
  [[ $name =~ $pattern ]] || return 0
  write_program "$4" "$5" "$6"
  lengths=$(printf "$3,%.0s" $(seq "$2"))
  if ! out=$("$mlac" run "$program" --target sm_90 --profile "$1" --device cuda --packed --repeat 21 --json \
    --kv-len "${lengths%,}" --page "$7" 2>&1); then
    printf '%-44s FAILED: %s\n' "$name" "$(head -n 1 <<<"$out")"
    return 1
  fi
  us=$(grep -o '"microseconds": *[0-9.]*' <<<"$out" | grep -o '[0-9.]*$')
  awk -v name="$name" -v us="$us" -v peer="$8" -v b="$2" -v l="$3" -v h="$4" -v bytes="$([ "$5" = e4m3 ] && echo 576 || echo 1152)" 'BEGIN {
    memory = b * l * bytes / 4.5e6; math = 2 * b * l * h * 1088 / 614e6; floor = memory > math ? memory : math
    printf "%-44s %8.1f us  floor %6.1f (%4.2f of it)  peer %s%s\n", name, us, floor, floor / us, peer, sprintf(" (%.1fx)", peer / us)
  }'
}

echo "$("$mlac" --version) on $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader)"
for heads in 8:538 16:537 32:539 64:544 128:1067; do
  measure sm_90 64 8192 "${heads%:*}" e4m3 f16 64 "${heads#*:}"
done
measure sm_90 64 8192 16 e4m3 f16 1 552
measure sm_90 16 8192 8 e4m3 f16 64 149
measure sm_90 1 131072 8 e4m3 f16 64 176
measure sm_90 1 4096 8 e4m3 f16 64 34
measure sm_90 256 1024 16 e4m3 f16 64 278
measure sm_120 64 8192 16 e4m3 f16 64 674
measure sm_120 64 8192 64 e4m3 f16 64 678
measure sm_120 64 8192 128 e4m3 f16 64 1312
measure sm_90 64 8192 16 bf16 bf16 64 291
measure sm_90 64 8192 16 e4m3 bf16 64 537

#!/usr/bin/env bash
# Prefill times on a CUDA device: bench/prefill.sh MLAC [PATTERN [HINTS]]
# MLAC is a binary that runs there (the static preset makes one); HINTS, such as "rows = 64, row_warps = 4", fix the schedule of
# every case. Every case is also compared with the reference, at one query token of 256. Times are medians of 21 readings
# of at least 20 launches. Useful TFLOP/s count the products of a query with the tokens that it sees. The peer is PyTorch's flash
# back end (FA2) on an H200, which pads values to the keys' width (docs/kernels.md); the mma.sync peak is 614.
set -u
mlac=$1
pattern=${2:-.}
hints=${3:-}
program=$(mktemp)
trap 'rm -f "$program"' EXIT

# read_rows NAME STORAGE COMPUTE: how the body reads stored rows
read_rows() {
  case $2 in
  "$3") echo "$1" ;;
  e4m3) echo "(dequant($1) * $1_scale)" ;;
  *) echo "dequant($1)" ;;
  esac
}

# write_program HEADS KV_HEADS KEY_WIDTH VALUE_WIDTH STORAGE COMPUTE MASK
write_program() {
  local scales='' scores
  [ "$5" = e4m3 ] && scales='k_scale : f32, v_scale : f32, '
  scores="dot(q, $(read_rows k "$5" "$6")) * sm_scale"
  [ "$7" = causal ] && scores="causal($scores)"
  cat >"$program" <<TXT
kernel prefill(q : ragged bf16[heads = $1, $3], k : ragged $5[heads = $2, $3], v : ragged $5[heads = $2, $4],
               ${scales}sm_scale : f32)
  -> (o : ragged bf16[heads = $1, $4], lse : log2) compute $6 ${hints:+hint $hints} {
  let s = $scores;
  o   = softmax(s) @ $(read_rows v "$5" "$6");
  lse = logsumexp(s);
}
TXT
}

# measure PROFILE BATCH LENGTH HEADS KV_HEADS KEY_WIDTH VALUE_WIDTH STORAGE COMPUTE MASK PEER
measure() {
  local name="$1 B=$2 L=$3 H=$4/$5 $6/$7 $8/$9 ${10}" lengths out us
  [[ $name =~ $pattern ]] || return 0
  write_program "$4" "$5" "$6" "$7" "$8" "$9" "${10}"
  lengths=$(printf "$3,%.0s" $(seq "$2"))
  if ! out=$("$mlac" run "$program" --target sm_90 --profile "$1" --device cuda --packed --repeat 21 --json --check-every 256 \
    --q-len "${lengths%,}" --kv-len "${lengths%,}" 2>&1); then
    printf '%-52s FAILED: %s\n' "$name" "$(head -n 1 <<<"$out")"
    return 1
  fi
  us=$(grep -o '"median": *[0-9.]*' <<<"$out" | head -n 1 | grep -o '[0-9.]*$')
  awk -v name="$name" -v us="$us" -v b="$2" -v l="$3" -v h="$4" -v widths="$(($6 + $7))" -v mask="${10}" -v peer="${11}" 'BEGIN {
    pairs = mask == "causal" ? l * (l + 1) / 2 : l * l; rate = 2 * b * h * widths * pairs / us / 1e6
    printf "%-52s %8.1f us  %5.1f TFLOP/s (%4.2f of 614)  peer %s\n", name, us, rate, rate / 614, peer
  }'
}

echo "$("$mlac" --version) on $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader)"
for profile in sm_90 sm_120; do
  measure $profile 1 8192 16 16 192 128 bf16 bf16 causal 223
  measure $profile 1 8192 16 16 192 128 e4m3 f16 causal -
  measure $profile 1 8192 8 8 256 256 bf16 bf16 causal 256
  measure $profile 1 8192 8 8 256 256 e4m3 f16 causal -
done
measure sm_90 1 8192 16 16 192 128 bf16 bf16 full -
measure sm_90 1 8192 16 16 192 128 e4m3 bf16 causal -
measure sm_90 1 8192 16 2 192 128 bf16 bf16 causal -
measure sm_90 16 512 16 16 192 128 bf16 bf16 causal -

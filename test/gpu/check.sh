#!/usr/bin/env bash
# Values and sanitizers on a CUDA device: test/gpu/check.sh MLAC [values] [memcheck] [racecheck]
# MLAC is a binary that runs here (the static preset makes one); TARGET and PROFILES choose what is compiled.
set -u
mlac=$1
shift
stages=${*:-values memcheck racecheck}
root=$(cd "$(dirname "$0")/../.." && pwd)
target=${TARGET:-sm_90}
failures=0
runs=0

# program SOURCE STORAGE COMPUTE HEADS LATENT ROPE LAYOUT: writes a decode program.
program() {
  local scale='' parameter='' rows='kv'
  case $2 in e4m3 | e5m2 | int8) scale=' * kv_scale' parameter='kv_scale : f32, ' ;; esac
  [ "$2" = "$3" ] || rows='dequant(kv)'
  cat >"$1" <<TXT
kernel t(q : ragged bf16[heads = $4, $5 + $6], kv : $7 $2[$5 + $6], ${parameter}sm_scale : f32)
  -> (o : ragged bf16[heads = $4, $5], lse : ln) compute $3 {
  let k = $rows$scale;
  let s = causal(dot(q, k) * sm_scale);
  o   = softmax(s) @ k[0:$5];
  lse = logsumexp(s);
}
TXT
}

# run LABEL ARGUMENTS...: one run whose values must match the reference.
run() {
  local label=$1 log
  shift
  runs=$((runs + 1))
  if ! log=$("$@" 2>&1); then
    failures=$((failures + 1))
    printf 'FAILED %s\n%s\n' "$label" "$log"
  fi
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shapes=("--kv-len 0,1,15,16,17,63,64,65,257 --q-len 1,1,2,1,3,1,1,2,1 --page 16"
  "--kv-len 4097,0,61 --q-len 1,1,3 --page 1" "--kv-len 8192,100 --q-len 1,1 --page 64" "--kv-len 1000,999 --q-len 5,0 --page 100")
for profile in ${PROFILES:-sm_90 sm_120}; do
  common=(--target "$target" --profile "$profile" --device cuda)
  case " $stages " in *' values '*)
    for example in glm5_decode deepseek_v3_decode bf16_decode verify3 int8_decode record_decode nope_record_decode footer_decode; do
      for shape in "${shapes[@]}"; do
        # shellcheck disable=SC2086
        run "$profile $example $shape" "$mlac" run "$root/examples/$example.mla" "${common[@]}" $shape
      done
    done
    for kernel in "e4m3 bf16 8 512 64 paged" "e4m3 bf16 16 512 64 paged" "e4m3 f16 32 512 64 paged" "e4m3 f16 1 512 0 paged" \
      "e4m3 f16 5 448 16 paged" "e4m3 bf16 20 320 32 paged" "bf16 f16 12 256 64 ragged" "f16 bf16 16 64 0 ragged" \
      "f16 f16 64 512 64 paged" "e5m2 f16 8 128 32 paged" "int8 f16 8 512 64 paged" "int8 bf16 16 512 64 paged" "e4m3 f16 128 512 64 ragged"; do
      # shellcheck disable=SC2086
      program "$work/t.mla" $kernel
      # shellcheck disable=SC2086
      run "$profile $kernel" "$mlac" run "$work/t.mla" "${common[@]}" ${shapes[0]}
    done
    ;;
  esac
  for tool in memcheck racecheck; do
    case " $stages " in *" $tool "*)
      for example in glm5_decode deepseek_v3_decode bf16_decode verify3; do
        run "$tool $profile $example" compute-sanitizer --tool "$tool" --error-exitcode 9 "$mlac" run \
          "$root/examples/$example.mla" "${common[@]}" --kv-len 300,0,61 --q-len 1,1,3 --page 16
      done
      ;;
    esac
  done
done
echo "$((runs - failures)) passed, $failures failed"
[ "$failures" -eq 0 ]

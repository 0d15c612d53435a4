#!/usr/bin/env bash
# plan(), run() and merge() on a CUDA device: runtime.sh FOLDER [STAGE...]
#
#   values    every case, at full size (needs about 20 GB on the device)
#   examples  the host programs, compiled for the device and run there
#   overlap   mlac run with and without the combine's early start: the same values, both times
#   killed    a process killed in the middle of its launches, and the cases again
#   sanitize  compute-sanitizer over small cases
#   soak      two threads of two streams each with mixed plans, every result checked: MLAC_SOAK_SECONDS, 600 if not set
#   bench     host and device times of plan() and run()
#
# Without stages: values, examples and overlap. FOLDER, or FOLDER.tar.xz beside it, comes from prepare-runtime.sh.
set -u
[ -d "$1" ] || tar -C "$(dirname "$1")" -xf "$1.tar.xz" || exit 2
folder=$(cd "$1" && pwd)
shift
stages=" ${*:-values examples overlap} "
export MLAC_TEST_ARTEFACTS=$folder LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export MLAC_CACHE_DIR=${MLAC_CACHE_DIR:-$(mktemp -d)}
failures=0

# stage NAME COMMAND...: runs it if it was asked for.
stage() {
  local name=$1 status=0
  shift
  case $stages in *" $name "*) ;; *) return ;; esac
  echo "== $name"
  "$@" || status=$?
  echo "== $name: $([ $status -eq 0 ] && echo passed || echo "FAILED with $status")"
  [ $status -eq 0 ] || failures=$((failures + 1))
}

examples() {
  local example status=0
  for example in decode_loop captured_graph device_plan shared_prefix decode_c; do
    "$folder/$example" "$folder/glm5_decode.mla" --device cuda || { echo "$example failed"; status=1; }
  done
  return $status
}

overlap() {
  local shape flag status=0
  for shape in '--kv-len 4096' '--kv-len 131072' "--kv-len $(printf '8192,%.0s' {1..63})8192"; do
    for flag in '' --no-overlap; do
      echo "$shape $flag" | cut -c1-60
      # shellcheck disable=SC2086
      "$folder/mlac" run "$folder/glm5_decode.mla" --target "${TARGET:-sm_90}" --device cuda --packed --repeat 20 $shape $flag ||
        status=1
    done
  done
  return $status
}

# A driver that cleans up after a killed process must leave the device usable, and no state may be left behind.
killed() {
  local i
  for i in 1 2 3; do
    MLAC_SOAK_SECONDS=30 timeout -s KILL $((i + 3)) "$folder/runtime_gpu_test" --gtest_filter='Soak.TwoThreads*' >"$MLAC_CACHE_DIR/killed" 2>&1
    [ $? -eq 137 ] || { echo 'the process ended before it was killed'; return 1; }
  done
  "$folder/runtime_gpu_test" --gtest_brief=1 --gtest_filter='PlanRun.*-PlanRun.TenThousand*'
}

sanitize() {
  local tool status=0
  # Small batches: the sanitizer is a hundred times slower.
  local cases='EmptyWork.PaddedRequests:EmptyWork.PageTails*:PlanRun.ReplayFollows*:PlanRun.TwoPlans*:Merge.One*:Merge.Into*'
  cases+=':DevicePlanner.Replays*:DevicePlanner.PageTables*'
  for tool in memcheck racecheck synccheck initcheck; do
    local filter=$cases
    [ $tool = memcheck ] || filter='EmptyWork.PaddedRequests:PlanRun.TwoPlans*:Merge.Into*:DevicePlanner.Replays*'
    MLAC_TEST_SMALL=1 timeout 100 compute-sanitizer --tool $tool --error-exitcode 9 "$folder/runtime_gpu_test" \
      --gtest_filter="$filter" | grep -E 'ERROR SUMMARY|FAILED|PASSED|=========.*(error|hazard)' || true
    [ "${PIPESTATUS[0]}" -eq 0 ] || { echo "$tool failed"; status=1; }
  done
  return $status
}

stage values env -u MLAC_SOAK_SECONDS "$folder/runtime_gpu_test" --gtest_brief=1
stage examples examples
stage overlap overlap
stage killed killed
stage sanitize sanitize
stage soak env MLAC_SOAK_SECONDS="${MLAC_SOAK_SECONDS:-600}" "$folder/runtime_gpu_test" --gtest_filter='Soak.TwoThreads*'
stage bench "$folder/run_bench"
exit $((failures != 0))

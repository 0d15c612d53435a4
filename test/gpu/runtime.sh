#!/usr/bin/env bash
# plan(), run() and merge() on a CUDA device: test/gpu/runtime.sh FOLDER [values] [sanitize] [bench]
# FOLDER holds runtime_gpu_test and the artefacts decode.ptx, plain.ptx and ln.ptx; prepare-runtime.sh makes it.
set -u
folder=$(cd "$1" && pwd)
shift
stages=" ${*:-values sanitize} "
export MLAC_TEST_ARTEFACTS=$folder LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
failures=0

# stage NAME COMMAND...: runs it if it was asked for.
stage() {
  local name=$1
  shift
  case $stages in *" $name "*) ;; *) return ;; esac
  echo "== $name"
  "$@" || failures=$((failures + 1))
}

sanitize() {
  local tool status=0
  # Small batches: the sanitizer is a hundred times slower.
  local cases='EmptyWork.PaddedRequests:EmptyWork.PageTails*:PlanRun.ReplayFollows*:PlanRun.TwoPlans*:Merge.One*:Merge.Into*'
  for tool in memcheck racecheck synccheck initcheck; do
    local filter=$cases
    [ $tool = memcheck ] || filter='EmptyWork.PaddedRequests:PlanRun.TwoPlans*:Merge.Into*'
    MLAC_TEST_SMALL=1 timeout 100 compute-sanitizer --tool $tool --error-exitcode 9 "$folder/runtime_gpu_test" \
      --gtest_filter="$filter" | grep -E 'ERROR SUMMARY|FAILED|PASSED|=========.*(error|hazard)' || true
    [ "${PIPESTATUS[0]}" -eq 0 ] || { echo "$tool failed"; status=1; }
  done
  return $status
}

stage values "$folder/runtime_gpu_test" --gtest_brief=0
stage sanitize sanitize
stage bench "$folder/run_bench"
exit $((failures != 0))

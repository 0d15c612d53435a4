#!/usr/bin/env bash
# Installs the build into a temporary prefix and uses it from there: install-check.sh BUILD SOURCE CMAKE CC CXX
set -euo pipefail
build=$1 source=$2 cmake=$3 cc=$4 cxx=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { printf '== %s\n' "$*"; }

say "install"
"$cmake" --install "$build" --prefix "$work/prefix" --component runtime >"$work/log"
thin=$(find "$work/prefix" -name 'libmla_runtime.so' | head -1)
needs=$(ldd "$thin")
if grep -Ei 'LLVM|MLIR|libcuda|cudart|not found' <<<"$needs"; then
  echo "the thin library needs what it must not, or what is not there"
  exit 1
fi
say "the thin library needs neither LLVM nor CUDA"

# use SOURCE NAME: configures and builds a project against the prefix
use() {
  "$cmake" -G Ninja -S "$1" -B "$work/$2" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Debug >"$work/log" 2>&1 &&
    "$cmake" --build "$work/$2" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}

say "a C program"
use "$source/test/runtime/consumer" consumer
"$work/consumer/consumer"

if [ -n "$(find "$work/prefix" -name 'libmla_jit.so' | head -1)" ]; then
  say "the host examples"
  export MLAC_CACHE_DIR="$work/cache"
  use "$source/examples/host" examples
  for example in decode_loop captured_graph device_plan shared_prefix decode_c; do
    "$work/examples/$example" "$source/examples/glm5_decode.mla"
  done
fi

#!/bin/sh
# Bandwidth of appends on the CUDA device: rows to an 8-bit and a 16-bit cache, few as in decode and many as in prefill.
#   bench/writer.sh MLAC [--target sm_90]
set -eu
mlac=${1:?usage: writer.sh MLAC [options of mlac run]}
shift
examples=$(dirname "$0")/../examples
for rows in 1 64 1024 8192 65536; do
  for storage in e4m3 int8 bf16; do
    "$mlac" run "$examples/append_$storage.mla" --device cuda --packed --repeat 21 --page 64 --q-len "$rows" --kv-len "$rows" "$@" |
      awk -v rows="$rows" -v storage="$storage" \
        '/^time:/ { time = $2; rate = $4 } /^passed|^FAILED/ { verdict = $1 }
         END { printf "%6d rows %s  %8s us  %s TB/s  %s\n", rows, storage, time, substr(rate, 2), verdict }'
  done
done

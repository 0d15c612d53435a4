#!/usr/bin/env bash
# The cost model's prediction of every case, no device needed: bench/predict.sh MLAC [PATTERN] [--target sm_120] [--log LOG]
# bench/predict.py --help says what is printed.
exec python3 "$(dirname "$0")/predict.py" "$@"

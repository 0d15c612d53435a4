#!/usr/bin/env bash
# The decode table on a CUDA device, peers beside it: bench/decode.sh MLAC [PATTERN] [--json LOG] [--no-peers] [--extras] [--markdown]
# MLAC is a binary that runs there (the static preset makes one); bench/decode.py --help says what is measured and how.
exec python3 "$(dirname "$0")/decode.py" "$@"

#!/usr/bin/env python3
"""What `mlac run --device cuda` answers, without a device: one microsecond for 3 MB of cache, wrong values at batch 16, an error at 131,072 tokens."""
import json
import sys


def value(option):
    return int(sys.argv[sys.argv.index(option) + 1])


if "--version" in sys.argv:
    print("mlac stand-in")
    sys.exit(0)
if value("--kv-len") == 131072:
    sys.exit("error: no CUDA driver")
us = value("--batch") * value("--kv-len") * 576 / 3e6
timing = {"median": us, "min": us * 0.9, "max": us * 1.1, "readings": value("--repeat"), "launches": 5}
wrong = value("--batch") == 16
print(json.dumps({"run": {"microseconds": timing}, "check": {"passed": not wrong}}))
sys.exit(1 if wrong else 0)

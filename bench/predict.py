#!/usr/bin/env python3
"""The cost model's word on the table's cases: predict.py MLAC [PATTERN] [--target T] [--log LOG]

Compiles every case for the target (sm_120 if not given), without a device, and prints the schedule, what bounds it, the predicted
microseconds, the card's floors, and what ptxas says of registers and spills where there is a ptxas. With a log of decode.py, taken on the
target's card, it prints what was measured and how far off the model is; cases held to another card's limits have no prediction there."""

import argparse
import json
import re
import subprocess
import sys
import tempfile

from cases import CASES


def predict(mlac, case, target):
    """The report's entry for the case's kernel."""
    with tempfile.NamedTemporaryFile("w", suffix=".mla") as program:
        program.write(case.program())
        program.flush()
        command = [mlac, "compile", program.name, "--target", target, "--emit=report", "--kv-len", str(case.length), "--batch",
                   str(case.batch), "--page", str(case.page)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return {"failed": (done.stderr.strip().splitlines() or ["no output"])[0]}
    return json.loads(done.stdout)["kernels"][0]


def measured(log, case):
    """The median of the case in a log, if its values were right."""
    ours = (log or {}).get("cases", {}).get(case.name, {}).get("ours", {})
    timing = ours.get("run", {}).get("microseconds")
    return timing["median"] if timing and ours.get("passed") else None


def schedule_text(tile):
    return (f"{tile['rows']}x{tile['tokens']}, {tile['stages']} stages, {tile['groups']} groups of "
            f"{tile['token_warps']}x{tile['row_warps']}")


def row(case, kernel, log):
    if "failed" in kernel or "problem" in kernel["prediction"]:
        return [case.name, kernel.get("failed") or kernel["prediction"]["problem"]]
    found, main = kernel["prediction"], kernel["main"]
    cells = [case.name, schedule_text(kernel["tile"]), found["bound"], f"{found['microseconds']:.1f}",
             f"{found['memory_floor']:.1f}", f"{found['matrix_floor']:.1f}", str(found["blocks_per_sm"]),
             str(main["shared_bytes"]), str(main.get("registers", "-")), str(main.get("spill_bytes", "-"))]
    if log:
        us = measured(log, case)
        cells += ["-", "-"] if us is None else [f"{us:.1f}", f"{found['microseconds'] / us - 1:+.0%}"]
    return cells


HEADER = ["case", "schedule", "bound", "us", "memory", "mma", "blocks/SM", "shared", "registers", "spills"]


def print_table(rows):
    widths = [max(len(cells[i]) for cells in rows if i < len(cells) and len(cells) > 2) for i in range(len(rows[0]))]
    for cells in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mlac")
    parser.add_argument("pattern", nargs="?", default=".")
    parser.add_argument("--target", default="sm_120")
    parser.add_argument("--log", help="a log of decode.py")
    options = parser.parse_args()
    log = None
    if options.log:
        with open(options.log) as file:
            log = json.load(file)
    # A case held to another card's limits is the plain one here.
    cases = [case for case in CASES if case.profile == "sm_90" and re.search(options.pattern, case.name)]
    rows = [row(case, predict(options.mlac, case, options.target), log) for case in cases]
    print_table([HEADER + (["measured", "off by"] if log else [])] + rows)
    return 1 if not rows or any(len(cells) == 2 for cells in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

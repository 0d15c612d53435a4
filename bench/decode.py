#!/usr/bin/env python3
"""The decode table: decode.py MLAC [PATTERN] [--json LOG] [--no-peers] [--repeat N]

Runs every case whose name matches PATTERN on the CUDA device with MLAC, a binary that runs there, compares its values with the reference in the
same run, then the peers (peers.py, where PyTorch is there), and prints: our time, the floor (reading the cache once at 4.5 TB/s, multiplying
at 614 Tflop/s), what is required (must) and hoped for (aim), FlashInfer's recorded time, and the peers measured beside us. The log keeps
everything. The exit status is 1 if a value was wrong or a case did not run."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

from cases import CASES, EXTRAS

HERE = os.path.dirname(os.path.abspath(__file__))


def first_line(text):
    lines = text.strip().splitlines()
    return lines[0] if lines else "no output"


def run_ours(mlac, case, repeat):
    with tempfile.NamedTemporaryFile("w", suffix=".mla") as program:
        program.write(case.program())
        program.flush()
        command = [mlac, "run", program.name, "--target", "sm_90", "--profile", case.profile, "--device", "cuda", "--packed",
                   "--kv-len", str(case.length), "--batch", str(case.batch), "--q-len", str(case.query_tokens), "--page", str(case.page), "--repeat", str(repeat), "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return {"failed": first_line(done.stderr or done.stdout)}
    return {"run": report["run"], "check": report["check"], "passed": done.returncode == 0}


def run_peers(names):
    pattern = f"^(?:{'|'.join(map(re.escape, names))})$"
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [sys.executable, os.path.join(HERE, "peers.py"), "--json", out.name, pattern]
        if subprocess.run(command).returncode != 0:
            print("no peers: peers.py failed", file=sys.stderr)
            return None
        return json.load(out)


def median(ours):
    timing = ours.get("run", {}).get("microseconds")
    return timing["median"] if timing else None


def number(value, digits=1):
    return "-" if value is None else f"{value:.{digits}f}"


def peer_cell(peer, us):
    """A peer's time and how many times ours it is; ! after a time whose values were out of tolerance."""
    if not peer or "median" not in peer:
        return "-"
    ratio = f" ({peer['median'] / us:.1f}x)" if us else ""
    return f"{peer['median']:.1f}{'' if peer['passed'] else '!'}{ratio}"


def recorded_cell(case, us):
    recorded = case.peer or case.peer_bf16
    if not recorded:
        return "-"
    return f"{recorded}{'' if case.peer else ' bf16'}" + (f" ({recorded / us:.1f}x)" if us else "")


def row(case, entry, peers):
    us = median(entry["ours"])
    timing = entry["ours"].get("run", {}).get("microseconds") or {}
    floor = max(case.memory_floor, case.mma_floor)
    verdict = "-" if us is None or not case.must or not entry["ours"]["passed"] else "aim" if us <= case.aim else "must" if us <= case.must else "missed"
    return [case.name, "FAILED" if us is None else number(us) + ("" if entry["ours"]["passed"] else "!"),
            f"{number(timing.get('min'))}-{number(timing.get('max'))}", number(case.memory_floor), number(case.mma_floor),
            "-" if us is None else f"{floor / us:.0%}", str(case.must or "-"), str(case.aim or "-"), verdict,
            recorded_cell(case, us)] + [peer_cell(entry["peers"].get(name), us) for name in peers]


HEADER = ["case", "us", "min-max", "memory", "mma", "of floor", "must", "aim", "met", "FlashInfer recorded"]


def table(log, markdown=False):
    cases = {case.name: case for case in CASES + EXTRAS}
    peers = sorted({name for entry in log["cases"].values() for name in entry["peers"] if name != "rotated"})
    rows = [HEADER + peers] + [row(cases[name], entry, peers) for name, entry in log["cases"].items()]
    if markdown:
        lines = ["| " + " | ".join(cells) + " |" for cells in rows]
        return "\n".join([lines[0], "|" + "---|" * len(rows[0])] + lines[1:])
    widths = [max(len(cells[i]) for cells in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip() for cells in rows)


def device_line():
    try:
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        return first_line(subprocess.run(query, capture_output=True, text=True).stdout)
    except OSError:
        return "no nvidia-smi"


def failures(log):
    return [name for name, entry in log["cases"].items() if not entry["ours"].get("passed")]


def collect(options):
    version = subprocess.run([options.mlac, "--version"], capture_output=True, text=True).stdout.strip()
    log = {"mlac": version, "device": device_line(), "cases": {}, "peers": None}
    print(f"{log['mlac']} on {log['device']}")
    for case in CASES + (EXTRAS if options.extras else []):
        if re.search(options.pattern, case.name):
            ours = run_ours(options.mlac, case, options.repeat)
            log["cases"][case.name] = {"ours": ours, "peers": {}}
            print(f"  {case.name}: {ours.get('failed') or number(median(ours)) + ' us'}", file=sys.stderr, flush=True)
    measured = None if options.no_peers else run_peers(list(log["cases"]))
    if measured:
        for name, peers in measured.pop("cases").items():
            log["cases"][name]["peers"] = peers
        log["peers"] = measured
    return log


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mlac")
    parser.add_argument("pattern", nargs="?", default=".")
    parser.add_argument("--json", metavar="LOG", help="where the log goes")
    parser.add_argument("--extras", action="store_true", help="also the cases beside the table: query tokens, bf16 at 64 heads")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--repeat", type=int, default=21)
    parser.add_argument("--markdown", action="store_true", help="prints the table for bench/RESULTS.md")
    options = parser.parse_args()
    log = collect(options)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(log, file, indent=1)
    print(table(log, options.markdown))
    cast = (log["peers"] or {}).get("whole_pool_cast", {})
    if "median" in cast:
        print(f"whole-pool cast of {cast['tokens']:,} tokens: {cast['median']:.0f} us a layer")
    for name in failures(log):
        print(f"FAILED {name}: {log['cases'][name]['ours'].get('failed', 'values out of tolerance')}")
    return 1 if failures(log) or not log["cases"] else 0


if __name__ == "__main__":
    sys.exit(main())

"""Checks the resources that ptxas reports: report.py MLAC FILE... against the table below.

Registers are ptxas's business and change with it; what they allow, blocks on a multiprocessor, is not expected to.
"""
import json
import subprocess
import sys
from pathlib import Path

# (program, profile): shared bytes, threads, blocks of the kernel and of its combination on a multiprocessor.
EXPECTED = {
    ("bf16_decode", "sm_120"): (95104, 128, 1, 1),
    ("bf16_decode", "sm_90"): (171072, 128, 1, 1),
    ("biased_decode", "sm_120"): (84896, 64, 1, 1),
    ("biased_decode", "sm_90"): (160288, 128, 1, 1),
    ("sliding_window_decode", "sm_120"): (97344, 128, 1, 1),
    ("sliding_window_decode", "sm_90"): (175488, 128, 1, 1),
    ("deepseek_v3_decode", "sm_120"): (97536, 128, 1, 1),
    ("deepseek_v3_decode", "sm_90"): (199680, 256, 1, 1),
    ("glm5_decode", "sm_120"): (86560, 128, 1, 1),
    ("glm5_decode", "sm_90"): (163776, 256, 1, 1),
    ("paged_extend", "sm_120"): (97344, 128, 1, 1),
    ("paged_extend", "sm_90"): (175488, 128, 1, 1),
    ("chunked_prefix", "sm_120"): (94208, 256, 1, None),
    ("chunked_prefix", "sm_90"): (94208, 128, 2, None),
    ("local_prefill", "sm_120"): (69632, 256, 1, None),
    ("local_prefill", "sm_90"): (52224, 128, 2, None),
    ("prefill_192_128", "sm_120"): (94208, 256, 1, None),
    ("prefill_192_128", "sm_90"): (94208, 128, 2, None),
    ("prefill_256_256", "sm_120"): (84992, 256, 1, None),
    ("prefill_256_256", "sm_90"): (102400, 256, 1, None),
    ("verify3", "sm_120"): (97536, 128, 1, 1),
    ("verify3", "sm_90"): (199680, 256, 1, 1),
}
LIMITS = {"sm_120": (101376, 102400, 48), "sm_90": (232448, 233472, 64)}  # bytes of a block, of an SM; warps of an SM
RESERVED = 1024  # bytes of an SM's shared memory that the system takes for each block


def problems(kernel, profile):
    block_limit, sm_limit, warps = LIMITS[profile]
    main, combine = kernel["main"], kernel["combine"]
    for entry in filter(None, (main, combine)): # prefill is never split, and has no combination
        for field in ("spill_bytes", "stack_bytes", "static_shared_bytes"):
            if entry[field] != 0:
                yield f"{entry['entry']}: {field} is {entry[field]}"
        if entry["registers"] * entry["threads"] * entry["blocks_per_sm"] > 65536:
            yield f"{entry['entry']}: more registers than a multiprocessor has"
        if abs(entry["occupancy"] - entry["blocks_per_sm"] * entry["threads"] / 32 / warps) > 1e-9:
            yield f"{entry['entry']}: occupancy is {entry['occupancy']}"
    shared = sum(allocation["bytes"] + -allocation["bytes"] % 16 for allocation in kernel["allocations"])
    if main["shared_bytes"] != shared or shared > block_limit:
        yield f"{main['shared_bytes']} bytes of shared memory, {shared} allocated, {block_limit} available"
    if main["blocks_per_sm"] * (shared + RESERVED) > sm_limit:
        yield f"{main['blocks_per_sm']} blocks on a multiprocessor take more shared memory than it has"
    found = (main["shared_bytes"], main["threads"], main["blocks_per_sm"], combine and combine["blocks_per_sm"])
    if found != EXPECTED[kernel["kernel"], profile]:
        yield f"shared bytes, threads and blocks are {found}"


def main(mlac, files):
    status = 0
    for file in files:
        for target in ("sm_90", "sm_120", "sm_120a"):
            command = [mlac, "compile", file, "--target", target, "--emit=report"]
            report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            assert report["ptxas"], "the report was made without ptxas"
            for kernel in report["kernels"]:
                print(Path(file).stem, target, kernel["main"]["registers"], "registers")
                for problem in problems(kernel, report["profile"]):
                    print(f"error: {file} for {target}: {problem}")
                    status = 1
    return status


sys.exit(main(sys.argv[1], sys.argv[2:]))

"""Compiles programs for every target and checks the PTX: ptx.py MLAC FILE...

The matrix instruction is the one of the declared compute type alone, nothing appears that the target or an older ptxas
lacks, and the same program gives the same bytes.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import time

TARGETS = {"sm_90": "7.8", "sm_120": "8.7", "sm_120a": "8.7"}
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.{0}.{0}.f32"
NEVER = {
    "a conversion that needs PTX 9.2": r"cvt\S*bf16x2\.e[45]m[32]x2",
    "packed f32 arithmetic": r"f32x2",
    "instructions of data-center chips": r"wgmma|tcgen05|setmaxnreg",
    "a transposed load of bytes": r"ldmatrix\S*\.b8\b",
    "local memory": r"\.local\b",
    "a call": r"\bcall\b",
}


def compile(mlac, file, target, cwd):
    command = [mlac, "compile", str(file), "--target", target]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=cwd).stdout.decode()


def problems(text, file, target):
    compute = re.search(r"compute (\w+)", file.read_text()).group(1)
    if not text.startswith("// mlac artefact 1 "):
        yield "does not start with its manifest"
    header = re.search(r"^\.version (\S+)\n\.target (\S+)$", text, re.M)
    if not header or header.groups() != (TARGETS[target], target):
        yield f"names {header and header.groups()}"
    found = set(re.findall(r"\b(?:mma|wgmma)\S*|\btcgen05\S*", text))
    if found != {MMA.format(compute)}:
        yield f"has the matrix instructions {sorted(found)}"
    for name, pattern in NEVER.items():
        if match := re.search(pattern, text):
            yield f"has {name}: {match.group(0)}"


def main(mlac, files):
    status = 0
    with tempfile.TemporaryDirectory() as elsewhere:
        for file in map(pathlib.Path, files):
            for target in TARGETS:
                start = time.time()
                text = compile(mlac, file, target, ".")
                print(f"{file.stem} for {target}: {time.time() - start:.2f} s")
                found = list(problems(text, file, target))
                if target == "sm_120" and compile(mlac, file, target, elsewhere) != text:
                    found.append("is not the same a second time")
                for problem in found:
                    print(f"error: {file.name} for {target} {problem}")
                    status = 1
    return status


sys.exit(main(sys.argv[1], sys.argv[2:]))

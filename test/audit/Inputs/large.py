"""Audits generated modules of 10,000 ops and checks that each op was visited a few times at most.

The shapes are those that a worse algorithm is quadratic in: long chains of views, conversions and copies (in program
order and against it), of calls both ways, nested loops, and many findings.
"""
import json
import pathlib
import subprocess
import sys

OPS = 10000
POOL, WIDE = "memref<?x576xf8E4M3FN>", "memref<?x576xf16>"
CAST = "linalg.copy ins(%{0} : " + POOL + ") outs(%wide : " + WIDE + ")"


def function(body, name="f"):
    return f"func.func private @{name}(%p0: {POOL}, %wide: {WIDE}, %n: index) {{\n{body}\n  return\n}}\n"


def views(count):
    lines = [f"%p{i + 1} = memref.cast %p{i} : {POOL} to {POOL}" for i in range(count)]
    return function("\n".join(lines + [CAST.format(f"p{count}")]))


def copies(count, backwards):
    allocs = [f"%p{i + 1} = memref.alloc(%n) : {POOL}" for i in range(count)]
    moves = [f"memref.copy %p{i}, %p{i + 1} : {POOL} to {POOL}" for i in range(count)]
    cast = [CAST.format(f"p{count}")]
    return function("\n".join(allocs + (cast + moves[::-1] if backwards else moves + cast)))


def calls(count, backwards):
    def body(i):
        call = f"func.call @f{i + 1}(%p0, %wide, %n) : ({POOL}, {WIDE}, index) -> ()"
        return call if i + 1 < count else CAST.format("p0")

    functions = [function(body(i), f"f{i}") for i in range(count)]
    return "".join(functions[::-1] if backwards else functions)


def loops(count):
    head = [f"%p{i + 1} = scf.for %i{i} = %n to %n step %n iter_args(%q{i + 1} = %p{i}) -> ({POOL}) {{\n"
            f"scf.yield %q{i + 1} : {POOL}\n}}" for i in range(count)]
    return function("\n".join(head + [CAST.format(f"p{count}")]))


def findings(count):
    return function("\n".join([CAST.format("p0")] * count))


SHAPES = {
    "views": (views(OPS), 1),
    "copies": (copies(OPS // 2, False), 1),
    "copies backwards": (copies(OPS // 2, True), 1),
    "calls": (calls(OPS // 3, False), 1),
    "calls backwards": (calls(OPS // 3, True), 1),
    "loops": (loops(OPS // 2), 1),
    "findings": (findings(OPS // 3), OPS // 3),
}

path = pathlib.Path(sys.argv[1])
for name, (text, expected) in SHAPES.items():
    path.write_text(text)
    done = subprocess.run(["mlac", "audit", "--format", "json", str(path)], capture_output=True, text=True)
    assert done.returncode == 1, (name, done.returncode, done.stderr[-500:])
    report = json.loads(done.stdout)
    assert len(report["findings"]) == expected, (name, len(report["findings"]))
    assert report["visits"] <= 10 * report["ops"], (name, report["ops"], report["visits"])

"""Audits every module of a folder and compares the findings with its comments.

A module says `// EXPECT: line N` for each cast, in order, or `// EXPECT-NONE`; nothing else may be found. Prints what
differs and exits with 1.
"""
import json
import pathlib
import re
import subprocess
import sys


def expected_lines(text):
    lines = [int(number) for number in re.findall(r"^// EXPECT: line (\d+)$", text, re.M)]
    none = re.search(r"^// EXPECT-NONE$", text, re.M) is not None
    if none == bool(lines):
        raise ValueError("needs EXPECT or EXPECT-NONE, and not both")
    return sorted(lines)


def audit(path):
    done = subprocess.run(["mlac", "audit", "--format", "json", str(path)], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise ValueError(f"exit status {done.returncode}: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    lines = sorted(finding["place"]["line"] for finding in report["findings"])
    if bool(lines) != (done.returncode == 1):
        raise ValueError(f"exit status {done.returncode} with {len(lines)} findings")
    if report["visits"] > 8 * report["ops"] + 8:
        raise ValueError(f"{report['visits']} visits of {report['ops']} ops")
    return lines


def check(path):
    try:
        expected, found = expected_lines(path.read_text()), audit(path)
    except ValueError as problem:
        return str(problem)
    missed = [line for line in expected if line not in found]
    wrong = [line for line in found if line not in expected]
    if missed or wrong or len(expected) != len(found):
        return f"missed {missed}, found wrongly {wrong}, {len(found)} findings for {len(expected)}"
    return None


def main():
    folder, least = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    modules = sorted(path for path in folder.iterdir() if path.suffix in (".mla", ".mlir"))
    problems = {path.name: problem for path in modules if (problem := check(path))}
    for name, problem in problems.items():
        print(f"{name}: {problem}")
    clean = sum("EXPECT-NONE" in path.read_text() for path in modules)
    print(f"{len(modules)} modules, {clean} without a finding, {len(problems)} wrong")
    return 1 if problems or len(modules) < least else 0


sys.exit(main())

"""Rule ids are the same in the sources, in the tables of docs/language.md, and in the tests."""
import glob
import re
import sys

root = sys.argv[1]


def read(*patterns):
    return "\n".join(open(path).read() for pattern in patterns for path in sorted(glob.glob(root + "/" + pattern)))


documented = set(re.findall(r"^\| `([a-z-]+)` \| ", read("docs/language.md").split("## Diagnostics")[1], re.M))
ids = set(re.findall(r'"([a-z]+(?:-[a-z]+)+|syntax|arity|nesting)"', read("frontend/*.cpp")))
ids |= set(re.findall(r"\[([a-z]+-[a-z]+)\]\"", read("frontend/*.cpp", "tools/mlac/*.cpp")))
dialect = set(re.findall(r"\[([a-z]+(?:-[a-z]+)+)\]\"", read("dialect/mla/*.cpp")))
tests = set(re.findall(r"(?:error|warning): .*\[([a-z-]+)\]$", read("test/*/*.mla", "test/*/*.test"), re.M))

assert not (ids | dialect) - documented, ("not documented", (ids | dialect) - documented)
assert not documented - ids - dialect, ("documented, but nowhere reported", documented - ids - dialect)
assert not ids - tests, ("without a test", ids - tests)

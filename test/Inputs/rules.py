"""Lists the rule ids, such as [slice-bounds], that the dialects and passes name and no test expects.

A pass's id must stand in the tests of the passes or the dialects, in a line that checks a message.
"""
import pathlib
import re
import sys

RULE = re.compile(r"\[([a-z]{2,}(?:-[a-z]+)+)\]")
CHECKING = re.compile(r"expected-(?:error|warning|remark|note)|CHECK|[A-Z0-9]+(?:-[A-Z]+)?:")


def rules_in(files, lines=lambda line: True):
    return {rule for file in files for line in file.read_text().splitlines() if lines(line) for rule in RULE.findall(line)}


def main(source):
    sources = [file for folder in ("dialect", "passes") for file in (source / folder).rglob("*") if file.suffix in (".td", ".cpp", ".h")]
    tests = [file for folder in ("dialect", "passes") for file in (source / "test" / folder).rglob("*") if file.suffix in (".mlir", ".test")]
    named = rules_in(sources)
    assert len(named) > 50, f"only {len(named)} rules found below {source}: is this the source tree?"
    missing = named - rules_in(tests, CHECKING.search)
    unknown = rules_in(tests, CHECKING.search) - named
    for rule in sorted(missing):
        print(f"no test expects [{rule}]")
    for rule in sorted(unknown):
        print(f"a test expects [{rule}], which nothing reports")
    return 1 if missing or unknown else 0


sys.exit(main(pathlib.Path(sys.argv[1])))

"""Runs `mlac check` on every mla block of a document. A plain block must pass without output; one marked
`reject=RULE` must fail with that rule."""
import re
import subprocess
import sys

mlac, document, scratch = sys.argv[1:]
blocks = re.findall(r"^```mla(?: reject=([a-z-]+))?\n(.*?)^```$", open(document).read(), re.M | re.S)
assert len(blocks) >= 5, "the document has lost its examples"
for rule, text in blocks:
    with open(scratch, "w") as file:
        file.write(text)
    run = subprocess.run([mlac, "check", scratch], capture_output=True, text=True, timeout=30)
    if rule:
        errors = re.findall(r"error: .*\[([a-z-]+)\]$", run.stderr, re.M)
        assert run.returncode == 1 and errors == [rule], (text, run.stderr)
    else:
        assert run.returncode == 0 and not run.stderr, (text, run.stderr)

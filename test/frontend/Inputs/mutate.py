"""Runs `mlac check` on randomly damaged copies of the examples (fixed seed) and accepts exit status 0, or 1 with an
error; anything else is a crash."""
import glob
import random
import subprocess
import sys

mlac, examples, scratch = sys.argv[1:]
texts = [open(path, "rb").read() for path in sorted(glob.glob(examples + "/*.mla"))]
words = b"kernel fn let const compute hint ( ) [ ] { } , ; : = * / + - @ < >= == and not -> 0 576 1e9 dot( dequant( /* \" \xc3\xa9".split(b" ")
rng = random.Random(17)


def damage(text):
    at, length = rng.randrange(len(text)), rng.randrange(1, 40)
    kind = rng.randrange(5)
    if kind == 0:  # a piece is missing
        return text[:at] + text[at + length :]
    if kind == 1:  # a piece is there twice
        return text[: at + length] + text[at:]
    if kind == 2:  # a word too many
        return text[:at] + b" " + rng.choice(words) + b" " + text[at:]
    if kind == 3:  # a flipped bit
        return text[:at] + bytes([text[at] ^ (1 << rng.randrange(8))]) + text[at + 1 :]
    return text[:at]  # the end is missing


for _ in range(150):
    text = rng.choice(texts)
    for _ in range(rng.randrange(1, 6)):
        text = damage(text) or b" "
    with open(scratch, "wb") as file:
        file.write(text)
    run = subprocess.run([mlac, "check", scratch], capture_output=True, timeout=30)
    assert run.returncode in (0, 1), (run.returncode, text, run.stderr)
    assert run.returncode == 0 or b"error: " in run.stderr, (text, run.stderr)

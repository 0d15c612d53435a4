"""Checks scheduled kernels, stage after stage, on standard input: their allocations lie side by side, their end is the
number of bytes that the schedule reports, and it is within the limit. Errors of the scheduler, in the file named first,
must be about something that is not.

    fits.py errors limit expected
"""
import re
import sys

BITS = {"f8E4M3FN": 8, "f16": 16, "bf16": 16, "f32": 32}
ALLOC = re.compile(r"tile\.alloc \"\w+\" at (\d+) : <(\d+)x(\d+)x(\d+)x(\w+), pitch = (\d+)>")
NEED = re.compile(r"error: no schedule fits .* needs (\d+) bytes of shared memory and about (\d+) registers a thread; "
                  r"available are (\d+) bytes and (\d+) registers \[schedule-fit\]")


def check_kernel(text, limit):
    end = 0
    for offset, stages, rows, columns, element, pitch in ALLOC.findall(text):
        offset, stages, rows, columns, pitch = map(int, (offset, stages, rows, columns, pitch))
        assert offset == end, f"an allocation at {offset} after one that ends at {end}"
        assert pitch >= columns * BITS[element] // 8
        end = (offset + stages * rows * pitch + 15) // 16 * 16
    reported = int(re.search(r"shared_bytes = (\d+)", text).group(1))
    assert 0 < end == reported <= limit, f"{end} bytes allocated, {reported} reported, {limit} allowed"


def check_error(need, limit):
    bytes_needed, registers, available, registers_available = map(int, need)
    assert available == limit
    assert bytes_needed > limit or registers > registers_available, f"{need} fits"


def main(errors, limit, expected):
    kernels = [part for part in re.split(r"(?=tile\.kernel )", sys.stdin.read()) if "tile.alloc" in part]
    refused = NEED.findall(open(errors).read())
    for text in kernels:
        check_kernel(text, limit)
    for need in refused:
        check_error(need, limit)
    assert kernels and refused and len(kernels) + len(refused) == expected, f"{len(kernels)} fit, {len(refused)} do not"


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

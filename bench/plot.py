#!/usr/bin/env python3
"""Draws a log of decode.py as SVG: plot.py LOG [OUT.svg]. One group of bars a case: ours, the floor, the peers."""

import json
import math
import sys
from html import escape

from cases import CASES, EXTRAS

ROW, GAP, LEFT, WIDTH, TOP = 12, 14, 320, 620, 46
COLOURS = {"ours": "#1f6f54", "floor": "#b9bfc6", "FlashInfer recorded": "#c96f2e", "torch matmul": "#8e7cc3",
           "torch sdpa": "#6d8fc9", "triton": "#d0a92b", "flashinfer": "#a94040"}


def bars(case, entry):
    """(name, microseconds) of a case; what was not measured, or was wrong, is left out."""
    timing = entry["ours"].get("run", {}).get("microseconds")
    found = [("ours", timing["median"])] if timing and entry["ours"]["passed"] else []
    found.append(("floor", max(case.memory_floor, case.mma_floor)))
    if case.peer or case.peer_bf16:
        found.append(("FlashInfer recorded", case.peer or case.peer_bf16))
    return found + [(name, peer["median"]) for name, peer in entry["peers"].items() if peer.get("passed")]


class Scale:
    """Logarithmic: a decade has the same length everywhere."""

    def __init__(self, values):
        self.low = 10 ** math.floor(math.log10(min(values)))
        self.high = 10 ** math.ceil(math.log10(max(values)))
        self.decades = math.log10(self.high / self.low) or 1

    def x(self, value):
        return LEFT + WIDTH * math.log10(value / self.low) / self.decades

    def ticks(self):
        return [self.low * 10**i for i in range(round(self.decades) + 1)]


def text(x, y, words, anchor="start", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(words)}</text>'


def legend(names):
    parts, x = [], LEFT
    for name in names:
        parts.append(f'<rect x="{x}" y="8" width="10" height="10" fill="{COLOURS.get(name, "#777")}"/>')
        parts.append(text(x + 14, 17, name))
        x += 24 + 7 * len(name)
    return parts


def draw(log):
    cases = {case.name: case for case in CASES + EXTRAS}
    groups = [(name, bars(cases[name], entry)) for name, entry in log["cases"].items()]
    scale = Scale([value for _, found in groups for _, value in found])
    names = [name for name in COLOURS if any(name == bar for _, found in groups for bar, _ in found)]
    height = TOP + sum(ROW * len(found) + GAP for _, found in groups)
    parts = legend(names)
    for tick in scale.ticks():
        parts.append(f'<line x1="{scale.x(tick):.1f}" y1="{TOP - 8}" x2="{scale.x(tick):.1f}" y2="{height}" stroke="#e4e4e4"/>')
        parts.append(text(scale.x(tick), TOP - 12, f"{tick:g} µs", "middle"))
    y = TOP
    for name, found in groups:
        parts.append(text(LEFT - 8, y + ROW * len(found) / 2 + 4, name, "end"))
        for bar, value in found:
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{max(scale.x(value) - LEFT, 1):.1f}" height="{ROW - 2}" '
                         f'fill="{COLOURS.get(bar, "#777")}"><title>{escape(bar)}: {value:.1f} µs</title></rect>')
            parts.append(text(scale.x(value) + 4, y + ROW - 3, f"{value:.1f}", extra=' fill="#555"'))
            y += ROW
        y += GAP
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 70}" height="{height}" font-family="sans-serif" '
            f'font-size="11"><title>Decode on {escape(log["device"])}, microseconds, logarithmic</title>'
            f'<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        picture = draw(json.load(file))
    if len(sys.argv) == 2:
        sys.stdout.write(picture)
    else:
        with open(sys.argv[2], "w") as file:
            file.write(picture)


if __name__ == "__main__":
    main()

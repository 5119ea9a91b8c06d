"""A bar chart on a logarithmic scale, as SVG: one bar per line of the table beside it, written by hand so that a page
needs nothing to be installed and a change of one figure changes one line."""

from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

WIDTH, LABEL_WIDTH, VALUE_WIDTH, BAR, GAP, TOP, BOTTOM = 860, 250, 110, 18, 8, 64, 34
COLOURS = {"ours": "#1f6f8b", "floor": "#7f8c8d", "others": "#e08e45", "paper": "#b0a990"}


@dataclass(frozen=True)
class Bar:
    label: str
    value: float
    kind: str  # of COLOURS
    text: str  # how the value is written


def power_of_ten(power):
    """As people write it: 10, 100 k, 1 M."""
    for exponent, suffix in ((9, " G"), (6, " M"), (3, " k")):
        if power >= exponent:
            return f"{10 ** (power - exponent)}{suffix}"
    return f"{10.0**power:g}"


def text(x, y, words, anchor="start", size=12, colour="#222"):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'


def legend(kinds):
    parts, x = [], LABEL_WIDTH
    for kind in kinds:
        parts.append(f'<rect x="{x}" y="34" width="12" height="12" fill="{COLOURS[kind]}"/>')
        parts.append(text(x + 17, 44, kind))
        x += 90
    return parts


def chart(title, unit, bars):
    """Bars begin at the power of ten below the least value: their lengths are orders of magnitude, no proportions."""
    least = floor(log10(min(bar.value for bar in bars)) - 0.01)
    most = ceil(log10(max(bar.value for bar in bars)) + 0.01)
    scale = (WIDTH - LABEL_WIDTH - VALUE_WIDTH) / (most - least)
    height = TOP + len(bars) * (BAR + GAP) + BOTTOM
    bottom = height - BOTTOM
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
             f"<title>{escape(title)}</title>", f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
             text(LABEL_WIDTH, 22, title, size=15)]
    parts += legend([kind for kind in COLOURS if any(bar.kind == kind for bar in bars)])
    for power in range(least, most + 1):
        x = LABEL_WIDTH + (power - least) * scale
        parts.append(f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>')
        parts.append(text(x, bottom + 16, power_of_ten(power), "middle", 11, "#666"))
    parts.append(text(WIDTH - 8, bottom + 16, unit, "end", 11, "#666"))
    for number, bar in enumerate(bars):
        y = TOP + number * (BAR + GAP)
        width = max((log10(bar.value) - least) * scale, 1)
        parts.append(text(LABEL_WIDTH - 8, y + BAR - 5, bar.label, "end"))
        parts.append(f'<rect x="{LABEL_WIDTH}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{COLOURS[bar.kind]}"/>')
        parts.append(text(LABEL_WIDTH + width + 6, y + BAR - 5, bar.text))
    return "\n".join([*parts, "</svg>", ""])

"""Charts of all pages in results/, drawn by the plotter of the generator fleet's study."""

import json
import subprocess
from dataclasses import asdict, dataclass

from ..machine import ROOT

KINDS = ["ours", "others", "paper", "floor"]  # a colour each
PLOTTER = ROOT / "build/bin/fleet-study"


@dataclass(frozen=True)
class Bar:
    label: str
    value: float
    kind: str  # of KINDS
    text: str  # how the value is written


def chart(title, unit, bars):
    """An SVG; lengths of bars are orders of magnitude."""
    return drawn({"title": title, "unit": unit, "kinds": KINDS, "bars": [asdict(bar) for bar in bars]})


def drawn(chart_or_figure):
    """An SVG of a plot.Bars, or of a plot.Figure: panels with lines."""
    if not PLOTTER.exists():
        raise SystemExit(f"results: {PLOTTER} is missing: run scripts/build go")
    return subprocess.run([PLOTTER, "chart"], input=json.dumps(chart_or_figure), capture_output=True, check=True, text=True).stdout

"""The page in Chromium: the first picture, zooms and pans at all scales, dragging, the tab's memory."""

import json
import shutil
from statistics import median

from ..processes import ROOT, run
from .service import quantile

STEPS = 100
DRAG_MS = 5000
SCALES = {"hours": 3600e9, "minutes": 60e9, "seconds": 1e9, "milliseconds": 1e6, "microseconds": 0}
PARTS = ["asked_after_ms", "answer_ms", "parse_ms", "to_draw_ms", "draw_ms", "paint_ms"]


def missing():
    """Why the page cannot be measured here; None if it can."""
    if not shutil.which("chromium"):
        return "chromium is not installed"
    if not (ROOT / "console/page/node_modules/playwright-core").is_dir():
        return "the page's libraries are not there: run scripts/build page"
    return None


def browse(service, seed, steps=STEPS, drag_ms=DRAG_MS):
    """What a browser of its own measures in one run."""
    if missing():
        raise RuntimeError(missing())
    answer = run("node", ROOT / "scripts/benching/console/browse.mjs", service.url, shutil.which("chromium"), steps, seed, drag_ms)
    return json.loads(answer.splitlines()[-1])


def scale(span_ns):
    return next(name for name, least in SCALES.items() if span_ns >= least)


def by_scale(runs):
    """Of all runs' steps by the length of the new span: how many, median and slowest."""
    found = {}
    for name in SCALES:
        times = [step["drawn_ms"] for run in runs for step in run["steps"] if scale(step["span_ns"]) == name]
        if times:
            found[name] = {"steps": len(times), "p50_ms": round(median(times), 1), "max_ms": round(max(times), 1)}
    return found


def parts(steps):
    """Where the time from the input to the picture goes, of each part the median."""
    return {part: round(median(step[part] for step in steps), 1) for part in PARTS}


def figures(runs):
    """Figure -> one value per run, details."""
    def each(value):
        return [value(run) for run in runs]

    def of_steps(share, what):
        return each(lambda run: quantile([step[what] for step in run["steps"]], share))

    steps = [step for run in runs for step in run["steps"]]
    slowest = max(steps, key=lambda step: step["drawn_ms"])
    count = {"steps_per_run": len(runs[0]["steps"])}
    return {
        "page.first": (each(lambda run: run["first"]["drawn_ms"]), {
            "again_ms": [round(run["second"]["drawn_ms"], 1) for run in runs],
            "of_which_lifelines_answer_ms": [round(run["first"]["answer_ms"], 1) for run in runs]}),
        "page.moved.p99": (of_steps(0.99, "moved_ms"), count),
        "page.step.p50": (of_steps(0.5, "drawn_ms"), count | {"median_of_parts": parts(steps), "by_scale": by_scale(runs)}),
        "page.step.p99": (of_steps(0.99, "drawn_ms"), count),
        "page.step.max": (of_steps(1, "drawn_ms"), count | {
            "above_limit": sum(step["drawn_ms"] > 200 for step in steps),
            "slowest": {name: round(value, 1) if isinstance(value, float) else value for name, value in slowest.items()}}),
        "page.panels.p99": (of_steps(0.99, "panels_ms"), count),
        "page.bytes": ([value / 1000 for value in of_steps(0.5, "bytes")], count | {
            "lifelines_kb_median": round(median(step["lifelines_bytes"] for step in steps) / 1000, 1),
            "max_kb": round(max(step["bytes"] for step in steps) / 1000, 1)}),
        "page.memory": (each(lambda run: run["memory"]["resident_mb"]), {
            name: [round(run["memory"][name], 1) for run in runs] for name in ("peak_mb", "private_mb", "heap_mb")}),
        "page.drag": (each(lambda run: min(drag["frames_per_s"] for drag in run["drags"])), {
            "frames_per_s_by_span": {f"{round(drag['span_ns'] / 1e6):,} ms": [round(run["drags"][i]["frames_per_s"], 1) for run in runs]
                                     for i, drag in enumerate(runs[0]["drags"])}, "chromium": runs[0]["chromium"]}),
    }

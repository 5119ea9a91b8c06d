"""Measures the console: for each size of archive several runs, each with a service and a browser of its own; then with a broker."""

import contextlib
import re
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from .. import machine
from ..jobs.java import measured
from ..suite import Suite
from . import activation, page, tail
from .cases import ACTIVATION, FIGURES, QUICK, SIZES, TAIL, cases
from ..processors import Others
from ..figures.row import Row
from .service import answers, console, heap_mb, quantile, start
from ..figures.table import bound, table

RUNS = 3
QUICK_STEPS = 20
QUICK_DRAG_MS = 1000
# What loading takes beside the heap, per event: DuckDB sorts the archive in memory. With 10 million events the process peaks at
# 133 bytes per event, of which the heap may be 106.
SORTING_BYTES = 60
DISK_BYTES = 20
NOTES = {"not_measured": []}


def lacking(events):
    """What this machine has too little of for so many events; empty if nothing."""
    available = int(re.search(r"^MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE)[1]) * 1024
    needed = heap_mb(events) * 2**20 + events * SORTING_BYTES
    if available < needed:
        return f"it takes {needed / 1e9:.0f} GB of memory, and {available / 1e9:.0f} GB are free"
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < events * DISK_BYTES:
        return f"it takes {events * DISK_BYTES / 1e9:.0f} GB of disk, and {free / 1e9:.0f} GB are free"
    return ""


def steps(chosen, quick):
    sizes = QUICK if quick else SIZES
    found = []
    for size, events in sizes.items():
        figures = {case.figure for case in chosen if case.size and (quick or case.size == size)}
        reason = lacking(events) if figures else ""
        if reason:
            NOTES["not_measured"].append(f"{events:,} events: {reason}")
            print(f"not measured: {events:,} events: {reason}", file=sys.stderr)
        elif figures:
            found.append((f"{events:,} events", lambda size=size, events=events, figures=figures: measure(size, events, figures, quick)))
    for title, family, all_cases in (("tail", tail, TAIL), ("activation", activation, ACTIVATION)):
        wanted = [case for case in all_cases if case in chosen]
        if wanted:
            found.append((title, lambda family=family, wanted=wanted: family.measure(wanted, 1 if quick else RUNS, quick)))
    return found


@contextlib.contextmanager
def archive(events):
    """An archive of about so many events; gives its directory and their number."""
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder:
        directory = f"{folder}/archive"
        found = measured("io.lifeline.jobs.bench.ConsoleArchive", "--events", events, "--dir", directory, options=["-Xmx2g"])
        yield directory, found["console-archive"]["events"]


def one_run(directory, events, number, figures, quick):
    """What one service shows: figures of its start, memory, page and HTTP, and the share of the processors that others took."""
    with Others() as others, console(events, directory) as service:
        found = {"start": start(service, events), "memory": service.memory()}
        if any(figure.startswith("page.") for figure in figures):
            found["page"] = page.browse(service, number, QUICK_STEPS if quick else page.STEPS,
                                        QUICK_DRAG_MS if quick else page.DRAG_MS)
        if any(figure.startswith("http.") for figure in figures):
            found["http"] = answers(service, number)
        found["live"] = service.live_heap()
    return found | {"others": others.share}


def service_figures(runs, events):
    """Figure -> one value per run, details."""
    resident, peak = zip(*(run["memory"] for run in runs))
    live = [run["live"] for run in runs]
    memory = {"heap_option": f"-Xmx{heap_mb(events)}m", "resident_bytes_per_event": round(median(resident) / events, 1)}
    if None not in live:
        memory |= {"live_heap_mb": [round(value / 1e6) for value in live],
                   "live_heap_bytes_per_event": round(median(live) / events, 1)}
    found = {f"start.{name}": ([run["start"][i] for run in runs], {}) for i, name in enumerate(("answer", "picture", "loaded"))}
    found["start.loaded"] = (found["start.loaded"][0], {"events_per_s": round(events / median(found["start.loaded"][0]))})
    found["service.memory"] = ([value / 1e6 for value in resident], memory)
    found["service.peak"] = ([value / 1e6 for value in peak], {"peak_bytes_per_event": round(median(peak) / events, 1)})
    if "http" in runs[0]:
        size = median(size for run in runs for size in run["http"][1])
        for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1)):
            found[f"http.{name}"] = ([quantile(run["http"][0], share) for run in runs],
                                     {"requests_per_run": len(runs[0]["http"][0]), "answer_kb_median": round(size / 1000, 1)})
    return found


def measure(size, events, figures, quick):
    commit = machine.profile()["commit"]
    runs = []
    with archive(events) as (directory, written):
        for number in range(1, (1 if quick else RUNS) + 1):
            print(f"    run {number} ...", file=sys.stderr, flush=True)
            runs.append(one_run(directory, written, number, figures, quick))
    values = service_figures(runs, written)
    if "page" in runs[0]:
        values |= page.figures([run["page"] for run in runs])
    noise = max(run["others"] for run in runs)
    if noise > 0.1:
        print(f"    {noise:.0%} of the processors went to others meanwhile", file=sys.stderr)
    return [Row(case.of_size(size), values[case.figure][0], written, values[case.figure][1], noise, commit)
            for case in FIGURES if case.figure in figures]


if __name__ == "__main__":
    Suite("console", cases(SIZES), bound, steps, table, NOTES).main()

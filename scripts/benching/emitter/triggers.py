"""What it costs to be switchable: the figures of NetLogger's monitoring activation (paper, section 5), ours."""

import tempfile
from pathlib import Path

from .programs import measure
from .row import Case, Row, merged

CASES = [
    Case("trigger.watched", "emit.burst.1t while a trigger file is watched, above the same without", unit="%"),
    Case("trigger.reparse50", "a changed trigger file with 50 entries, read and parsed, in the background"),
    Case("trigger.filter.name", "events that a line lets through by their name"),
    Case("trigger.filter.passes", "events that a threshold lets through"),
    Case("trigger.filter.leaves_out", "events that a threshold leaves out"),
]
RESOLUTIONS = {"trigger.filter.name": "bench.* full level<=info", "trigger.filter.passes": "bench.table1 full when count>=0",
               "trigger.filter.leaves_out": "bench.table1 full when count<0"}


def emit(case, repetitions, **settings):
    return measure(case, "bench-emit", "--events", 50_000, "--bursts", 200, "--repetitions", repetitions, settings=settings)


def watched(case, folder, repetitions):
    """With and without take turns, as rows and floors do elsewhere."""
    triggers = Path(folder) / "triggers"
    triggers.write_text("another.program.* full for=10m\nend\n", encoding="utf-8")
    triggers.chmod(0o600)
    pairs = [(emit(case, repetitions), emit(case, repetitions, TRIGGERS=triggers)) for _ in range(3)]
    without, with_it = (merged(case, rows) for rows in zip(*pairs))
    overheads = [100 * (after.median / before.median - 1) for before, after in pairs]
    details = {"without_ns": round(without.median, 3), "with_ns": round(with_it.median, 3)}
    return Row(case, overheads, lost=with_it.lost, noise=with_it.noise, details=details)


def rows(case, quick):
    repetitions = 3 if quick else 15
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder:
        if case.name == "trigger.watched":
            return [watched(case, folder, repetitions)]
        if case.name == "trigger.reparse50":
            return [measure(case, "bench-triggers", "--file", f"{folder}/triggers", "--lines", 50)]
        return [emit(case, repetitions, RESOLUTION=RESOLUTIONS[case.name])]

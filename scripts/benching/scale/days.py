"""What an archive of many days costs who opens and asks it."""

import json
import tempfile
from functools import partial

from .. import machine
from ..figures.row import Case, Row
from ..jobs.java import LIB
from ..limit import at_most
from ..processes import run
from ..processors import Others

DAYS, EMITTERS, EMITTERS_QUICK = (1, 7, 30), 10_000, 240
FIGURES = {
    "open": ("time to open an archive", "s", 1),
    "heap": ("heap of its reader", "MB", 64),
    "hour": ("time of the first query of an hour of a type's events", "s", 1),
    "read": ("bytes that it reads, as a share of the data of a day", "%", 100),
    "ledger": ("time of the first query of the ledger", "s", None),
}
CASES = [Case(f"scale.days.{figure}", f"{what}: {days} d of {EMITTERS:,} processes a day with 10 events each", unit,
              at_most("value", aim) if aim else None, str(days))
         for figure, (what, unit, aim) in FIGURES.items() for days in DAYS]


def measure(chosen, quick):
    """One archive, which is measured as it grows."""
    days = sorted({int(case.size) for case in chosen})
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder, Others() as others:
        answer = run("java", "-Xmx4g", "-XX:+ExitOnOutOfMemoryError", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", f"{LIB}/*",
                     "io.lifeline.jobs.bench.scale.DaysBench", "--dir", f"{folder}/archive", "--days", ",".join(map(str, days)),
                     "--emitters", EMITTERS_QUICK if quick else EMITTERS, "--runs", 1 if quick else 3, timeout=3600)
    found = {one["name"]: one["values"] for one in map(json.loads, answer.splitlines())}
    return [Row(case, found[case.name.removeprefix("scale.days.")], int(case.size) * 10 * (EMITTERS_QUICK if quick else EMITTERS), {},
                others.share, machine.profile()["commit"]) for case in chosen]


def steps(chosen, quick):
    if chosen:
        yield "an archive of days", partial(measure, chosen, quick)

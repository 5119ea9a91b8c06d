"""A type that is switched off: its instructions as callgrind counts them, and its time above an empty loop."""

import re
import shutil
import tempfile

from ..limit import at_most
from ..processes import BIN, run
from .programs import environment, measure
from .row import Case, Row

CASES = [
    Case("emit.off", "type switched off at run time, time above an empty loop", limit=at_most("value", 0.6)),
    Case("emit.off.instructions", "the same, instructions by callgrind", unit="instructions", limit=at_most("value", 3),
         exact=True),
]
SETTINGS = {"RESOLUTION": "bench.table1 off"}
COUNT = 100_000


def instructions(function, count, folder):
    """Instructions of one of bench-off's loops, including its setup."""
    output = f"{folder}/{function}.{count}.out"
    run("valgrind", "--tool=callgrind", f"--callgrind-out-file={output}", f"--toggle-collect={function}",
        BIN / "bench-off", "--count", count, environment=environment(**SETTINGS))
    with open(output, encoding="utf-8") as profile:
        total = re.search(r"^(?:totals|summary): (\d+)", profile.read(), re.MULTILINE)
    if not total:
        raise RuntimeError(f"callgrind counted nothing in {function}")
    return int(total[1])


def per_round(function, folder):
    """Without what is around the rounds."""
    return (instructions(function, 2 * COUNT, folder) - instructions(function, COUNT, folder)) / COUNT


def rows(case, quick):
    if case.name == "emit.off":
        return [measure(case, "bench-off", "--repetitions", 3 if quick else 15, settings=SETTINGS)]
    if not shutil.which("valgrind"):
        raise RuntimeError("valgrind is not installed: run scripts/setup --bench")
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder:
        counted = per_round("bench_off_loop", folder) - per_round("bench_empty_loop", folder)
    return [Row(case, [round(counted, 2)])]

"""What processes cost while nothing happens."""

import contextlib
import os
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median

from .. import machine
from ..figures.row import Case, Row
from ..limit import at_most
from ..processes import BIN, broker, cpu_seconds, stream_jobs
from ..processors import Others
from . import BROKERS

SETTLING_S, RUN_S, RUN_QUICK_S, RUNS = 15, 20, 3, 3
JOBS = "summarise,bottleneck,archive,ledger"

CASES = [case for kind, name in BROKERS.items() for case in (
    Case(f"idle.emitter.{kind}", f"processor time of a program that emits nothing, connected to {name}", "% of a core",
         at_most("value", 0.05)),
    Case(f"idle.jobs.{kind}", f"the same of `lifeline-jobs` with {JOBS.replace(',', ', ')}, its emitter idle", "% of a core"))]


def librdkafka_seconds(pid):
    """Processor time of its threads in a C program; Java's client has none."""
    total_ns = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # a thread may end meanwhile
            if (task / "comm").read_text().startswith("rdk:"):
                total_ns += int((task / "schedstat").read_text().split()[0])
    return total_ns / 1e9


def shares(pid, seconds):
    before, library, started = cpu_seconds(pid), librdkafka_seconds(pid), time.monotonic()
    time.sleep(seconds)
    used, of_library = cpu_seconds(pid) - before, librdkafka_seconds(pid) - library
    return [100 * each / (time.monotonic() - started) for each in (used, of_library)]


def row(case, values, seconds, others, commit):
    used, of_library = zip(*values, strict=True)
    details = {"librdkafka_percent": round(median(of_library), 3)} if any(of_library) else {}
    return Row(case, list(used), 1, {"seconds_per_run": seconds, **details}, others, commit)


def measure(kind, chosen, quick):
    seconds, commit = RUN_QUICK_S if quick else RUN_S, machine.profile()["commit"]
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder, broker(kind) as server, \
            stream_jobs(server.url, JOBS, f"{folder}/archive") as health, \
            subprocess.Popen([BIN / "lifeline-emit", "--url", server.url, "-"], stdin=subprocess.PIPE, text=True,
                             env={**os.environ, "LIFELINE_RING_DIR": f"{folder}/rings"}) as emitter, Others(server.pid) as others:
        emitter.stdin.write("bench.first\n")
        emitter.stdin.flush()
        time.sleep(SETTLING_S)
        pids = {"emitter": emitter.pid, "jobs": health.pid}
        values = {name: [shares(pid, seconds) for _ in range(RUNS)] for name, pid in pids.items()
                  if any(f".{name}." in case.name for case in chosen)}
    return [row(case, values[case.name.split(".")[1]], seconds, others.share, commit) for case in chosen]


def steps(chosen, quick):
    for kind in BROKERS:
        cases = [case for case in chosen if case.name.endswith(f".{kind}")]
        if cases:
            yield f"idle processes on {kind}", partial(measure, kind, cases, quick)

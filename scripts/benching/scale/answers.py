"""From an event to its row in SQL, to a summary and to an alert, beside a load of other events."""

import contextlib
import itertools
import json
import os
import subprocess
import tempfile
import threading
import time
from functools import partial
from statistics import quantiles

from .. import machine
from ..figures.row import Case, Row
from ..jobs.java import LIB
from ..limit import at_most
from ..processes import BIN, broker, run, stream_jobs
from ..processors import Others
from . import BROKERS

RATES = {"1k": 1_000, "100k": 100_000, "1m": 1_000_000}
PER_S = 20  # events that are asked for
MOST_DROPPED_PERCENT = 1
WARM_UP_S, THIRD_S, THIRD_QUICK_S, LATEST_S = 20, 20, 3, 60
ROLL_S = 1  # archive.roll.interval of stream_jobs
SETTINGS = ("summarise.window=1s", 'filter.alarm=type == "bench.asked"')
AIMS = {"sql": ROLL_S + 1, "summary": 2, "alert": 2}
WHAT = {"sql": f"row in SQL, the archive rolls every {ROLL_S} s", "summary": "summary of a window of 1 s",
        "alert": "message of a filter"}

CASES = [Case(f"answer.{answer}.{kind}.{rate}.{share}",
              f"from `ll_emit` to the {WHAT[answer]}; beside {count:,} events/s on {name}, {words}", "s",
              at_most("value", AIMS[answer]) if share == "p99" else None)
         for kind, name in BROKERS.items() for rate, count in RATES.items() for answer in AIMS
         for share, words in (("p50", "median"), ("p99", "99th percentile"))]


@contextlib.contextmanager
def asked(url, rings):
    """Emits numbered events until the context ends; the emitter has the library's default settings."""
    process = subprocess.Popen([BIN / "lifeline-emit", "--url", url, "--program", "asked", "-"], stdin=subprocess.PIPE, text=True,
                               env={**os.environ, "LIFELINE_RING_DIR": rings})
    ended = threading.Event()

    def emit():
        begun = time.monotonic()
        with contextlib.suppress(OSError), process.stdin:
            for serial in itertools.count():
                process.stdin.write(f"bench.asked serial:u64={serial}\n")
                process.stdin.flush()
                if ended.wait(max(0.0, begun + serial / PER_S - time.monotonic())):
                    return

    thread = threading.Thread(target=emit)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        if process.wait(60):
            raise RuntimeError(f"lifeline-emit ended with {process.returncode}")


@contextlib.contextmanager
def load(url, per_s, rings):
    """Emits other events at this rate until the context ends; then `taken` says how many were dropped."""
    taken = {}
    process = subprocess.Popen(
        [BIN / "serial-emitter", "--side", f"{rings}.side", "--threads", "1", "--rate", str(per_s), "--events", str(per_s * 3600)],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "LIFELINE_URL": url, "LIFELINE_RING_DIR": f"{rings}.load"})
    try:
        yield taken
    finally:
        process.terminate()
        counts = json.loads(process.communicate(timeout=120)[0])
    if not counts["emitted"] or 100 * counts["dropped"] > MOST_DROPPED_PERCENT * counts["emitted"]:
        raise RuntimeError(f"the load was not taken: {counts}")
    taken["load_dropped_percent"] = round(100 * counts["dropped"] / counts["emitted"], 3)


def samples(kind, per_s, third_s):
    """Answer -> seconds for each event, in order; what of the load was dropped; the share of the processors that others took."""
    first = WARM_UP_S * PER_S
    last = first + 3 * third_s * PER_S - 1
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder, broker(kind) as server:
        archive = f"{folder}/archive"
        with stream_jobs(server.url, "summarise,filter,archive", archive, *SETTINGS), Others(server.pid) as others, \
                load(server.url, per_s, f"{folder}/rings") as taken, asked(server.url, f"{folder}/rings"):
            answer = run("java", "-cp", f"{LIB}/*", "io.lifeline.jobs.bench.answer.AnswerBench", "--url", server.url, "--archive",
                         archive, "--first", first, "--last", last, "--timeout", (last + 1) // PER_S + LATEST_S)
    found = [json.loads(line) for line in answer.splitlines() if line.startswith("{")]
    return {one["name"]: one["seconds"] for one in found}, taken, others.share


def measure(kind, rate, chosen, quick):
    found, taken, others = samples(kind, RATES[rate], THIRD_QUICK_S if quick else THIRD_S)
    commit, rows = machine.profile()["commit"], []
    for case in chosen:
        _, answer, *_, share = case.name.split(".")
        seconds = found[answer]
        third = len(seconds) // 3
        values = [quantiles(seconds[i * third:(i + 1) * third], n=100)[49 if share == "p50" else 98] for i in range(3)]
        rows.append(Row(case, values, len(seconds), {"slowest_s": round(max(seconds), 3), **taken}, others, commit))
    return rows


def steps(chosen, quick):
    """A run per broker and rate; its thirds are the row's runs."""
    for kind, rate in itertools.product(BROKERS, RATES):
        cases = [case for case in chosen if f".{kind}.{rate}." in case.name]
        if cases:
            yield f"answers beside {RATES[rate]:,} events/s on {kind}", partial(measure, kind, rate, cases, quick)

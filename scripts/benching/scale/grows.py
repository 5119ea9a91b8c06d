"""What emitters, short-lived processes and event types cost the jobs, each at three sizes: memory kept, processor time."""

import re
import tempfile
import urllib.request
from dataclasses import dataclass
from functools import partial

from .. import machine
from ..figures.row import Case, Row
from ..jobs.java import LIB
from ..limit import at_most
from ..processes import broker, cpu_seconds, live_heap, run, stream_jobs, wait_until
from ..processors import Others
from . import BROKERS

RUNS = 3
JOBS = "summarise,ledger,archive"
EVENTS = 20  # in a batch


@dataclass(frozen=True)
class Dimension:
    """Something of which there may be many: with so many of them, the options of ScaleLoad and the number of its batches."""

    name: str
    one: str
    sizes: dict
    load: object
    heap_aim: float  # bytes for each
    cpu_aim: float  # microseconds for each batch


DIMENSIONS = (
    Dimension("emitters", "emitter", {"1k": 1_000, "3k": 3_000, "10k": 10_000},
              lambda count: (["--emitters", count, "--batches", 10], 10 * count), 8_192, 200),
    Dimension("processes", "process that has ended", {"10k": 10_000, "30k": 30_000, "100k": 100_000},
              lambda count: (["--emitters", count, "--batches", 1, "--end"], count), 1_024, 400),
    Dimension("types", "event type", {"100": 100, "1k": 1_000, "10k": 10_000},
              lambda count: (["--emitters", 8, "--batches", count // 8, "--types", count], count // 8 * 8), 16_384, 20_000),
)
CASES = [case for kind, name in BROKERS.items() for each in DIMENSIONS for size, count in each.sizes.items() for case in (
    Case(f"scale.{each.name}.{kind}.heap", f"heap of {JOBS.replace(',', ', ')} for each {each.one}, {count:,} of them on {name}", "B",
         at_most("value", each.heap_aim), size),
    Case(f"scale.{each.name}.{kind}.cpu", f"their processor time for a batch of {EVENTS} events, {count:,} {each.name} on {name}", "us",
         at_most("value", each.cpu_aim), size))]


def fewest(metrics):
    """Events that the job with the fewest has accepted. On Kafka one task does several jobs: summarise+ledger-3."""
    accepted = dict.fromkeys(JOBS.split(","), 0)
    for task, count in re.findall(r'^lifeline_events_total\{.*?task="([a-z+]+).*\} (\S+)$', metrics, re.MULTILINE):
        for job in task.split("+"):
            accepted[job] += float(count)
    return min(accepted.values())


def counted(health):
    with urllib.request.urlopen(f"{health}/metrics", timeout=30) as answer:
        return fewest(answer.read().decode())


def one_run(kind, options, batches, *setup):
    """Bytes on the heap before and after, seconds of the jobs' processors, and the share of the processors that others took."""
    events = batches * EVENTS
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder, broker(kind, *setup) as server, \
            stream_jobs(server.url, JOBS, f"{folder}/archive", "archive.roll.interval=10s") as health, Others(server.pid) as others:
        empty, before = live_heap(health.pid), cpu_seconds(health.pid)
        if empty is None:
            raise RuntimeError("jcmd is missing: install a JDK")
        run("java", "-cp", f"{LIB}/*", "io.lifeline.jobs.bench.scale.ScaleLoad", "--url", server.url, "--events", EVENTS, *options)
        wait_until(lambda: counted(health) >= events, f"{events:,} events in every job")
        used = cpu_seconds(health.pid) - before
        full = live_heap(health.pid)
    return empty, full, used, others.share


def measure(kind, dimension, count, chosen, quick):
    options, batches = dimension.load(count)
    runs = [one_run(kind, options, batches) for _ in range(1 if quick else RUNS)]
    empty, full, cpu, others = zip(*runs)
    heap = [after - before for before, after in zip(empty, full)]
    values = {"heap": [each / count for each in heap], "cpu": [each * 1e6 / batches for each in cpu]}
    return [Row(case, values[case.figure.rpartition(".")[2]], batches * EVENTS,
                {"heap_mb": [round(each / 1e6) for each in heap], "cpu_s": [round(each, 1) for each in cpu]}, max(others),
                machine.profile()["commit"]) for case in chosen]


def steps(chosen, quick):
    for kind in BROKERS:
        for dimension in DIMENSIONS:
            for size, most in dimension.sizes.items():
                count = most // 10 if quick else most
                cases = [case for case in chosen if case.size == size and case.figure.startswith(f"scale.{dimension.name}.{kind}.")]
                if cases:
                    yield f"{count:,} {dimension.name} on {kind}", partial(measure, kind, dimension, count, cases, quick)

"""What the partitions of a topic cost the jobs that read them, under the same load: memory and processor time.

The aims hold for each number of partitions: 256 MB is the heap that Java takes by default of a container with 1 GiB, and a batch
may take twice the time that it may at the default number of partitions (scale.emitters)."""

from functools import partial

from .. import machine
from ..figures.row import Case, Row
from ..limit import at_most
from .grows import EVENTS, JOBS, RUNS, one_run

PARTITIONS, EMITTERS, BATCHES = (1, 10, 100), 1_000, 100
FIGURES = {"heap": ("heap", "MB", 256), "cpu": (f"processor time for a batch of {EVENTS} events", "us", 400)}
CASES = [Case(f"scale.partitions.kafka.{figure}", f"{what} of a process with {JOBS.replace(',', ', ')}; partitions on Kafka: {count}",
              unit, at_most("value", aim), str(count)) for count in PARTITIONS for figure, (what, unit, aim) in FIGURES.items()]


def measure(count, chosen, quick):
    each = BATCHES // 10 if quick else BATCHES
    batches = EMITTERS * each
    load = ["--emitters", EMITTERS, "--batches", each]
    runs = [one_run("kafka", load, batches, "--partitions", count) for _ in range(1 if quick else RUNS)]
    empty, full, cpu, others = zip(*runs)
    values = {"heap": [each / 1e6 for each in full], "cpu": [each * 1e6 / batches for each in cpu]}
    return [Row(case, values[case.figure.rpartition(".")[2]], batches * EVENTS,
                {"empty_heap_mb": [round(each / 1e6) for each in empty], "cpu_s": [round(each, 1) for each in cpu]}, max(others),
                machine.profile()["commit"]) for case in chosen]


def steps(chosen, quick):
    for count in PARTITIONS:
        cases = [case for case in chosen if case.size == str(count)]
        if cases:
            yield f"{count} partitions on Kafka", partial(measure, count, cases, quick)

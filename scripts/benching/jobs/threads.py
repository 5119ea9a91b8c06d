"""The archive of one process on Kafka, by one thread and by two."""

import tempfile
from statistics import median

from ..limit import at_least
from ..processes import broker
from .java import measured
from .row import Case, Row

PARTITIONS, TOPIC, EVENTS, ROUNDS = 4, "bench.archive", 24_000_000, 7
THREADS = {"archive.kafka.1thread": 1, "archive.kafka": 2}
TIMED = "from a quarter of the backlog to 95 % of it, by the events that are taken in; the rest is stored as well before the round ends"
# Two threads leave nobody waiting while one stores; DuckDB already encodes the files of one thread on both processors.
CASES = [
    Case("archive.kafka", f"batches on Kafka, {PARTITIONS} partitions, into Parquet files by the job archive with 2 threads, "
         "the broker on the same 2 cores", limits=(at_least("ratio", 1.2),), timed=TIMED),
    Case("archive.kafka.1thread", "the same with 1 thread", timed=TIMED),
]


def measure(names, quick):
    if not names & set(THREADS):
        return []
    found = {}
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder, broker("kafka") as server:
        for name, threads in THREADS.items():
            found |= measured("io.lifeline.jobs.bench.streams.ArchiveThreadsBench", "--name", name, "--threads", threads,
                              "--topic", TOPIC, "--partitions", PARTITIONS, "--broker", server.url.removeprefix("kafka://"),
                              "--broker-pid", server.pid, "--dir", folder, "--events", EVENTS // (10 if quick else 1),
                              "--rounds", 1 if quick else ROUNDS, *(["--filled"] if found else []), options=("-Xmx2g",))
    return [row(case, found) for case in CASES if case.name in names]


def row(case, found):
    mine, one = found[case.name], "archive.kafka.1thread"
    baselines = {} if case.name == one else {one: found[one]["per_s"]}
    return Row(case, mine["per_s"], baselines, details={"events": mine["events"], "per_core_s_median": round(median(mine["per_core_s"]))},
               set_up_share=mine["set_up_share"])

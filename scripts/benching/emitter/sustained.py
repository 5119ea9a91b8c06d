"""A hundred million events without a pause and without loss, until the last is acknowledged; then all are read back."""

import json
import os
import tempfile
from contextlib import contextmanager

from ..limit import at_most
from ..processes import BIN, broker, run
from .programs import environment, measure, measured_quietly
from .row import Case, Row, merged

EVENTS, EVENTS_QUICK = 100_000_000, 4_000_000

CASES = [
    Case("emit.sustained.null.1t", "100 M events into null:, policy block"),
    Case("emit.sustained.null.2t", "the same from 2 threads, 50 M each"),
    Case("emit.sustained.file.1t", "100 M events into a file on tmpfs, read back whole", limit=at_most("ratio", 1.2)),
    Case("emit.sustained.file.2t", "the same from 2 threads, 50 M each", limit=at_most("ratio", 1.8)),
    Case("emit.sustained.nats.1t", "100 M events into JetStream, acknowledged and read back", limit=at_most("ratio", 1.15)),
    Case("emit.sustained.nats.1t.raw", "the same without compression", limit=at_most("ratio", 2.0)),
    Case("emit.sustained.nats.2t", "with compression, from 2 threads, 50 M each", limit=at_most("ratio", 1.8)),
    Case("emit.sustained.kafka.1t", "100 M events into Kafka, acknowledged and read back", limit=at_most("ratio", 1.8)),
]

# CPU time that comes out of the runs above.
CPU_CASES = {
    "emit.sustained.null.1t": Case("cpu.harvester.null", "the harvester thread's CPU time per event, into null:",
                                   limit=at_most("value", 2.5)),
    "emit.sustained.nats.1t": Case("cpu.harvester.nats", "the harvester thread's CPU time per event, into JetStream",
                                   limit=at_most("value", 6)),
}
SERVER_CASES = {
    "emit.sustained.nats.1t": Case("cpu.server.nats", "the server's CPU time per event"),
    "emit.sustained.nats.1t.raw": Case("cpu.server.nats.raw", "the server's CPU time per event, without compression"),
    "emit.sustained.kafka.1t": Case("cpu.server.kafka", "the server's CPU time per event"),
}
REPETITIONS = {"null": 5, "file": 5, "nats": 3, "kafka": 3}


@contextmanager
def destination(kind):
    """The URL of a sink, and the processes behind it."""
    if kind == "null":
        yield "null:", []
    elif kind == "file":
        with tempfile.TemporaryDirectory(prefix="lifeline-bench.", dir="/dev/shm") as folder:
            yield f"file://{folder}/batches.llb", []
    else:
        with broker(kind) as server:
            yield server.url, ["--kin", server.pid]


def check(back, case, events, threads):
    """Every event once: their number, the sum of their serials, each batch once, and nothing that was counted as lost."""
    each = events // threads
    expected = {"events": events, "sum": threads * each * (each - 1) // 2, "emitted": events, "dropped": 0,
                "each_batch_once": True, "final": True}
    wrong = {key: back[key] for key, value in expected.items() if back[key] != value}
    if wrong:
        raise RuntimeError(f"{case.name}: read back {wrong} instead of {({key: expected[key] for key in wrong})}")


def once(case, kind, url, kin, events, threads, settings):
    """One run; reads the arrived events back and counts them."""
    program = f"bench-{os.urandom(4).hex()}"
    row = measure(case, "bench-sustained", "--url", url, "--events", events // threads, "--threads", threads, *kin,
                  settings={"PROGRAM": program, **settings})
    if kind != "null":
        back = json.loads(run(BIN / "bench-readback", "--url", url, "--program", program, environment=environment()))
        check(back, case, events, threads)
        row.details |= {"read_back": back["events"], "bytes_per_event": round(back["bytes"] / events, 2),
                        "batches": back["batches"]}
    if kind == "file":
        os.remove(url.removeprefix("file://"))
    return row


def rows(case, quick):
    kind = case.name.split(".")[2]
    threads = 2 if ".2t" in case.name else 1
    settings = {"COMPRESSION": "none"} if case.name.endswith(".raw") else {}
    events = EVENTS_QUICK if quick else EVENTS
    with destination(kind) as (url, kin):
        if kind == "kafka":  # a broker that has just started answers slowly
            once(case, kind, url, kin, EVENTS_QUICK, threads, settings)
        single = measured_quietly(case, 1 if quick else REPETITIONS[kind],
                                  lambda: once(case, kind, url, kin, events, threads, settings))
    found = [merged(case, single)]
    for cases, figure in ((CPU_CASES, "harvester_cpu_ns"), (SERVER_CASES, "server_cpu_ns")):
        if case.name in cases:
            found.append(Row(cases[case.name], [row.details[figure] for row in single], noise=found[0].noise))
    return found

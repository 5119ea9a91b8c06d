"""Summaries from a backlog on JetStream, beside a consumer that does nothing with the messages, and how soon the job works
again after its process has ended."""

import time

from ..brokers import summarised
from ..limit import at_least, at_most
from ..processes import broker, emit, stream_jobs, wait_until
from .java import measured
from .row import Case, Row

EVENTS = 40_000_000
TIMED = "from a quarter of the backlog to 95 % of it, by the events merged into windows, or by the messages that the bare consumer read"
CASES = [
    Case("jetstream.summarise", "batches on JetStream: the job summarise with its checkpoints, the broker on the same 2 cores",
         limits=(at_least("per_s", 10e6), at_most("restart_to_first_message_s", 1)), timed=TIMED),
    Case("jetstream.bare", "the same messages, read by a consumer that only counts them", timed=TIMED),
]


def bench(server, kind, quick, *more):
    return measured("io.lifeline.jobs.bench.jetstream.JetStreamBench", "--kind", kind, "--url", server.url, "--broker-pid",
                    server.pid, "--events", EVENTS // (10 if quick else 1), "--rounds", 1 if quick else 11, *more,
                    options=("-Xmx2g",))


def restart(server):
    """Seconds from the start of the process to its first batch, with a checkpoint from before."""
    with stream_jobs(server.url, "summarise") as health:
        wait_until(lambda: summarised(health) > 0, "the first batches")
    emit(server.url, 1000)
    started = time.monotonic()
    with stream_jobs(server.url, "summarise") as health:
        wait_until(lambda: summarised(health) > 0, "the first batch after the restart")
        return time.monotonic() - started


def measure(_names, quick):
    with broker("nats") as server:
        found = bench(server, "BARE", quick) | bench(server, "SUMMARISE", quick, "--filled")
        restarts = sorted(restart(server) for _ in range(1 if quick else 3))
    ours, bare = found["jetstream.summarise"], found["jetstream.bare"]
    details = {"events": ours["events"], "restart_to_first_message_s": round(restarts[len(restarts) // 2], 3)}
    return [Row(CASES[0], ours["per_s"], {"jetstream.bare": bare["per_s"]}, details=details, set_up_share=ours["set_up_share"]),
            Row(CASES[1], bare["per_s"], details={"events": bare["events"]}, set_up_share=bare["set_up_share"])]

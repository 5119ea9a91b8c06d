"""A sink beside the client library alone, and beside a bare writev, with the same messages, taking turns: bytes per second, and
the sender's processor time."""

import json
from statistics import median

from ..limit import at_least
from ..processes import BIN, broker, run
from .programs import environment
from .row import Case, Row

CASES = [
    Case(f"sink.{kind}.share", f"bytes per second through the {kind} sink, of those of its client library alone",
         unit="share", limit=at_least("value", 0.85))
    for kind in ("nats", "kafka")
]
# What the same runs say about processor time, and the command that is the floor.
CPU_CASES = {
    "nats": ("writev", Case("sink.nats.cpu", "processor time of a bare writev of the same bytes, of that of the nats sink",
                            unit="share", limit=at_least("value", 0.9))),
    "kafka": ("alone", Case("sink.kafka.cpu", "processor time of librdkafka alone, of that of the kafka sink", unit="share",
                            limit=at_least("value", 0.9))),
}
MESSAGES, BYTES = 2000, 256 << 10
TOPIC = {"nats": "lifeline.batches.0", "kafka": "lifeline.batches"}


def commands(kind, url, messages):
    amount = ("--messages", messages, "--bytes", BYTES)
    found = {"sink": (BIN / "bench-sink", "--url", url, *amount),
             "alone": (BIN / "raw-publisher", kind, url.removeprefix("kafka://"), TOPIC[kind], messages, BYTES)}
    if kind == "nats":
        found["writev"] = (BIN / "bench-writev", "--url", url, "--subject", TOPIC[kind], *amount)
    return found


def figures(command):
    return json.loads(run(*command, environment=environment()))


def turn(number, contenders):
    """One run of each. Who comes first changes, since what was written before is still on its way to the disk."""
    names = list(contenders)
    first = number % len(names)
    return {name: figures(contenders[name]) for name in names[first:] + names[:first]}


def rows(case, quick):
    kind = case.name.split(".")[1]
    messages, repetitions = (300, 2) if quick else (MESSAGES, 6)
    floor, cpu_case = CPU_CASES[kind]
    with broker(kind) as server:
        contenders = commands(kind, server.url, messages)
        figures(contenders["alone"])  # warms the server up
        turns = [turn(number, contenders) for number in range(repetitions)]

    def values(contender, figure):
        return [each[contender][figure] for each in turns]

    def shares(figure, of):
        return [one / sink for one, sink in zip(values(of, figure), values("sink", figure))]

    megabytes = messages * BYTES / 1e6
    details = {"bytes_per_message": BYTES, "sink_mb_per_s": round(megabytes / min(values("sink", "seconds"))),
               "alone_mb_per_s": round(megabytes / min(values("alone", "seconds")))}
    cpu_details = {f"{name}_cpu_us_per_message": round(1e6 * median(values(name, "cpu_seconds")) / messages, 1)
                   for name in contenders}
    return [Row(case, shares("seconds", "alone"), details=details),
            Row(cpu_case, shares("cpu_seconds", floor), details=cpu_details)]

"""Bytes per second through a sink, against the client library alone with the same messages, taking turns."""

import json

from ..limit import at_least
from ..processes import BIN, broker, run
from .programs import environment
from .row import Case, Row

CASES = [
    Case(f"sink.{kind}.share", f"bytes per second through the {kind} sink, of those of its client library alone",
         unit="share", limit=at_least("value", 0.85))
    for kind in ("nats", "kafka")
]
MESSAGES, BYTES = 2000, 256 << 10
TOPIC = {"nats": "lifeline.batches.0", "kafka": "lifeline.batches"}


def seconds(*command):
    return json.loads(run(*command, environment=environment()))["seconds"]


def pair(bare_command, sink_command, sink_first):
    """Seconds of each. Who comes first changes, since what was written before is still on its way to the disk."""
    if sink_first:
        sink = seconds(*sink_command)
        return seconds(*bare_command), sink
    return seconds(*bare_command), seconds(*sink_command)


def rows(case, quick):
    kind = case.name.split(".")[1]
    messages, repetitions = (300, 2) if quick else (MESSAGES, 6)
    with broker(kind) as server:
        address = server.url.removeprefix("kafka://")
        bare_command = (BIN / "raw-publisher", kind, address, TOPIC[kind], messages, BYTES)
        sink_command = (BIN / "bench-sink", "--url", server.url, "--messages", messages, "--bytes", BYTES)
        seconds(*bare_command)  # warms the server up
        pairs = [pair(bare_command, sink_command, turn % 2 == 1) for turn in range(repetitions)]
    megabytes = messages * BYTES / 1e6
    details = {"bytes_per_message": BYTES, "sink_mb_per_s": round(megabytes / min(sink for _, sink in pairs)),
               "alone_mb_per_s": round(megabytes / min(bare for bare, _ in pairs))}
    return [Row(case, [bare / sink for bare, sink in pairs], details=details)]

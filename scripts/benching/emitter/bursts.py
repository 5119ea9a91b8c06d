"""Cost of one event in the program itself, without a sink."""

from ..limit import at_most
from .programs import measure
from .row import Case

CASES = [
    Case("emit.burst.1t", "Table 1 event, bursts of 50,000 into null:, harvester beside", limit=at_most("ratio", 1.10)),
    Case("emit.burst.2t", "the same from 2 threads at once", limit=at_most("ratio", 1.2)),
    Case("emit.stream.1t", "2,000,000 without a pause, nobody waits: what is not harvested in time is lost"),
    Case("emit.stream.2t", "the same from 2 threads on 2 cores, harvester between them"),
    Case("emit.string16", "with a string of 16 bytes, its length not known", limit=at_most("ratio", 1.45)),
    Case("thread.first_event", "first event of a new thread, 8 at once, rings pooled", limit=at_most("value", 20_000)),
    Case("emit.cold64k", "one event at a time, 64 KiB of cache used by others between two", limit=at_most("ratio", 2)),
]

ARGUMENTS = {
    "emit.burst.1t": ("bench-emit", "--events", 50_000, "--bursts", 200, "--repetitions", 25),
    "emit.burst.2t": ("bench-emit", "--threads", 2, "--events", 50_000, "--bursts", 200, "--repetitions", 25),
    "emit.stream.1t": ("bench-emit", "--events", 2_000_000, "--bursts", 4, "--repetitions", 15),
    "emit.stream.2t": ("bench-emit", "--threads", 2, "--events", 2_000_000, "--bursts", 4, "--repetitions", 15),
    "emit.string16": ("bench-emit", "--case", "string16", "--events", 20_000, "--bursts", 400, "--repetitions", 15),
    "thread.first_event": ("bench-first-event", "--repetitions", 300),
    "emit.cold64k": ("bench-cold", "--repetitions", 31),
}


def rows(case, quick):
    program, *arguments = ARGUMENTS[case.name]
    if quick:
        arguments[-1] = max(3, arguments[-1] // 8)
    return [measure(case, program, *arguments)]

#!/usr/bin/env python3
"""Usage: many_events.py nats://HOST:PORT [ahead]

Publishes the events of 5,000 emitters with 10,000 event types, the clock of one emitter an hour ahead, and alerts. Prints the number
of events. With `ahead` that emitter sends one more batch, without events: clocks are known for two minutes. Standard library only:
batches are encoded by lifeline-encode.
"""

import json
import sys
import time

from hostile_events import batch, encode, publish

EMITTERS = 5_000
OBJECTS = 5
HOUR_NS = 3_600_000_000_000
MS = 1_000_000
AHEAD = 4_321


def event_type(number, name):
    return {"number": number, "level": "info", "name": name, "constants": [], "fields": [{"type": "string", "name": "id", "unit": ""}]}


def batches():
    """Each emitter has two types of its own, which its objects pass one after the other; later ones take longer."""
    start = time.time_ns() - 10_000 * MS
    for e in range(EMITTERS):
        types = [event_type(1, f"stage{e:04}.work.start"), event_type(2, f"stage{e:04}.work.end")]
        events = []
        for o in range(OBJECTS):
            begin = (e // 10 + o * 100) * MS
            events += [(1, begin, [f"object {e} {o}"]), (2, begin + (e + 1) * 10_000, [f"object {e} {o}"])]
        yield batch(e + 1, f"worker{e % 100}", f"node{e:04}", types, events, start + (HOUR_NS if e == AHEAD else 0))


def alerts():
    at = time.time_ns()
    for subject, state, reason in [("net.send", "on", "slowest"), ("disk.write", "off", "replaced"), ("<script>alert(1)</script>\u202e", "on", "<b>x</b>")]:
        alert = {
            "alert": "bottleneck", "state": state, "group": "transfer 7", "subject": subject, "reason": reason,
            "since": "2026-10-01T10:00:00Z", "since_ns": at, "at": "2026-10-01T10:00:05Z", "at_ns": at, "chance": 0.0012, "changed": None, "alike": [],
            "components": [{"component": subject, "samples": 40, "bytes_per_second": 2_500_000.0, "busy": 0.97},
                           {"component": "disk.read", "samples": 40, "bytes_per_second": 81_000_000.0, "busy": 0.12}],
        }
        yield f"bottleneck:{subject.encode().hex()}", json.dumps(alert).encode()


def ahead():
    yield batch(AHEAD + 1, f"worker{AHEAD % 100}", f"node{AHEAD:04}", [], [], time.time_ns() + HOUR_NS) | {"sequence": "2"}


if __name__ == "__main__":
    if sys.argv[2:] == ["ahead"]:
        publish(sys.argv[1], [("lifeline.batches.0", None, each) for each in encode(ahead())])
        sys.exit()
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    publish(sys.argv[1], [("lifeline.batches.0", None, each) for each in encode(batches())])
    publish(sys.argv[1], [("lifeline.alerts", key, each) for key, each in alerts()])
    print(EMITTERS * OBJECTS * 2)

"""Batches for the tests of tools: written as JSON (schemas/FORMAT.md, section 13) and encoded by lifeline-encode."""

import json
import os
import subprocess
from pathlib import Path

BIN = Path(os.environ.get("LIFELINE_BIN", Path(__file__).resolve().parents[3] / "build/emitter/bin"))
VECTORS = Path(__file__).resolve().parents[3] / "schemas/vectors"
EPOCH_NS = 1_795_260_000_000_000_000  # 2026-11-21T11:20:00Z
COUNTERS = ["emitted", "ring_full", "no_ring", "reentrant", "oversize", "shutdown", "spool_full", "sink"]


def field(kind, name, unit=""):
    return {"type": kind, "name": name, "unit": unit}


def event_type(number, name, fields, level="info", constants=()):
    return {"number": number, "level": level, "name": name, "fields": [field(*f) for f in fields],
            "constants": [dict(field(*c[:3]), value=c[3]) for c in constants]}


NUMBERED = event_type(1, "test.number", [("u32", "value")])


def batch(sequence, events, types=(NUMBERED,), emitted=None, incarnation="ab" * 16, final=False, host="h.example",
          program="prog", route=0, threads=((7, None),), dropped=None, pid=99):
    """`events` are (type number, nanoseconds since EPOCH_NS, values...); one tick is one nanosecond. `threads` are
    (thread, number of events) in stored order."""
    counters = [0] * 12
    for name, count in (dropped or {}).items():
        counters[COUNTERS.index(name)] = count
    counters[0] = len(events) if emitted is None else emitted
    calibrations = [{"tick": "0", "monotonic_ns": "0", "realtime_offset_ns": str(EPOCH_NS), "error_ns": 1, "step": False},
                    {"tick": str(10**12), "monotonic_ns": str(10**12), "realtime_offset_ns": str(EPOCH_NS),
                     "error_ns": 1, "step": False}]
    return {"version": 1, "byte_order": "little", "compression": "none", "shuffle": 0,
            "flags": ["FINAL"] if final else [], "incarnation": incarnation, "sequence": str(sequence),
            "base_tick": "0", "tick_hz": str(10**9), "clock": "monotonic", "pid": pid, "route": route,
            "route_name": "default" if route == 0 else f"route-{route}", "host": host, "program": program,
            "counters": [str(c) for c in counters], "calibrations": calibrations,
            "segments": [{"thread": str(t), "events": len(events) if n is None else n} for t, n in threads],
            "context": [], "types": list(types),
            "events": [{"type": number, "tick": str(ns), "fields": list(values)} for number, ns, *values in events]}


def encode(*batches):
    """The batches' bytes, one behind the other."""
    encoded = b""
    for one in batches:
        encoded += subprocess.run([BIN / "lifeline-encode"], input=json.dumps(one).encode(), stdout=subprocess.PIPE,
                                  check=True).stdout
    return encoded


def run_of(sequences, size=3, start_ns=0, gap_ns=1000, **more):
    """Whole batches with these sequences, `size` numbered events each, whose counters say that there is one batch for
    every sequence from 1."""
    last = max(sequences)
    return [batch(s, [(1, start_ns + ((s - 1) * size + i) * gap_ns, (s - 1) * size + i) for i in range(size)],
                  emitted=s * size, final=s == last, **more) for s in sequences]

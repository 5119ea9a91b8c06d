"""Nanoseconds per ll_emit of the paper's event, beside a clock read and a store of its bytes."""

import json

from .measurement import Measurement
from .processes import BIN, run


def measure(quick, _earlier):
    options = ["--events", 200_000, "--repetitions", 3] if quick else []
    lines = run(BIN / "lifeline-emit-bench", "--json", *options).splitlines()
    rows = {row["name"]: row for row in map(json.loads, lines)}
    measurements = []
    for name, row in rows.items():
        kind, threads = name.split("/")
        if kind != "emit":
            continue
        over = row["ns_median"] - row["floor_ns"]
        measurements.append(Measurement(
            f"emit-{threads}", f"emit, {threads} thread{'s' if threads != '1' else ''}", row["ns_median"], "ns", row["floor_ns"],
            "rdtsc and a store of 16 bytes into a thread's ring of 64 KiB", "1.3 x floor",
            f"{min(1, row['floor_ns'] / row['ns_median']):.0%} is reading the clock and storing the bytes, the remaining "
            f"{max(0, over):.1f} ns are the flag, the ring's bounds and its head; {row['lost']} events found their ring full, "
            f"since nothing here ever waits.", row))
    return measurements

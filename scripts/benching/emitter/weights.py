"""Bytes per event on the wire, everything included, in batches of 64 KiB."""

import os
import tempfile

from ..brokers import batch_sizes
from ..limit import at_most
from ..processes import BIN, run
from .programs import environment
from .row import Case, Row

CASES = [
    Case("bytes.raw", "wire bytes per Table 1 event, no compression", unit="B", limit=at_most("value", 16.5), exact=True),
    Case("bytes.compressed.random", "eight types in turn, random values", unit="B", limit=at_most("value", 9), exact=True),
    Case("bytes.compressed.counter", "one type, counting", unit="B", limit=at_most("value", 1.5), exact=True),
]
HOW = {"bytes.raw": ("counter", "none"), "bytes.compressed.random": ("random", "auto"),
       "bytes.compressed.counter": ("counter", "auto")}


def rows(case, quick):
    values, compression = HOW[case.name]
    events = 200_000 if quick else 2_000_000
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder:
        path = f"{folder}/batches.llb"
        run(BIN / "bench-bytes", "--url", f"file://{path}", "--values", values, "--events", events,
            environment=environment(COMPRESSION=compression))
        sizes, total = batch_sizes(path), os.path.getsize(path)
    return [Row(case, [total / events], details={"batches": len(sizes), "events": events})]

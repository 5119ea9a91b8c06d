"""Measures the rows one after the other, saves them, and prints the table."""

import argparse
import json
import shlex
import signal
import sys
import time
from dataclasses import asdict

from .. import machine
from ..machine import ROOT
from . import bursts, off, rivals, shares, summaries, sustained, triggers, weights
from .elsewhere import ELSEWHERE, FLOOR_NS, MACHINE
from .table import bound, elsewhere, table

PARTS = [bursts, off, summaries, sustained, shares, weights, triggers, rivals]


def document(rows, command, quick, seconds):
    return {"command": command, "quick": quick, "seconds": round(seconds), "machine": machine.profile(),
            "floor_is": "read the CPU's counter and store 16 bytes into a thread's ring of 64 KiB, in the same run",
            "rows": [row.document() for row in rows],
            "elsewhere": {"machine": MACHINE, "floor_ns": FLOOR_NS, "rows": [asdict(row) for row in ELSEWHERE]}}


def updated(path, new):
    """The document at the path, with the new one's rows in the places of the old ones."""
    old = json.loads(path.read_text(encoding="utf-8"))
    fresh = {row["name"]: row for row in new["rows"]}
    rows = [fresh.pop(row["name"], row) for row in old["rows"]]
    return old | {"rows": rows + list(fresh.values())}


def chosen_cases(words):
    cases = [(part, case) for part in PARTS for case in part.CASES]
    return [(part, case) for part, case in cases if not words or any(word in case.name for word in words)]


def measure_all(cases, quick):
    rows, failed = [], []
    for number, (part, case) in enumerate(cases, 1):
        print(f"[{number}/{len(cases)}] {case.name}: {case.what} ...", file=sys.stderr, flush=True)
        try:
            found = part.rows(case, quick)
        except RuntimeError as error:
            failed.append(f"{case.name}: {error}")
            print(f"    FAILED: {error}", file=sys.stderr)
            continue
        rows += found
        disturbed = found[0].noise.get("disturbed", 0)
        if disturbed:
            print(f"    others disturbed {disturbed} repetitions", file=sys.stderr)
    return rows, failed


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench-emitter")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    cases = chosen_cases(arguments.only)
    if not cases:
        parser.error("no row has such a name (--list prints them all)")
    if arguments.update and (arguments.quick or not arguments.only):
        parser.error("--update goes with --only, and not with --quick")
    if arguments.list:
        for _, case in cases:
            print(f"{case.name:28} {bound(case.limit):8} {case.what}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that brokers are stopped then, too
    started = time.monotonic()
    rows, failed = measure_all(cases, arguments.quick)
    if not rows:
        return 1
    part = arguments.quick or (arguments.only and not arguments.update)
    path = ROOT / ("build/bench" if part else "results/bench") / "emitter.json"
    command = shlex.join(["scripts/bench-emitter", *sys.argv[1:]])
    measured = document(rows, command, arguments.quick, time.monotonic() - started)
    if arguments.update:
        measured = updated(path, measured)
    text = json.dumps(measured, indent=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")
    print(text if arguments.json else table(rows))
    if any(row.case.rival for row in rows) and not arguments.json:
        print(f"\n{elsewhere()}")
    missed = sum(bool(row.missed_by) for row in rows)
    print(f"bench-emitter: rows={len(rows)} missed={missed} failed={len(failed)} written to {path.relative_to(ROOT)}",
          file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

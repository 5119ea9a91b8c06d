"""Measures the rows of the emitter, one after the other."""

import sys
from dataclasses import asdict

from ..suite import Suite
from . import bursts, off, rivals, shares, starts, summaries, sustained, triggers, weights
from .elsewhere import ELSEWHERE, FLOOR_NS, MACHINE
from .table import bound, elsewhere, table

PARTS = [bursts, off, summaries, sustained, shares, weights, triggers, starts, rivals]
NOTES = {"floor_is": "read the CPU's counter and store 16 bytes into a thread's ring of 64 KiB, in the same run",
         "elsewhere": {"machine": MACHINE, "floor_ns": FLOOR_NS, "rows": [asdict(row) for row in ELSEWHERE]}}


def steps(cases, quick):
    return [(f"{case.name}: {case.what}", lambda part=part, case=case: measure(part, case, quick))
            for part in PARTS for case in part.CASES if case in cases]


def measure(part, case, quick):
    rows = part.rows(case, quick)
    disturbed = rows[0].noise.get("disturbed", 0)
    if disturbed:
        print(f"    others disturbed {disturbed} repetitions", file=sys.stderr)
    return rows


def tables(rows):
    """With what was measured elsewhere, when there are rivals to compare it with."""
    return "\n\n".join([table(rows)] + [elsewhere()] * any(row.case.rival for row in rows))


if __name__ == "__main__":
    Suite("emitter", [case for part in PARTS for case in part.CASES], lambda case: bound(case.limit), steps, tables, NOTES).main()

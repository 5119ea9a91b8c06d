"""Events of which only summaries travel, and calipers, of which nothing else ever does."""

from ..limit import at_most
from .programs import measure
from .row import Case

CASES = [
    Case("emit.summary", "resolution summary of one field", limit=at_most("ratio", 0.6)),
    Case("emit.summary.timed", "the same with the time from value to value", limit=at_most("ratio", 1.6)),
    Case("caliper", "begin and end: three summaries and the open mark, beside two clock reads and the arithmetic",
         limit=at_most("ratio", 1.05)),
]
RESOLUTIONS = {"emit.summary": "bench.table1 summary of=value", "emit.summary.timed": "bench.table1 summary of=value timed"}


def rows(case, quick):
    if case.name == "caliper":
        return [measure(case, "bench-caliper", "--repetitions", 3 if quick else 25)]
    row = measure(case, "bench-emit", "--events", 50_000, "--bursts", 200, "--repetitions", 3 if quick else 15,
                  settings={"RESOLUTION": RESOLUTIONS[case.name]})
    if row.details["folded"] < 1000 * row.details["emitted"]:
        raise RuntimeError(f"{case.name}: events were not folded: {row.details}")
    return [row]

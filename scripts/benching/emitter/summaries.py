"""Events of which only summaries travel, and calipers, of which nothing else ever does."""

from statistics import mean, quantiles

from .. import machine
from ..limit import at_most
from .programs import measure
from .row import Case, Row

CASES = [
    Case("emit.summary", "resolution summary of one field", limit=at_most("ratio", 0.6)),
    Case("emit.summary.timed", "the same with the time from value to value", limit=at_most("ratio", 1.6)),
    Case("caliper", "begin and end: three summaries and the open mark, beside two clock reads and the arithmetic",
         limit=at_most("ratio", 1.05)),
    Case("caliper.array", "what calipers add to an iteration that calculates over an array, reported each second"),
]
ARRAY, ITERATIONS = 64, 10_000_000  # numbers; a second's
MINUTE_S = 60  # a repetition each second, as in the paper
RESOLUTIONS = {"emit.summary": "bench.table1 summary of=value", "emit.summary.timed": "bench.table1 summary of=value timed"}


def trimmed_mean(values, share=0.1):
    """Without that share of the values at both ends."""
    cut = int(len(values) * share)
    return mean(sorted(values)[cut:len(values) - cut])


def over_array(case, quick):
    """The same loop with and without calipers, in turns: the difference is theirs, also within what they measure."""
    found = measure(case, "bench-caliper", "--array", ARRAY, "--operations", ITERATIONS, "--repetitions", 5 if quick else MINUTE_S,
                    settings={"RESOLUTION": "bench.work summary interval=1s"})
    added = [with_it - without for with_it, without in zip(found.values, found.floors)]
    quarters = quantiles(added, n=4)
    details = {"array": ARRAY, "with_ns": round(found.median, 3), "without_ns": round(found.floor, 3),
               "trimmed_mean_ns": round(trimmed_mean(added), 3), "least_ns": round(min(added), 3), "greatest_ns": round(max(added), 3),
               "lower_quartile_ns": round(quarters[0], 3), "upper_quartile_ns": round(quarters[2], 3), "machine": machine.profile()}
    return Row(case, added, lost=found.lost, noise=found.noise, details=details)


def rows(case, quick):
    if case.name == "caliper.array":
        return [over_array(case, quick)]
    if case.name == "caliper":
        return [measure(case, "bench-caliper", "--repetitions", 3 if quick else 25)]
    row = measure(case, "bench-emit", "--events", 50_000, "--bursts", 200, "--repetitions", 3 if quick else 15,
                  settings={"RESOLUTION": RESOLUTIONS[case.name]})
    if row.details["folded"] < 1000 * row.details["emitted"]:
        raise RuntimeError(f"{case.name}: events were not folded: {row.details}")
    return [row]

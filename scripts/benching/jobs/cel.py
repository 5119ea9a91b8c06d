"""What a condition in CEL costs per event of a decoded batch, compiled into loops over columns."""

from ..limit import at_least, at_most
from .java import measured
from .row import Case, Row

MEASURED = "mixed"  # of the benchmark's conditions, the one with something of everything
CASES = [
    Case("cel.compiled", "a condition on a type's name, a string, an integer's values and a bound, over decoded columns",
         limits=(at_most("ns_per_event", 5), at_least("ratio", 1 / 1.2)), any_suffices=True,
         timed="the thread's processor time for whole passes over decoded batches: which of their events are chosen"),
]


def measure(names, quick):
    found = measured("io.lifeline.jobs.bench.FilterBench", *(["--rounds", 3, "--million", 2] if quick else []))
    rates = {name: row["per_s"] for name, row in found.items()}
    ns = {name: round(1e9 / sorted(values)[len(values) // 2], 2) for name, values in rates.items()}
    return [Row(CASES[0], rates[f"{MEASURED}.compiled"],
                {"hand-written": rates[f"{MEASURED}.by_hand"], "cel": rates[f"{MEASURED}.cel"]},
                set_up_share=found[f"{MEASURED}.compiled"]["set_up_share"],
                details={"ns_per_event": ns[f"{MEASURED}.compiled"], "ns_per_event_by_condition": ns})]

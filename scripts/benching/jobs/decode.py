"""Events per second and core that the Java codec reads: every batch checked anew with its CRC, every field and the
converted time of every event consumed."""

import json

from ..decode import CODEC
from ..limit import at_least
from ..processes import run
from .java import measured
from .row import Case, Row

FLOOR = "floor.sum-of-longs"
CASES = [
    Case("decode.java", "the Table 1 event (i32, f32), decoded into columns; its floor sums the same bytes as longs",
         limits=(at_least("per_s", 250e6),),
         timed="the thread's processor time for whole passes: all checks of a batch, its columns, the sums of all times and fields"),
    Case("decode.java.full", "half of the events with a string: decoded, filtered, summarised with quantiles",
         limits=(at_least("per_s", 50e6),),
         timed="the thread's processor time for whole passes: all checks of a batch, the columns needed, the condition, the summaries"),
]


def measure(names, quick):
    rows = []
    if "decode.java" in names:
        output = run("java", "-cp", CODEC, "io.lifeline.codec.cli.DecodeBench", *(["3", "2"] if quick else []))
        found = {row["name"]: row for row in map(json.loads, output.splitlines())}
        ours = found["table1-columns"]
        rows.append(Row(CASES[0], ours["per_s"], {FLOOR: found["floor-sum-of-longs"]["per_s"]},
                        details={name: row["per_s_median"] for name, row in found.items()}, set_up_share=ours["set_up_share"]))
    if "decode.java.full" in names:
        found = measured("io.lifeline.jobs.bench.FullDecodeBench", *(["--rounds", 3, "--million", 2] if quick else []))
        for row in found.values():
            rows.append(Row(CASES[1], row.pop("per_s"), set_up_share=row.pop("set_up_share"), details=row))
    return rows

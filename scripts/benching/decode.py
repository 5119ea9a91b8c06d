"""Events per second and core that the Java and Go codecs read: every batch checked anew, every field and the converted
time of every event consumed through the public API."""

import json
import re

from .measurement import ROOT, Measurement
from .processes import run

CODEC = ROOT / "schemas/java/target/lifeline-codec-cli.jar"


def java(quick):
    lines = run("java", "-cp", CODEC, "io.lifeline.codec.cli.DecodeBench", *(["3", "2"] if quick else [])).splitlines()
    rows = {row["name"]: row for row in map(json.loads, lines)}
    rate = {name: row["per_s_median"] / 1e6 for name, row in rows.items()}
    floor, columns, by_event = rate["floor-sum-of-longs"], rate["table1-columns"], rate["table1-by-event"]
    return Measurement(
        "decode-java", "decode in Java, columns", columns, "M events/s", floor, "the same bytes summed up as longs", "50",
        f"{1000 / columns:.1f} ns per event, of which reading the bytes once is {1000 / floor:.1f}: the checks of every record "
        f"and the conversion of its time are the rest. Event by event it is {by_event:.0f} M/s, compressed with lz4 "
        f"{rate['table1-lz4-shuffled-columns']:.0f}, with strings {rate['mixed-columns']:.0f}.", rows)


def go(quick):
    output = run("go", "-C", ROOT / "schemas/go", "test", "-run", "^$", "-bench", "^BenchmarkDecode$", "-count",
                 1 if quick else 7, ".")
    ns = {}
    for name, value in re.findall(r"^BenchmarkDecode/(\w+)\S*\s.*?([\d.]+) ns/event", output, re.MULTILINE):
        ns.setdefault(name, []).append(float(value))
    median = {name: sorted(values)[len(values) // 2] for name, values in ns.items()}
    if "Table1" not in median:
        raise RuntimeError(f"no figure in: {output[-500:]}")
    return Measurement(
        "decode-go", "decode in Go, by event", 1000 / median["Table1"], "M events/s", 0, "", "",
        f"{median['Table1']:.1f} ns per event of two numbers, {median.get('Mixed', 0):.1f} where strings are among them: "
        "checking each record's length, type and time, and a method call per value.", {"ns_per_event": ns})


def measure(quick, _earlier):
    return [java(quick), go(quick)]

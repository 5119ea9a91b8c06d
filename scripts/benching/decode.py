"""Events per second and core that the Java and Go codecs read: every batch checked anew, every field and the converted
time of every event consumed through the public API."""

import json

from .measurement import ROOT, Measurement
from .processes import run

CODEC = ROOT / "schemas/java/cli/target/lifeline-codec-cli.jar"


def rates(lines):
    rows = {row["name"]: row for row in map(json.loads, lines.splitlines())}
    return rows, {name: row["per_s_median"] / 1e6 for name, row in rows.items()}


def java(quick):
    rows, rate = rates(run("java", "-cp", CODEC, "io.lifeline.codec.cli.DecodeBench", *(["3", "2"] if quick else [])))
    return measurement(rows, rate, "decode-java", "decode in Java, columns", "table1-columns", [
        ("event by event", "table1-by-event"), ("lz4", "table1-lz4-shuffled-columns"),
        ("lz4 with differences of ticks", "table1-lz4-ticks-columns"), ("strings", "mixed-columns")])


def go(quick):
    options = ["--rounds", 3, "--seconds", 0.3] if quick else []
    rows, rate = rates(run(ROOT / "build/bin/lifeline-bench-decode-go", "--json", *options))
    return measurement(rows, rate, "decode-go", "decode in Go, by event", "table1-by-event", [
        ("big-endian", "table1-big-endian-by-event"), ("lz4", "table1-lz4-shuffled-by-event"),
        ("lz4 with differences of ticks", "table1-lz4-ticks-by-event"), ("strings", "mixed-by-event")])


def measurement(rows, rate, name, what, case, others):
    floor = rate["floor-sum-of-longs"]
    others = ", ".join(f"{title} {rate[other]:.0f}" for title, other in others)
    return Measurement(
        name, what, rate[case], "M events/s", floor, "the same bytes summed up as 64-bit words", "50",
        f"{1000 / rate[case]:.1f} ns per event, of which reading its bytes once is {1000 / floor:.1f}; the rest is checking "
        f"every record and converting every time. Other cases, in M/s: {others}.", rows)


def measure(quick, _earlier):
    return [java(quick), go(quick)]

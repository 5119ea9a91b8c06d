"""Measures memcached with two events per request, in rounds of every way to emit them."""

import sys

from ..emitter.row import Case
from ..limit import at_most
from ..processes import broker
from ..suite import Suite
from .build import program, version
from .measure import apart, measure
from .row import paired
from .table import bound, table
from .ways import WAYS

ROUNDS, REQUESTS, SLICES = 20, 400_000, 10
ROUNDS_QUICK, REQUESTS_QUICK, SLICES_QUICK = 3, 50_000, 2
WHAT = {
    "off": "Lifeline, linked and without a URL",
    "lifeline": "Lifeline, to NATS JetStream",
    "lttng": "LTTng-UST, per-user buffers of 4 x 1 MiB per CPU, to files on tmpfs",
    "otel": "OpenTelemetry C++, a span per request, by OTLP over HTTP",
}
LIMITS = {"lifeline.cpu": at_most("value", 200), "lifeline.cpu.share": at_most("value", 3)}
FIGURES = {"cpu": ("CPU time of the server added to a request", "ns"), "cpu.share": ("the same, of memcached's own", "%"),
           "rate": ("fewer requests per second", "%")}
CASES = [Case(f"{way}.{figure}", f"{what}: {title}", unit=unit, limit=LIMITS.get(f"{way}.{figure}"), rival=way in ("lttng", "otel"))
         for way, what in WHAT.items() for figure, (title, unit) in FIGURES.items()]
NOTES = {"not_measured": []}


def way_of(case):
    return case.name.partition(".")[0]


def built(ways):
    """Those whose copy of memcached is there; the others are reported."""
    if not program("plain").exists():
        raise RuntimeError("it is not built: run scripts/setup --bench, which fetches its source from Debian, and scripts/build memcached")
    found = [way for way in ways if program(WAYS[way][0]).exists()]
    for way in ways:
        if way not in found:
            NOTES["not_measured"].append(WHAT[way])
            print(f"    not measured: {WHAT[way]}: its library was not found by scripts/build rivals", file=sys.stderr)
    return found


def rounds(ways, count, requests, slices):
    """Way -> a measurement per round."""
    found = {way: [] for way in ways}
    processor = apart()
    with broker("nats") as server:
        for number in range(1, count + 1):
            print(f"    round {number} of {count} ...", file=sys.stderr, flush=True)
            for way, figures in measure(ways, server, requests, slices, processor).items():
                found[way].append(figures)
    return found


def rows(cases, quick):
    ways = built(list(dict.fromkeys(map(way_of, cases))))
    count, requests, slices = (ROUNDS_QUICK, REQUESTS_QUICK, SLICES_QUICK) if quick else (ROUNDS, REQUESTS, SLICES)
    found = rounds(["plain", *ways], count, requests, slices)
    NOTES.update(version=version(), rounds=count, requests=requests, slices=slices)
    return [paired(case, found[way_of(case)], found["plain"]) for case in cases if way_of(case) in ways]


def steps(cases, quick):
    return [("memcached with two events per request", lambda: rows(cases, quick))]


if __name__ == "__main__":
    Suite("memcached", CASES, lambda case: bound(case.limit), steps, table, NOTES).main()

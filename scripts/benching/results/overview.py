"""results/README.md: what there is, and the figures that have no page of their own."""

from . import bottleneck, calipers, fileserver, figures, memcached, transfers
from .machine import sentence


def limits_met(document):
    judged = [row for row in document["rows"] if "met" in row]
    return f"{sum(row['met'] for row in judged)} of {len(judged)} limits met"


def emitter_lines(emitter):
    if emitter is None:
        return []
    return [f"| [emitter.md](emitter.md) | what an event costs, row by row beside its floor, and others: "
            f"{limits_met(emitter.document)} |",
            "| [netlogger-table-1.md](netlogger-table-1.md) | NetLogger's Table 1: events per second, formats |",
            "| [netlogger-table-2.md](netlogger-table-2.md) | NetLogger's Table 2: threads |",
            "| [triggers.md](triggers.md) | NetLogger's section 5: watched trigger file, reparsing, filter |",
            *(["| [calipers.md](calipers.md) | what a caliper costs, per iteration and of the time of a block |"]
              if calipers.ROW in emitter else [])]


def jobs_lines(jobs):
    if jobs is None:
        return []
    return [f"| [jobs.md](jobs.md) | what the engines make of events, and others beside: {limits_met(jobs)} |"]


def console_lines(measured):
    if measured is None:
        return []
    return [f"| [console.md](console.md) | the operator's page and its service with millions of events: {figures.summary(measured)} |"]


def bottleneck_lines(validation):
    if validation is None:
        return []
    return [f"| [bottleneck.md](bottleneck.md) | which component holds a copy up: {bottleneck.summary(validation)} |"]


def matrix_lines(matrix):
    if not matrix:
        return []
    return [f"| [bottleneck/](bottleneck/README.md) | {transfers.summary(matrix)} |"]


def served_lines(served):
    if served is None:
        return []
    return [f"| [netlogger-table-3.md](netlogger-table-3.md) | NetLogger's Table 3, a file server under instrumentation: "
            f"{fileserver.of(served)} |"]


def memcached_lines(program):
    if program is None:
        return []
    return [f"| [memcached.md](memcached.md) | {memcached.summary(program)} |"]


# Written by make results-fleet, which has a form of its own.
FLEET = "| [fleet/](fleet/README.md) | the generator fleet: a study of publish/subscribe systems, repeated on today's brokers |"


def contents(emitter, jobs, validation, measured, matrix, served, program):
    lines = [*emitter_lines(emitter), *memcached_lines(program), *served_lines(served), *jobs_lines(jobs), *console_lines(measured),
             *bottleneck_lines(validation), *matrix_lines(matrix)]
    return ["| page | what |", "| --- | --- |", *lines, FLEET, ""] if lines else []


def line(m):
    floor = f"{m['floor']:,.2f} {m['unit']}" if m["floor"] else ""
    ratio = f"{m['ratio_to_floor']:.2f}" if m["floor"] else ""
    return f"| {m['what']} | {m['value']:,.2f} {m['unit']} | {floor} | {ratio} | {m['aim']} | {m['sentence']} |"


def page(bench, emitter, jobs=None, validation=None, measured=None, matrix=None, served=None, program=None):
    """`bench`: what scripts/bench measured, one document per figure."""
    lines = ["# Results", "", "Written by `make results` from `results/bench/*.json`, which `make bench-emitter`, `make bench-jobs`, "
             "`make bench-scale`, `make bench-console`, `make results-fileserver` and `make bench` measured. Each page names its command and its "
             "machine.", "", *contents(emitter, jobs, validation, measured, matrix, served, program)]
    if bench:
        taken = max(m["share_of_cpu_taken_by_others"] for m in bench)
        lines += ["## Decoding, archive and stream jobs", "",
                  "| what | measured | floor in the same run | ratio | aim | where the time goes |",
                  "| --- | ---: | ---: | ---: | --- | --- |", *map(line, bench), "", "Floors:", "",
                  *[f"- {m['what']}: {m['floor_is']}" for m in bench if m["floor"]], "",
                  f"Command: `{bench[0]['command']}`. Machine: {sentence(bench[0])}; others took up to {taken:.0%} of the "
                  "processors, the other processes of the same test included.", ""]
    return "\n".join(lines)

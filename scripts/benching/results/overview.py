"""results/README.md: what there is, and the figures that have no page of their own."""

from .machine import sentence


def emitter_lines(emitter):
    if emitter is None:
        return []
    judged = [row for row in emitter.document["rows"] if "met" in row]
    met = sum(row["met"] for row in judged)
    return ["| page | what |", "| --- | --- |",
            f"| [emitter.md](emitter.md) | what an event costs, row by row beside its floor, and others: {met} of {len(judged)} "
            "limits met |",
            "| [netlogger-table-1.md](netlogger-table-1.md) | NetLogger's Table 1: events per second, formats |",
            "| [netlogger-table-2.md](netlogger-table-2.md) | NetLogger's Table 2: threads |",
            "| [triggers.md](triggers.md) | NetLogger's section 5: watched trigger file, reparsing, filter |", ""]


def line(m):
    floor = f"{m['floor']:,.2f} {m['unit']}" if m["floor"] else ""
    ratio = f"{m['ratio_to_floor']:.2f}" if m["floor"] else ""
    return f"| {m['what']} | {m['value']:,.2f} {m['unit']} | {floor} | {ratio} | {m['aim']} | {m['sentence']} |"


def page(bench, emitter):
    """`bench`: what scripts/bench measured, one document per figure."""
    lines = ["# Results", "", "Written by `make results` from `results/bench/*.json`, which `make bench-emitter` and `make bench` "
             "measured. Each page names its command and its machine.", "", *emitter_lines(emitter)]
    if bench:
        taken = max(m["share_of_cpu_taken_by_others"] for m in bench)
        lines += ["## Decoding, archive and stream jobs", "",
                  "| what | measured | floor in the same run | ratio | aim | where the time goes |",
                  "| --- | ---: | ---: | ---: | --- | --- |", *map(line, bench), "", "Floors:", "",
                  *[f"- {m['what']}: {m['floor_is']}" for m in bench if m["floor"]], "",
                  f"Command: `{bench[0]['command']}`. Machine: {sentence(bench[0])}; others took up to {taken:.0%} of the "
                  "processors, the other processes of the same test included.", ""]
    return "\n".join(lines)

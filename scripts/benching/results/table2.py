"""NetLogger, Table 2: threads."""

from .chart import Bar, chart
from .paper import TABLE_2, TABLE_2_MACHINE

PAIRS = [("emit.burst", "bursts that fit into the rings"), ("emit.sustained.null", "100 M events into `null:`, none lost"),
         ("emit.sustained.file", "100 M events into a file on tmpfs, none lost"),
         ("emit.sustained.nats", "100 M events into JetStream, acknowledged, none lost")]


def runs(emitter):
    """What, threads, events per second of all threads, share of what as many single ones would make."""
    for name, what in PAIRS:
        if f"{name}.1t" not in emitter or f"{name}.2t" not in emitter:
            continue
        single, double = emitter.ns(f"{name}.1t"), emitter.ns(f"{name}.2t")
        yield what, 1, 1e9 / single, 1.0
        yield what, 2, 2e9 / double, single / double


def page(emitter):
    rows = [f"| NetLogger, binary | {threads} | {events:,} | {events / threads / TABLE_2[0][1]:.0%} | paper |"
            for threads, events in TABLE_2]
    rows += [f"| Lifeline, {what} | {threads} | {events:,.0f} | {share:.0%} | ours |"
             for what, threads, events, share in runs(emitter)]
    return "\n".join([
        "# Threads (NetLogger, HPDC 2002, Table 2)", "",
        f"The same event from several threads at once. The paper had {TABLE_2_MACHINE}, where each thread had a processor of its "
        "own. We have 2 processors for 2 threads, the harvester, and a server where there is one. The share is of what as many "
        "single threads would make.", "", "![Table 2, the paper's and ours](netlogger-table-2.svg)", "",
        "| test | threads | events/s, all threads | share | |", "| --- | ---: | ---: | ---: | --- |", *rows, "",
        "Threads share nothing when they emit, each has its ring: bursts keep nearly all of their speed. Without a pause the "
        "harvester needs a processor as well, and 2 threads on 2 processors have to give it theirs; a server takes a third one "
        "that is not there. The paper's eight threads had a processor each and none to spare, and kept 79 %.", "",
        emitter.source(), ""])


def plot(emitter):
    bars = [Bar(f"paper, {threads} thread{'s' if threads > 1 else ''}", events, "paper", f"{events / 1e6:.2f} M")
            for threads, events in TABLE_2]
    bars += [Bar(f"{what.split(',')[0].replace('`', '')}, {threads}", events, "ours", f"{events / 1e6:,.0f} M")
             for what, threads, events, _ in runs(emitter)]
    return chart("Events per second of all threads", "events/s", bars)

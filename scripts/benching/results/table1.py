"""NetLogger, Table 1: how many events per second one program can generate."""

from .chart import Bar, chart
from .paper import TABLE_1, TABLE_1_MACHINE

# Ours that answer the paper's tests, and what they are.
OURS = [
    ("emit.burst.1t", "Lifeline (binary), a burst that fits into its ring"),
    ("emit.sustained.null.1t", "Lifeline (binary), 100 M events sealed into `null:`, none lost"),
    ("emit.sustained.file.1t", "Lifeline (binary), 100 M events into a file, none lost"),
    ("rival.protobuf", "Protocol Buffers, encoded into a buffer for /dev/null"),
    ("rival.msgpack", "MessagePack, likewise"),
    ("rival.key-value", "key=value text, likewise"),
    ("rival.ulm", "ULM text (the paper's ascii), likewise"),
    ("rival.xml", "XML, likewise"),
    ("rival.lttng-ust", "LTTng-UST, a burst that fits into its buffers"),
    ("rival.spdlog", "spdlog asynchronous, a burst that fits into its queue"),
]


def rate(emitter, name):
    return 1e9 / emitter.ns(name)


def sustained(emitter):
    """Both sustained rows, with the processor time of the harvester, per event."""
    parts = []
    for sink in ("null", "file"):
        details = emitter.rows[f"emit.sustained.{sink}.1t"]["details"]
        parts.append(f"`{sink}:` takes {details['emit_ns']:.1f} ns of the emitting thread and {details['harvester_cpu_ns']:.1f} ns of the "
                     "harvester")
    return ", ".join(parts) + "."


def page(emitter):
    rows = [f"| {language} | {test} | {events:,} | {events / TABLE_1[0][2]:.2f} | paper |"
            for language, test, events in TABLE_1]
    found = [(name, what) for name, what in OURS if name in emitter]
    binary = rate(emitter, "emit.burst.1t")
    rows += [f"| C | {what} | {rate(emitter, name):,.0f} | {rate(emitter, name) / binary:.2f} | `{name}` |"
             for name, what in found]
    rows.append(f"| C | the floor of that run: a clock read and a store | {1e9 / emitter.floor():,.0f} | | |")
    paper_ascii, paper_xml = TABLE_1[2][2] / TABLE_1[0][2], TABLE_1[4][2] / TABLE_1[0][2]
    return "\n".join([
        "# Maximum speed of events (NetLogger, HPDC 2002, Table 1)", "",
        "A timestamp, a 32-bit integer and a 32-bit float per event; names of host, program, event and fields are constant. The "
        f"paper's events went to /dev/null on {TABLE_1_MACHINE}; the column beside the rate compares it with the binary format "
        "of the same machine, ours with a burst, since the encoders beside it write bursts into memory too.", "", "![Table 1, the paper's and ours](netlogger-table-1.svg)", "",
        "| language | test | events/s | of binary | |", "| --- | --- | ---: | ---: | --- |", *rows, "",
        f"Of the binary rate, text made {paper_ascii:.0%} and XML {paper_xml:.0%} then; here they make "
        f"{rate(emitter, 'rival.ulm') / binary:.1%} and {rate(emitter, 'rival.xml') / binary:.1%}: printing a float has not become "
        "cheaper at the rate at which storing one has. Reading the clock and storing 16 bytes is all that is left of an event: "
        f"{emitter.floor():.1f} of {emitter.ns('emit.burst.1t'):.1f} ns, where the paper's took "
        f"{1e9 / TABLE_1[0][2]:,.0f} ns. So the formats that need no text are told apart less by the encoding than by what they "
        "leave out: the encoders here keep nothing if the program is killed, and hand it on to nobody.", "",
        "A file takes more events per second than `null:`, although more is done for it: " + sustained(emitter) + " Why is not "
        "measured. The harvester that writes files comes back to the rings less often, and so may disturb the emitting thread's "
        "cache less.", "",
        emitter.source(), ""])


def plot(emitter):
    bars = [Bar(f"{test}, {language}", events, "paper", f"{events / 1e3:,.0f} k") for language, test, events in TABLE_1]
    bars += [Bar(name, rate(emitter, name), "others" if name.startswith("rival") else "ours",
                 f"{rate(emitter, name) / 1e6:,.1f} M") for name, _ in OURS if name in emitter]
    bars.append(Bar("the floor", 1e9 / emitter.floor(), "floor", f"{1e3 / emitter.floor():,.1f} M"))
    return chart("Events per second, one thread", "events/s", bars)

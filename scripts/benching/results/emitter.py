"""What scripts/bench-emitter measured, as the pages need it."""

from ..limit import verdict_of
from ..emitter.elsewhere import ELSEWHERE, FLOOR_NS, MACHINE
from .chart import Bar, chart
from .machine import sentence
from .reasons import verdicts


class Emitter:
    def __init__(self, document):
        self.document = document
        self.rows = {row["name"]: row for row in document["rows"]}

    def __contains__(self, name):
        return name in self.rows

    def ns(self, name):
        return self.rows[name]["ns_median"]

    def floor(self):
        return self.rows["emit.burst.1t"]["floor_ns"]

    def source(self):
        return f"Command: `{self.document['command']}`. Machine: {sentence(self.document)}."


def number(value, unit):
    return "" if value is None else f"{value:,.0f} {unit}" if value >= 1000 else f"{value:,.2f} {unit}"


def bound(row):
    if "limit_of" not in row:
        return ""
    limit = f"at most {row['at_most']:g}" if "at_most" in row else f"at least {row['at_least']:g}"
    return f"{limit} x floor" if row["limit_of"] == "ratio" else f"{limit} {row['unit']}"


def line(row):
    kind = "ns" if row["unit"] == "ns" else "value"
    ratio = f"{row['ratio']:.2f}" if row["ratio"] else ""
    noise = f"{row['noise']['foreign']:.0%}" if "foreign" in row["noise"] else ""
    return (f"| `{row['name']}` | {row['what']} | {number(row[kind + '_median'], row['unit'])} | "
            f"{number(row[kind + '_min'], row['unit'])} | {number(row['floor_ns'], 'ns')} | {ratio} | {bound(row)} | "
            f"{verdict_of(row)} | {row['lost']:,} | {noise} |")


HEADING = ["| row | what | median | least | floor | ratio | limit | | lost | others took |",
           "| --- | --- | ---: | ---: | ---: | ---: | --- | --- | ---: | ---: |"]


def page(emitter):
    rows = emitter.document["rows"]
    ours, rivals = [row for row in rows if not row["rival"]], [row for row in rows if row["rival"]]
    text = ["# What an event costs", "",
            f"Nanoseconds per event and thread. The floor: {emitter.document['floor_is']}. `lost` counts events; `others took` "
            "is the share of the processors that went to other processes meanwhile.", "",
            *verdicts(emitter.document), "![Ours and others' events](emitter.svg)", "", *HEADING, *map(line, ours)]
    if rivals:
        text += ["", "## Others, the same event in the same run", "",
                 "Encoders fill a buffer of 128 KiB that goes to /dev/null; they have no thread behind them that could fall "
                 "back, keep nothing if the program is killed, and send nothing anywhere.", "", *HEADING, *map(line, rivals)]
    text += ["", "## Measured elsewhere", "",
             f"On {MACHINE}, where the floor is {FLOOR_NS} ns; not measured by this command. Only the ratios compare.", "",
             "| what | burst, ns | ratio | sustained, ns | B per event | when full |",
             "| --- | ---: | ---: | --- | ---: | --- |"]
    text += [f"| {row.what} | {row.burst_ns:g} | {row.burst_ns / FLOOR_NS:.1f} | {row.sustained} | {row.bytes_per_event} | "
             f"{row.when_full} |" for row in ELSEWHERE]
    return "\n".join([*text, "", emitter.source(), ""])


def plot(emitter):
    bars = [Bar("the floor", emitter.floor(), "floor", f"{emitter.floor():.1f} ns")]
    for row in emitter.document["rows"]:
        shown = row["rival"] or row["name"].startswith(("emit.burst", "emit.sustained", "emit.string", "emit.summary"))
        if row["unit"] == "ns" and shown and not row["name"].endswith(".off"):
            bars.append(Bar(row["name"], row["ns_median"], "others" if row["rival"] else "ours",
                            f"{row['ns_median']:,.1f} ns"))
    return chart("Nanoseconds per event and thread", "ns", bars)

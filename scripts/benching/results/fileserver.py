"""NetLogger, Table 3: what instrumentation costs a file server."""

from statistics import median

from ..fileserver.servers import MODES
from ..interval import interval
from .chart import Bar, chart
from .figures import count as count_text
from .machine import sentence
from .paper import TABLE_3, TABLE_3_BYTES, TABLE_3_MACHINE

AIM = 0.02
JUDGED = "calipers"
FIGURES = {"mb_per_s": "less throughput", "cpu_ns_per_byte": "more CPU per byte"}


def costs(values, mode, figure):
    """By how much the mode makes the figure worse, as a share, round by round."""
    pairs = [(alone[figure], with_it[figure]) for alone, with_it in zip(values["without"], values[mode])]
    return [1 - after / before if figure == "mb_per_s" else after / before - 1 for before, after in pairs]


def verdict(found):
    _, low, high = found
    return "met" if high <= AIM else "**missed**" if low > AIM else "no verdict: the interval includes the aim"


class Study:
    def __init__(self, document):
        self.document = document
        self.cells = document["cells"]

    def cost(self, cell, mode, figure):
        return interval(costs(cell["values"], mode, figure))

    def middle(self, cell, mode, figure):
        return median(value[figure] for value in cell["values"][mode])

    def verdicts(self):
        return [verdict(self.cost(cell, JUDGED, figure)) for cell in self.cells for figure in FIGURES]


def count(document):
    """In how many figures the aim is met, missed, not shown."""
    found = Study(document).verdicts()
    met, missed = found.count("met"), found.count("**missed**")
    return count_text(met, missed, len(found) - met - missed)


def summary(document):
    study = Study(document)
    found = [study.cost(cell, JUDGED, figure)[0] for cell in study.cells for figure in FIGURES]
    return f"{min(found):+.1%} to {max(found):+.1%} of throughput and of CPU per byte; the aim is at most {AIM:.0%}"


def cost_text(found):
    return "{:+.1%} [{:+.1%}, {:+.1%}]".format(*found)


def row(study, cell, mode):
    figures = [f"{study.middle(cell, mode, 'mb_per_s'):,.0f}", f"{study.middle(cell, mode, 'cpu_ns_per_byte'):.3f}"]
    changes = ["", ""] if mode == "without" else [cost_text(study.cost(cell, mode, figure)) for figure in FIGURES]
    judged = [verdict(study.cost(cell, mode, figure)) for figure in FIGURES] if mode == JUDGED else ["", ""]
    return (f"| {cell['server']} | {cell['clients']} | {mode} | {figures[0]} | {changes[0]} | {judged[0]} | {figures[1]} | {changes[1]} | "
            f"{judged[1]} |")


def papers_row(clients, mode, cpu_s, mbit, cpu_more, rate_less):
    return (f"| {clients} | {mode} | {mbit / 8:.0f} | {'' if rate_less is None else rate_less + ' %'} | {cpu_s / TABLE_3_BYTES * 1e9:.1f} | "
            f"{'' if cpu_more is None else cpu_more + ' %'} |")


def beside(study, clients, papers, ours):
    """The change of the paper's test, and of ours by server."""
    stated = next(row for row in TABLE_3 if row[:2] == (clients, papers)) if papers else None
    found = [study.cost(cell, ours, figure)[0] for figure in FIGURES for cell in study.cells if cell["clients"] == clients]
    return (f"| {clients} | {papers or '-'} | {ours} | {stated[5] + ' %' if stated else '-'} | "
            + " | ".join(f"{share:+.1%}" for share in found[:len(found) // 2]) + f" | {stated[4] + ' %' if stated else '-'} | "
            + " | ".join(f"{share:+.1%}" for share in found[len(found) // 2:]) + " |")


def others(study):
    shares = [value["others"] for cell in study.cells for values in cell["values"].values() for value in values]
    return f"other processes took {median(shares):.0%} of the processors in the median measurement, at most {max(shares):.0%}"


def page(document):
    study = Study(document)
    servers = list(dict.fromkeys(cell["server"] for cell in study.cells))
    clients = list(dict.fromkeys(cell["clients"] for cell in study.cells))
    pairs = [(1, "un-activated", "triggers"), *((number, "NetLogger", mode) for number in clients for mode in ("calipers", "events"))]
    rounds = len(study.cells[0]["values"]["without"])
    heads = " | ".join(servers)
    return "\n".join([
        "# A file server under instrumentation (NetLogger, HPDC 2002, Table 3)", "",
        "Servers as Debian ships them, which nobody recompiled, under `lifeline run`. Clients on the same machine fetch a file of "
        f"{document['file_bytes'] >> 20} MiB from memory again and again, 200 MB each at least, as in the paper. nginx serves over HTTP with "
        f"sendfile, nginx-copy without it, vsftpd over FTP. Each of {rounds} rounds runs each mode once, in random order, with a server "
        "process of its own; batches go to `null:`. CPU time is that of the server's processes, the emitter's thread included.", "",
        *[f"- **{mode}**: {what}" for mode, what in MODES.items()], "",
        f"**With calipers, at most {AIM:.0%} of throughput and of CPU per byte: {count(document)}.** A change is the median of the rounds' ratios, with its 95 % interval by bootstrap; the aim is met "
        "if the whole interval is within it, missed if all of it is beyond. A negative cost is no gain of measuring; with one client more runs "
        "at once, and the kernel probably places it in another way, which was not examined.", "", "![CPU time per byte](netlogger-table-3.svg)", "",
        "| server | clients | mode | MB/s | less throughput | aim | CPU, ns/byte | more CPU per byte | aim |",
        "| --- | ---: | --- | ---: | ---: | --- | ---: | ---: | --- |",
        *[row(study, cell, mode) for cell in study.cells for mode in MODES], "",
        "## Beside the paper", "", f"The paper's: {TABLE_3_MACHINE}.", "",
        "| clients | mode | MB/s | less throughput | CPU, ns/byte | more CPU per byte |", "| ---: | --- | ---: | ---: | ---: | ---: |",
        *[papers_row(*line) for line in TABLE_3], "", "Changes, the paper's and ours:", "",
        f"| clients | paper | ours | less throughput: paper | {heads} | more CPU: paper | {heads} |",
        f"| ---: | --- | --- |{' ---: |' * (2 + 2 * len(servers))}", *[beside(study, *pair) for pair in pairs], "",
        "Why they differ: the paper's clients shared networks of 100 Mb/s, so that its server mostly waited and a change of throughput "
        "below 1 % says little; here clients and server share the processors, and whatever the server computes more is missing in the "
        "throughput. The paper's server worked for some 20 ns per byte, ours for less than one: the same nanoseconds per operation are a "
        "greater share here, and with sendfile most of the server's own work per byte is gone. vsftpd starts processes for each session, which "
        "become emitters of their own and take some milliseconds for that. The paper's events went to a file on the "
        "same machine and another process sent them on, ours are dropped by `null:` once they are sealed. NetLogger was compiled into the "
        "I/O library and logged before and after each operation, which is our *events*; *calipers*, which sum up, came ten years later. "
        "Its un-activated test read a trigger file, ours is *triggers*.", "",
        f"Command: `{document['command']}`, {document['seconds'] / 60:.0f} minutes; {others(study)}. Machine: {sentence(document)}.", ""])


def plot(document):
    study = Study(document)
    bars = [Bar(f"paper, {number} client{'s' * (number > 1)}, {mode}", cpu_s / TABLE_3_BYTES * 1e9, "paper",
                f"{cpu_s / TABLE_3_BYTES * 1e9:.1f} ns") for number, mode, cpu_s, *_ in TABLE_3]
    for cell in study.cells:
        for mode in ("without", "calipers", "events"):
            value = study.middle(cell, mode, "cpu_ns_per_byte")
            bars.append(Bar(f"{cell['server']}, {cell['clients']} client{'s' * (cell['clients'] > 1)}, {mode}", value,
                            "others" if mode == "without" else "ours", f"{value:.3f} ns"))
    return chart("CPU time of the server per byte", "ns", bars)

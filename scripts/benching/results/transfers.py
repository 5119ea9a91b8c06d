"""The matrix of transfers: which component limits each, known and answered, and its samples over time."""

import json

from ..transfers.cells import AFTER_S, BEFORE_S, CONDITIONS, FADE_S, LINK_MBIT, READ_MB, RESOURCES, SETTLE_S, WRITE_MB, Cell
from ..transfers.programs import PROGRAMS
from .chart import drawn
from .machine import sentence

MB = 1e6
COLOURS = {"disk-read": 0, "network": 1, "disk-write": 2}
NOISY = 0.25  # of the processors
LATE_US = 10_000  # a packet that left the link so much later than due had another delay than the cell's
FIGURES = {
    "figure-3": ("Rate of each component over TCP (Figure 3)", [
        ("a", "remote-copy", "memory to disk", 1, "100 ms / 0"), ("b", "remote-copy", "memory to memory", 1, "0 / 0"),
        ("c", "remote-copy", "disk to disk", 1, "0 / 0"), ("d", "remote-copy", "memory to disk", 4, "100 ms / 0.01 %")]),
    "figure-4": ("Rate of each component over UDT (Figure 4)", [
        ("a", "remote-copy-udt", "memory to disk", 4, "100 ms / 0"), ("b", "remote-copy-udt", "memory to disk", 4, "100 ms / 0.01 %"),
        ("c", "remote-copy-udt", "disk to disk", 4, "100 ms / 0"), ("d", "remote-copy-udt", "memory to memory", 4, "100 ms / 0")]),
}


class Matrix:
    """The measured cells, by what they are."""

    def __init__(self, document):
        self.document = document
        self.cells = {(cell["program"], cell["resources"], cell["streams"], cell["condition"]): cell for cell in document["cells"]}

    def phases(self, rule):
        """Of the phases whose limit is known, in undisturbed cells: whether the rule named it."""
        return [answer(phase, rule) in phase["truth"] for cell in self.document["cells"] if not disturbed(cell)
                for phase in cell["phases"] if phase.get("truth")]


def disturbed(cell):
    return cell["noise"] > NOISY or max(way["latest_us"] for way in cell["link"]) > LATE_US


def answer(phase, rule):
    return phase["ours"]["answer"] if rule == "ours" else phase["paper_rule"]


def right(matrix, rule):
    found = matrix.phases(rule)
    return f"{sum(found)} of {len(found)}"


def summary(document):
    matrix = Matrix(document)
    return f"what limits a real transfer: the job is right in {right(matrix, 'ours')}, the paper's rule in {right(matrix, 'papers')}"


def network(matrix):
    """Table I: what the network carries from memory to memory."""
    lines = ["| program | streams | " + " | ".join(CONDITIONS) + ", then |", "| --- | ---: |" + " ---: |" * len(CONDITIONS)]
    for program in PROGRAMS:
        for streams in (1, 4):
            cells = [matrix.cells.get((program, "memory to memory", streams, condition)) for condition in CONDITIONS]
            if any(cells):
                rates = ["" if cell is None else " → ".join(f"{phase['throughput'] / MB:.1f}" for phase in cell["phases"]) for cell in cells]
                lines.append(f"| {program} | {streams} | " + " | ".join(rates) + " |")
    return lines


def verdict(cell, number, rule):
    phase = cell["phases"][number]
    said = answer(phase, rule)
    if not phase.get("truth"):
        return said
    return said if said in phase["truth"] else f"**{said}**"


def row(cell):
    """A line of Table II for each phase of a cell."""
    papers = Cell(cell["program"], cell["resources"], cell["streams"], cell["condition"]).paper(PROGRAMS[cell["program"]].protocol)
    for number, phase in enumerate(cell["phases"]):
        state = cell["condition"] if len(cell["phases"]) == 1 else ("before the loss", "after the loss")[number]
        chance = phase["ours"].get("chance")
        after = f"{(phase['ours']['at_ns'] - cell['changed']) / 1e9:.0f} s" if number and phase["ours"].get("at_ns", 0) > cell["changed"] else ""
        compared = papers if number == len(cell["phases"]) - 1 else None
        yield (f"| {cell['resources']} | {cell['program']} | {cell['streams']} | {state} | {phase['throughput'] / MB:.1f} | "
               f"{' or '.join(phase.get('truth') or ['not known'])}{' (disturbed)' if disturbed(cell) else ''} | {verdict(cell, number, 'ours')} | "
               f"{'' if chance is None else f'{chance:.1g}'} | {after} | {verdict(cell, number, 'papers')} | {compared or ''} |")


def panel(letter, cell):
    begin = cell["began"] / 1e9
    title = f"({letter}) {cell['streams']} streams, {cell['resources']}, {cell['condition']}"
    series = [{"name": name, "colour": COLOURS[name], "points": [{"x": sample["second"] - begin, "y": sample["rate"] / MB} for sample in rows]}
              for name, rows in cell["series"].items() if rows]
    rules = [{"at": cell["changed"] / 1e9 - begin, "vertical": True, "label": "loss begins"}] if cell["changed"] else []
    return {"title": title, "height": 150, "x": {"label": "s"}, "y": {"label": "MB/s of work", "scale": 1}, "series": series, "rules": rules}


def reads(cell):
    """Figure 5: the number of reads per second, and how far their rates spread."""
    begin, rows = cell["began"] / 1e9, cell["series"]["network"]
    rules = [{"at": cell["changed"] / 1e9 - begin, "vertical": True, "label": "loss begins"}]
    return [{"title": title, "height": 130, "x": {"label": "s"}, "y": {"label": unit}, "rules": rules, "series": [
        {"name": "network", "colour": 1, "points": [{"x": sample["second"] - begin, "y": value(sample)} for sample in rows]}]}
            for title, unit, value in (("(a) reads per second", "", lambda sample: sample["operations"]),
                                       ("(b) standard deviation of the rate", "MB/s", lambda sample: (sample["deviation"] or 0) / MB))]


def figures(document):
    """Name of the file -> SVG, of what was measured."""
    matrix = Matrix(document)
    found = {}
    for name, (title, panels) in FIGURES.items():
        known = [panel(letter, matrix.cells[key]) for letter, *parts in panels if (key := tuple(parts)) in matrix.cells]
        if known:
            found[f"{name}.svg"] = drawn({"title": title, "panels": known})
    lossy = matrix.cells.get(("remote-copy-udt", "memory to disk", 4, "100 ms / 0.01 %"))
    if lossy:
        found["figure-5.svg"] = drawn({"title": "Reads of a transfer over UDT with loss (Figure 5)", "panels": reads(lossy)})
    return found


def noise(document):
    shares = [cell["noise"] for cell in document["cells"]]
    late = max(way["latest_us"] for cell in document["cells"] for way in cell["link"])
    commits = ", ".join(sorted({cell["commit"] for cell in document["cells"]}))
    return (f"Other processes took {min(shares):.0%} to {max(shares):.0%} of the processors, and packets left the link at most "
            f"{late / 1000:.1f} ms late; {sum(map(disturbed, document['cells']))} cells with more than {NOISY:.0%} or {LATE_US / 1000:.0f} ms "
            f"are marked as disturbed and not counted. Measured at commits {commits}.")


def page(document):
    matrix = Matrix(document)
    order = [key for key in ((program, resources, streams, condition) for program in PROGRAMS for resources in RESOURCES
                             for streams in (1, 4) for condition in CONDITIONS) if key in matrix.cells]
    pictures = [line for name in figures(document) for line in (f"![{name.removesuffix('.svg')}]({name})", "")]
    return "\n".join([
        "# What limits a transfer (Kissel et al. 2012, Tables I and II, Figures 3 to 5)", "",
        f"Files are copied between two network namespaces over an emulated link of {LINK_MBIT} Mbit/s ({LINK_MBIT / 8:.0f} MB/s), with "
        f"cubic where the transport is TCP. A slow source reads {READ_MB} MB/s and a slow destination writes {WRITE_MB} MB/s; memory is a "
        "filesystem in memory. So what limits a transfer is known: the slowest of the disks and of what the same network carries from "
        "memory to memory; where two are within a fifth of each other, both answers count as right. "
        f"Rates are judged from {SETTLE_S} s on for {BEFORE_S} s. Where loss begins in the middle, they are judged again for {AFTER_S} s, "
        f"{FADE_S} s later, since a loss every two seconds takes long to narrow a window.", "",
        f"**The job `bottleneck` names the limit in {right(matrix, 'ours')} phases, the paper's rule in "
        f"{right(matrix, 'papers')}.** The paper's rule has the same samples, but for the sender's end of the network, which it did not "
        "use. Two parts of the job's rule (idle components, the faster end of the network) were made because of first runs of these "
        "transfers, so this is no proof on unseen data.", "",
        "## The network from memory to memory, MB/s (Table I)", "", *network(matrix), "",
        "## The limiting component (Table II)", "",
        "A wrong answer is bold. *Chance* is the job's test by rates alone, also against components that it set apart as idle; *after* is the time from the change to its answer. The "
        "last column is the paper's table, measured with GridFTP on other disks and a network of 10 Gbit/s.", "",
        "| resources | program | streams | state | MB/s | truth | job | chance | after | paper's rule | paper |",
        "| --- | --- | ---: | --- | ---: | --- | --- | ---: | ---: | --- | --- |",
        *[line for key in order for line in row(matrix.cells[key])], "", *pictures,
        f"{noise(document)} Command: `{document['command']}`. Machine: {sentence(document)}.", ""])


def load(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

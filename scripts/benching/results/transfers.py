"""The matrix of transfers: which component limits each, known and answered, and its samples over time."""

import json
from statistics import median

from ..transfers.cells import (AFTER_S, BEFORE_S, CONDITIONS, FADE_S, LINK_MBIT, MEASURED, READ_MB, RESOURCES, SEEDS, SETTLE_S, WRITE_MB,
                               Cell)
from ..transfers.programs import PROGRAMS
from .chart import drawn
from .machine import sentence

MB = 1e6
COLOURS = {"disk-read": 0, "network": 1, "disk-write": 2}
NOISY = 0.25  # of the processors
LATE_US = 10_000  # a packet that left the link so much later than due had another delay than the cell's
MEASURED_BY = {phase: (condition, number) for condition, (_, _, phases) in MEASURED.items() for number, phase in enumerate(phases)}
FIGURES = {
    "figure-3": ("MB per second of each component's work, over TCP (Figure 3)", [
        ("a", "remote-copy", "memory to disk", 1, "100 ms / 0"), ("b", "remote-copy", "memory to memory", 1, "0 / 0"),
        ("c", "remote-copy", "disk to disk", 1, "0 / 0"), ("d", "remote-copy", "memory to disk", 4, "100 ms / 0.01 %")]),
    "figure-4": ("MB per second of each component's work, over UDT (Figure 4)", [
        ("a", "remote-copy-udt", "memory to disk", 4, "100 ms / 0"), ("b", "remote-copy-udt", "memory to disk", 4, "100 ms / 0.01 %"),
        ("c", "remote-copy-udt", "disk to disk", 4, "100 ms / 0"), ("d", "remote-copy-udt", "memory to memory", 4, "100 ms / 0")]),
}


class Matrix:
    """The measured cells, by what they are. Further runs with other losses only show what the network carries."""

    def __init__(self, document):
        self.document = document
        self.cells = {(cell["program"], cell["resources"], cell["streams"], cell["condition"]): cell for cell in document["cells"]
                      if cell["seed"] == 1}

    def phases(self, rule, memory=True):
        """Of the phases whose limit is known, in undisturbed cells: whether the rule named it."""
        return [answer(phase, rule) in phase["truth"] for cell in self.cells.values()
                if not disturbed(cell) and (memory or cell["resources"] != "memory to memory")
                for phase in cell["phases"] if phase.get("truth")]


def disturbed(cell):
    return cell["noise"] > NOISY or max(way["latest_us"] for way in cell["link"]) > LATE_US


def answer(phase, rule):
    return phase["ours"]["answer"] if rule == "ours" else phase["paper_rule"]


def right(matrix, rule, memory=True):
    found = matrix.phases(rule, memory)
    return f"{sum(found)} of {len(found)}"


def summary(document):
    matrix = Matrix(document)
    return f"{right(matrix, 'ours')} right; the paper's rule {right(matrix, 'papers')}"


def rates(cell, number):
    """What the network carries, in MB/s: the median of the runs and, of several, the least and the greatest."""
    found = [rate / MB for rate in cell["phases"][number]["network"]]
    return f"{median(found):.1f}" + (f" ({found[0]:.1f} to {found[-1]:.1f})" if len(found) > 1 else "")


def network(matrix):
    """Table I: what the network carries from memory to memory."""
    lines = ["| program | streams | " + " | ".join(CONDITIONS) + " |", "| --- | ---: |" + " ---: |" * len(CONDITIONS)]
    for program in PROGRAMS:
        for streams in (1, 4):
            cells = [(matrix.cells.get((program, "memory to memory", streams, MEASURED_BY[condition][0])), MEASURED_BY[condition][1])
                     for condition in CONDITIONS]
            if any(cell for cell, _ in cells):
                carried = ["" if cell is None else rates(cell, number) for cell, number in cells]
                lines.append(f"| {program} | {streams} | " + " | ".join(carried) + " |")
    return lines


def verdict(cell, number, rule):
    phase = cell["phases"][number]
    said = answer(phase, rule)
    if not phase.get("truth"):
        return said
    return said if said in phase["truth"] else f"**{said}**"


def row(cell):
    """A line of Table II for each phase of a cell."""
    what = Cell(cell["program"], cell["resources"], cell["streams"], cell["condition"])
    for number, phase in enumerate(cell["phases"]):
        chance = phase["ours"].get("chance")
        after = f"{(phase['ours']['at_ns'] - cell['changed']) / 1e9:.0f} s" if number and phase["ours"].get("at_ns", 0) > cell["changed"] else ""
        yield (f"| {cell['resources']} | {cell['program']} | {cell['streams']} | {MEASURED[cell['condition']][2][number]} | "
               f"{phase['throughput'] / MB:.1f} | "
               f"{' or '.join(phase.get('truth') or ['not known'])}{' (disturbed)' if disturbed(cell) else ''} | {verdict(cell, number, 'ours')} | "
               f"{'' if chance is None else f'{chance:.1g}'} | {after} | {verdict(cell, number, 'papers')} | "
               f"{what.paper(PROGRAMS[cell['program']].protocol, number) or ''} |")


def panel(letter, cell, condition):
    begin, changed = cell["began"] / 1e9, cell["changed"] / 1e9
    whole = condition == cell["condition"]  # or what was measured before loss began
    title = f"({letter}) {cell['streams']} stream{'s' * (cell['streams'] > 1)}, {cell['resources']}, {condition}"
    series = [{"name": name, "colour": COLOURS[name], "points": [{"x": sample["second"] - begin, "y": sample["rate"] / MB} for sample in rows
                                                               if whole or sample["second"] < changed]}
              for name, rows in cell["series"].items() if rows]
    rules = [{"at": changed - begin, "vertical": True, "label": "loss begins"}] if cell["changed"] and whole else []
    return {"title": title, "height": 150, "x": {"label": "s"}, "y": {"label": "MB/s", "scale": 1}, "series": series, "rules": rules}


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
        known = [panel(letter, matrix.cells[key], condition) for letter, *parts, condition in panels
                 if (key := (*parts, MEASURED_BY[condition][0])) in matrix.cells]
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
                             for streams in (1, 4) for condition in MEASURED) if key in matrix.cells]
    pictures = [line for name in figures(document) for line in (f"![{name.removesuffix('.svg')}]({name})", "")]
    return "\n".join([
        "# What limits a transfer (Kissel et al. 2012, Tables I and II, Figures 3 to 5)", "",
        f"Files are copied between two network namespaces over an emulated link of {LINK_MBIT} Mbit/s ({LINK_MBIT / 8:.0f} MB/s), with "
        f"cubic where the transport is TCP. A slow source reads {READ_MB} MB/s and a slow destination writes {WRITE_MB} MB/s; memory is a "
        "filesystem in memory. So what limits a transfer is known: the slowest of the disks and of what the same network carries from "
        f"memory to memory, in {len(SEEDS)} runs with other losses where loss decides; where two are within a fifth of each other, or the "
        "runs disagree, both answers count as right. "
        f"Rates are judged from {SETTLE_S} s on for {BEFORE_S} s. Where loss begins in the middle, they are judged again for {AFTER_S} s, "
        f"{FADE_S} s later, since a loss every other second takes long to narrow a window; what was judged before is the cell with 100 ms "
        "and without loss. So that all of it fits into an hour, a cell is run once, but for the network's own with loss, and loss "
        f"begins after {SETTLE_S + BEFORE_S} s, in the paper after 60.", "",
        f"**The job `bottleneck` names the limit in {right(matrix, 'ours')} phases, the paper's rule in "
        f"{right(matrix, 'papers')}.** From memory to memory the network is the limit by definition; without those transfers it is "
        f"{right(matrix, 'ours', False)} and {right(matrix, 'papers', False)}. The paper's rule has the same samples, but for the sender's end of the network, which it did not "
        "use. Three parts of the job's rule (idle components, the faster end of the network, intervals that count by the work in them) were "
        "made because of runs of these transfers, so this is no proof on unseen data.", "",
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

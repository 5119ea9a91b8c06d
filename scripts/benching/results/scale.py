"""What scripts/bench-scale measured."""

from .chart import Bar, chart
from .collapsed import collapsed
from .figures import HEAD, details, line, number
from .machine import sentence
from .reasons import verdicts

PARTS = {
    "answer.": ("From an event to its answer", "One program emits 20 events a second with default settings, so that a batch leaves it "
                "after up to a second; beside it another program emits the load, and broker, jobs and queries share the same processors. "
                "An answer counts when it has been read: the row of the event by a query that opens the archive anew every 50 ms, the "
                "first summary that includes the event, the event in the stream of a filter. The three runs of a row are thirds of one. "
                "Up to 1 % of the load may be dropped; below, each row says how much was."),
    "idle.": ("Idle processes", "Of all threads of the process, while it emits nothing and nothing is to be read."),
    "scale.days.": ("Days of an archive", "One program writes the archive day by day, with a roll an hour and a compaction a day, and opens it "
                    "when it has so many days. The files are in the page cache. Memory is what the reader occupies on the heap."),
    "scale.partitions.": ("Partitions of a topic", "One process has all of them. The load is the same for each number of partitions."),
    "scale.": ("What grows", "Memory is what the objects on the heap of the jobs' process occupy after garbage was collected, less what "
               "they did before the first batch. Each run has its own broker and jobs. Fixed costs of a run, such as the compilation of "
               "the jobs' code and the buffers of their clients, are included, and divided by the number as well. A process that has "
               "ended is remembered for the stream's retention, since its batches may arrive again until then."),
}


def part(name):
    """The first that has the row."""
    return next(prefix for prefix in PARTS if name.startswith(prefix))


def sections(document):
    """The lines of the page's part with these rows."""
    lines = ["## At scale", "", "A row's aim is for each run: the worst one is judged.", "", *verdicts(document),
             "![Times from events to answers](scale.svg)", ""]
    for prefix, (title, text) in PARTS.items():
        rows = [row for row in document["rows"] if part(row["name"]) == prefix]
        if rows:
            lines += [f"### {title}", "", text, "", *collapsed(f"All {len(rows)} rows", [*HEAD, *map(line, rows)])]
    return [*lines, *collapsed("More figures of each row", map(details, document["rows"])),
            f"Command: `{document['command']}`. Machine: {sentence(document)}.", ""]


def plot(document):
    return chart("Seconds from an event to its answer", "s", [
        Bar(row["name"], row["median"], "ours", number(row["median"], row["unit"]))
        for row in document["rows"] if row["name"].startswith("answer.")])

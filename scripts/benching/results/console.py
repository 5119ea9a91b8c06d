"""What scripts/bench-console measured."""

from .chart import Bar, chart
from .collapsed import collapsed
from .figures import HEAD, details, line, number
from .machine import sentence
from .reasons import verdicts

PARTS = {"asked_after_ms": "until the page asks", "answer_ms": "until the service's answer begins", "parse_ms": "reading the answer",
         "to_draw_ms": "until drawing begins", "draw_ms": "drawing", "paint_ms": "until the frame is painted"}


def scales(rows):
    lines = [f"| {row['events']:,} | {name} | {found['steps']} | {found['p50_ms']:,.0f} ms | {found['max_ms']:,.0f} ms |"
             for row in rows for name, found in row["details"].get("by_scale", {}).items()]
    return ["Zooms and pans by the length of the span that they show, all runs together:", "",
            "| events | span | steps | median | slowest |", "| ---: | --- | ---: | ---: | ---: |", *lines, ""] if lines else []


def parts(rows):
    lines = [f"| {row['events']:,} | " + " | ".join(f"{row['details']['median_of_parts'][part]:,.1f} ms" for part in PARTS) + " |"
             for row in rows if "median_of_parts" in row["details"]]
    return ["Where the time of a zoom or pan goes, the median of each part:", "", f"| events | {' | '.join(PARTS.values())} |",
            f"| ---: |{' ---: |' * len(PARTS)}", *lines, ""] if lines else []


def with_broker(rows):
    """What the rows without an archive are; empty if there are none."""
    found = []
    if any(row["name"].startswith("tail.") for row in rows):
        found += ["Rows `tail` print all events of a private NATS with `lifeline-jobs tail --from 0 --count N`; the seconds include the "
                  "program's start.", ""]
    if any(row["name"].startswith("activation.") for row in rows):
        found += ["Rows `activation` are for many emitters, each a process of its own with the default interval of a second, and one "
                  "event of the type every 100 ms. The time of an emitter begins before `POST /api/v1/activations` and ends when a private "
                  "NATS on the same machine has stored the first batch with an event of the type. Each run switches another type on. Each "
                  "emitter has a consumer of the bucket with the activations, of which nats-server admits 1,000 by default: this one runs "
                  "with `default_max_consumers: -1`.", ""]
    return found


def page(document):
    rows = document["rows"]
    return "\n".join([
        "# The console", "",
        "The operator's page and its service, with archives of remote copies: four pairs of programs, eight event types, six hours. "
        "Each run starts a service and a browser of its own. A zoom or pan counts from the browser's input event to the task after "
        "the frame that shows the new span's events, rasterized without a GPU; the next one follows when the page is at rest. An aim "
        "is for each run: the worst one is judged. `others took` is the greatest share of the processors that went to other "
        "processes during a run.", "", *with_broker(rows),
        *verdicts(document), *[f"Not measured: {reason}.\n" for reason in document.get("not_measured", [])],
        *collapsed(f"All {len(rows)} rows", [*HEAD, *map(line, rows)]), *scales(rows), *parts(rows),
        "![Times of the page and its service](console.svg)", "", *collapsed("More figures of each row", map(details, rows)),
        f"Command: `{document['command']}`. Machine: {sentence(document)}.", ""])


def plot(document):
    return chart("Milliseconds", "ms", [
        Bar(row["name"], row["median"] * (1000 if row["unit"] == "s" else 1), "ours", number(row["median"], row["unit"]))
        for row in document["rows"] if row["unit"] in ("s", "ms")])

"""What scripts/bench-jobs measured."""

from ..limit import verdict_of
from . import scale
from .chart import Bar, chart
from .collapsed import collapsed
from .machine import sentence
from .reasons import verdicts


def rate(value, unit):
    for size, prefix in ((1e6, "M "), (1e3, "k ")):
        if value >= size:
            return f"{value / size:,.2f} {prefix}{unit}"
    return f"{value:,.2f} {unit}"


def held_to(row):
    def one(limit):
        sign, bound = ("at most", limit["at_most"]) if "at_most" in limit else ("at least", limit["at_least"])
        of = limit["of"]
        if of == "per_s":
            return f"{sign} {rate(bound, row['unit'])}"
        if of.startswith("ratio"):
            return f"{sign} {bound:g} x {of.partition(':')[2] or row['baseline']}"
        return f"{of}: {sign} {bound:g}"

    return (" or " if row.get("any_limit_suffices") else "; ").join(map(one, row.get("limits", [])))


def line(row):
    beside = "; ".join(f"{baseline['ratio']:.2f} x `{baseline['name']}`" for baseline in row["baselines"])
    if beside and row["ratio_of"] != "per_s":
        beside += f" ({row['ratio_of'].replace('_', ' ')})"
    return (f"| `{row['name']}` | {row['what']} | {rate(row['per_s_median'], row['unit'])} | {rate(row['per_s_min'], row['unit'])} | "
            f"{spread(row)} | "
            f"{beside} | {held_to(row)} | {verdict_of(row)} | {row['share_of_cpu_taken_by_others']:.0%} |")


def spread(row):
    return f"{row['spread']:.0%}" if "spread" in row else ""


def details(row):
    found = [f"{name} {value:,}" if isinstance(value, (int, float)) else f"{name} {value}" for name, value in row["details"].items()]
    if row.get("timed"):
        found = [f"timed is {row['timed']}", f"set-up {row['set_up_share']:.0%} of that", *found]
    return f"- `{row['name']}` ({row['measured']}, commit {row['commit']}, {row['repetitions']} repetitions): {'; '.join(found)}"


def page(document, grown=None):
    """`grown`: what scripts/bench-scale measured."""
    rows = document["rows"]
    return "\n".join([
        "# Throughput of the stream jobs", "",
        "A row with a baseline was measured beside it in the same run; the ratio is the median of the repetitions' ratios. `others "
        "took` is the share of the processors that went to other processes meanwhile, a private broker's own share included. Per "
        "core second: by the seconds that the measured process and its broker spent on processors together. The spread is the range of "
        "the repetitions without the lowest and the highest tenth, as a share of the median.", "",
        *verdicts(document), "![Rates of all rows](jobs.svg)", "",
        *collapsed(f"All {len(rows)} rows", [
            "| row | what | median | least | spread | beside | held to | | others took |",
            "| --- | --- | ---: | ---: | ---: | --- | --- | --- | ---: |", *map(line, rows)]),
        *collapsed("More figures of each row", [details(row) for row in rows if row["details"]]),
        f"Command: `{document['command']}`. Machine: {sentence(document)}.", "", *(scale.sections(grown) if grown else [])])


def plot(document):
    baselines = {baseline["name"] for row in document["rows"] for baseline in row["baselines"]}
    return chart("Per second", "per s", [
        Bar(row["name"], row["per_s_median"], "others" if row["name"] in baselines else "ours",
            rate(row["per_s_median"], row["unit"].split("/")[0])) for row in document["rows"]])

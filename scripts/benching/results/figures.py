"""Rows of one figure as lines of a page."""

HEAD = ("| row | what | median | least to greatest | runs | aim | | others took |",
        "| --- | --- | ---: | ---: | ---: | --- | --- | ---: |")


def number(value, unit):
    return f"{value:,.0f} {unit}" if abs(value) >= 100 else f"{value:,.2f} {unit}"


def aim(row):
    if "met" not in row:
        return ""
    sign, bound = ("at most", row["at_most"]) if "at_most" in row else ("at least", row["at_least"])
    return f"{sign} {bound:,g} {row['unit']}"


def verdict(row):
    if "met" not in row:
        return ""
    return "met" if row["met"] else f"**missed** by {row['missed_by']:.0%}"


def line(row):
    return (f"| `{row['name']}` | {row['what']} | {number(row['median'], row['unit'])} | {number(row['min'], row['unit'])} to "
            f"{number(row['max'], row['unit'])} | {row['runs']} | {aim(row)} | {verdict(row)} | "
            f"{row['share_of_cpu_taken_by_others']:.0%} |")


def value_text(value):
    if isinstance(value, list):
        return ", ".join(map(value_text, value))
    if isinstance(value, dict):
        return "(" + "; ".join(f"{name} {value_text(one)}" for name, one in value.items()) + ")"
    return f"{value:,}" if isinstance(value, (int, float)) else str(value)


def details(row):
    found = "; ".join(f"{name} {value_text(value)}" for name, value in row["details"].items()
                      if name not in ("by_scale", "median_of_parts"))
    return f"- `{row['name']}` ({row['measured']}, commit {row['commit']}, {row['events']:,} events)" + (f": {found}" if found else "")


def count(met, missed, unjudged):
    """How many aims are met, of all, and what became of the others."""
    others = [f"{many} {what}" for many, what in ((missed, "missed"), (unjudged, "without a verdict")) if many]
    return ", ".join([f"{met} of {met + missed + unjudged} met", *others])


def summary(document):
    rows = document["rows"]
    return count(sum(row.get("met") is True for row in rows), sum(row.get("met") is False for row in rows),
                 sum("unjudged" in row for row in rows))

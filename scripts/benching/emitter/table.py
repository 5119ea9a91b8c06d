"""The table for people."""

from .elsewhere import ELSEWHERE, FLOOR_NS, MACHINE

HEADINGS = ("row", "median", "min", "floor", "ratio", "at most", "verdict", "lost", "others took")


def figure(value, unit):
    if value is None:
        return "-"
    return {"ns": f"{value:,.2f}" if abs(value) < 1000 else f"{value:,.0f}", "share": f"{value:.2f}"}.get(unit, f"{value:,.2f} {unit}")


def bound(limit):
    if limit is None:
        return ""
    sign = "" if limit.at_most else ">= "
    return f"{sign}{limit.bound:g}{' x' if limit.of == 'ratio' else ''}"


def line(row):
    unit = row.case.unit
    return (row.case.name, figure(row.median, unit), figure(row.least, unit), figure(row.floor, "ns"),
            f"{row.ratio:.2f}" if row.floors else "-", bound(row.case.limit), row.verdict, f"{row.lost:,}",
            f"{row.noise.get('foreign', 0):.0%}")


def table(rows):
    """Nanoseconds per event and thread where no unit stands."""
    lines = [HEADINGS, *map(line, rows)]
    widths = [max(len(cells[column]) for cells in lines) for column in range(len(HEADINGS))]
    text = ["  ".join(cell.ljust(width) if column in (0, 6) else cell.rjust(width)
                      for column, (cell, width) in enumerate(zip(cells, widths))).rstrip() for cells in lines]
    text.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(text)


def elsewhere():
    """What was not measured now."""
    lines = [f"Measured elsewhere, on {MACHINE} (ns of a burst, and its ratio to the floor of {FLOOR_NS} there):"]
    lines += [f"  {row.what:58} {row.burst_ns:6g} {row.burst_ns / FLOOR_NS:6.1f} x" for row in ELSEWHERE]
    return "\n".join(lines)

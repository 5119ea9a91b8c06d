"""The table for people."""

from ..emitter.table import bound, figure

HEADINGS = ("row", "median", "95 % interval", "at most", "verdict", "lost", "others took")


def line(row):
    unit = row.case.unit
    low, high = row.interval
    return (row.case.name, figure(row.median, unit), f"{figure(low, unit)} to {figure(high, unit)}", bound(row.case.limit), row.verdict,
            f"{row.lost:,}", f"{row.noise['foreign']:.0%}")


def table(rows):
    """Nanoseconds per request where no unit stands."""
    lines = [HEADINGS, *map(line, rows)]
    widths = [max(len(cells[column]) for cells in lines) for column in range(len(HEADINGS))]
    text = ["  ".join(cell.ljust(width) if column in (0, 4) else cell.rjust(width)
                      for column, (cell, width) in enumerate(zip(cells, widths))).rstrip() for cells in lines]
    text.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(text)

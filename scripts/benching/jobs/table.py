"""The table for people."""

from ..limit import spread

HEADINGS = ("row", "median", "spread", "baseline", "ratio", "held to", "verdict", "others took")


def rate(value, unit):
    for size, prefix in ((1e6, "M "), (1e3, "k ")):
        if value >= size:
            return f"{value / size:,.2f} {prefix}{unit}"
    return f"{value:,.2f} {unit}"


def bound(case):
    def one(limit):
        sign = "<=" if limit.at_most else ">="
        name = limit.of.partition(":")[2] or {"per_s": "", "ratio": ""}.get(limit.of, limit.of)
        value = rate(limit.bound, case.unit) if limit.of == "per_s" else f"{limit.bound:g}"
        value += " x" if limit.of.startswith("ratio") else ""
        return f"{sign} {value}{f' {name}' if name else ''}"

    return (" or " if case.any_suffices else ", ").join(map(one, case.limits))


def line(row):
    ratio = f"{row.ratio():.2f}" if row.baselines else "-"
    return (row.case.name, rate(row.median, row.case.unit), f"{spread(row.values):.0%}", next(iter(row.baselines), "-"), ratio,
            bound(row.case), row.verdict, f"{row.noise:.0%}")


def table(rows):
    lines = [HEADINGS, *map(line, rows)]
    widths = [max(len(cells[column]) for cells in lines) for column in range(len(HEADINGS))]
    text = ["  ".join(cell.rjust(width) if column in (1, 2, 4) else cell.ljust(width)
                      for column, (cell, width) in enumerate(zip(cells, widths))).rstrip() for cells in lines]
    text.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(text)

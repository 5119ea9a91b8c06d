"""The table for people."""

HEADINGS = ("row", "median", "least", "greatest", "aim", "verdict", "others took")


def number(value, unit):
    return f"{value:,.0f} {unit}" if abs(value) >= 100 else f"{value:,.2f} {unit}"


def bound(case):
    if case.limit is None:
        return ""
    return f"{'<=' if case.limit.at_most else '>='} {number(case.limit.bound, case.unit)}"


def line(row):
    unit = row.case.unit
    return (row.case.name, number(row.median, unit), number(min(row.values), unit), number(max(row.values), unit), bound(row.case),
            row.verdict, f"{row.noise:.0%}")


def table(rows):
    lines = [HEADINGS, *map(line, rows)]
    widths = [max(len(cells[column]) for cells in lines) for column in range(len(HEADINGS))]
    text = ["  ".join(cell.rjust(width) if column in (1, 2, 3) else cell.ljust(width)
                      for column, (cell, width) in enumerate(zip(cells, widths))).rstrip() for cells in lines]
    text.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(text)

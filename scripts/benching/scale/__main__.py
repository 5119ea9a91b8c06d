"""Measures how long answers take, what idle processes cost, and what grows."""

from ..figures.table import bound, table
from ..suite import Suite
from . import answers, days, grows, idle, partitions

FAMILIES = (answers, idle, grows, partitions, days)


def steps(chosen, quick):
    return [step for family in FAMILIES for step in family.steps([case for case in chosen if case in family.CASES], quick)]


if __name__ == "__main__":
    Suite("scale", [case for family in FAMILIES for case in family.CASES], bound, steps, table).main()

"""Measures the rows of the engines, family by family."""

import importlib
import pkgutil
import sys

from .. import machine
from ..machine import Noise
from ..suite import Suite
from . import __path__ as here
from .table import bound, table


def families():
    """The modules of this package that have rows."""
    names = sorted(module.name for module in pkgutil.iter_modules(here) if not module.name.startswith("_"))
    modules = [importlib.import_module(f"{__package__}.{name}") for name in names]
    return [module for module in modules if hasattr(module, "CASES")]


def steps(cases, quick):
    commit = machine.profile()["commit"]
    chosen = [(family, [case for case in family.CASES if case in cases]) for family in families()]
    return [(f"{family.__name__.rpartition('.')[2]}: {', '.join(case.name for case in some)}",
             lambda family=family, some=some: measure(family, some, quick, commit)) for family, some in chosen if some]


def measure(family, cases, quick, commit):
    with Noise() as noise:
        rows = family.measure({case.name for case in cases}, quick)
    for row in rows:
        row.noise, row.commit = noise.foreign_share, commit
    if noise.foreign_share > 0.1:
        print(f"    {noise.foreign_share:.0%} of the processors went to others meanwhile: trust the ratios only",
              file=sys.stderr)
    return rows


if __name__ == "__main__":
    Suite("jobs", [case for family in families() for case in family.CASES], bound, steps, table).main()

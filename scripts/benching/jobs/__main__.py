"""Measures the rows family by family, saves them, and prints the table."""

import argparse
import importlib
import json
import pkgutil
import shlex
import signal
import sys
import time

from .. import machine
from ..machine import ROOT, Noise
from . import __path__ as here
from .table import bound, table


def families():
    """The modules of this package that have rows."""
    names = sorted(module.name for module in pkgutil.iter_modules(here) if not module.name.startswith("_"))
    modules = [importlib.import_module(f"{__package__}.{name}") for name in names]
    return [module for module in modules if hasattr(module, "CASES")]


def document(rows, command, quick, seconds):
    return {"command": command, "quick": quick, "seconds": round(seconds), "machine": machine.profile(),
            "rows": [row.document() for row in rows]}


def updated(path, new):
    """The document at the path, with the new one's rows in the places of the old ones."""
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else new | {"rows": []}
    fresh = {row["name"]: row for row in new["rows"]}
    rows = [fresh.pop(row["name"], row) for row in old["rows"]] + list(fresh.values())
    return old | {"command": "scripts/bench-jobs", "rows": sorted(rows, key=lambda row: row["name"])}


def measure_all(chosen, quick):
    commit = machine.profile()["commit"]
    rows, failed = [], []
    for number, (family, cases) in enumerate(chosen, 1):
        title = family.__name__.rpartition(".")[2]
        print(f"[{number}/{len(chosen)}] {title}: {', '.join(case.name for case in cases)} ...", file=sys.stderr, flush=True)
        try:
            with Noise() as noise:
                found = family.measure({case.name for case in cases}, quick)
        except RuntimeError as error:
            failed.append(f"{title}: {error}")
            print(f"    FAILED: {error}", file=sys.stderr)
            continue
        for row in found:
            row.noise, row.commit = noise.foreign_share, commit
        rows += found
        if noise.foreign_share > 0.1:
            print(f"    {noise.foreign_share:.0%} of the processors went to others meanwhile: trust the ratios only",
                  file=sys.stderr)
    return rows, failed


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench-jobs")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    chosen = [(family, [case for case in family.CASES if not arguments.only or any(word in case.name for word in arguments.only)])
              for family in families()]
    chosen = [(family, cases) for family, cases in chosen if cases]
    if not chosen:
        parser.error("no row has such a name (--list prints them all)")
    if arguments.update and (arguments.quick or not arguments.only):
        parser.error("--update goes with --only, and not with --quick")
    if arguments.list:
        for case in (case for _, cases in chosen for case in cases):
            print(f"{case.name:26} {bound(case):44} {case.what}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that brokers are stopped then, too
    started = time.monotonic()
    rows, failed = measure_all(chosen, arguments.quick)
    if not rows:
        return 1
    part = arguments.quick or (arguments.only and not arguments.update)
    path = ROOT / ("build/bench" if part else "results/bench") / "jobs.json"
    measured = document(rows, shlex.join(["scripts/bench-jobs", *sys.argv[1:]]), arguments.quick, time.monotonic() - started)
    if arguments.update:
        measured = updated(path, measured)
    text = json.dumps(measured, indent=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")
    print(text if arguments.json else table(rows))
    missed = sum(bool(row.missed_by) for row in rows)
    print(f"bench-jobs: rows={len(rows)} missed={missed} failed={len(failed)} written to {path.relative_to(ROOT)}",
          file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

"""What every suite of rows does around them: its options, progress, its document, the closing line."""

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from . import machine
from .machine import ROOT


@dataclass(frozen=True)
class Suite:
    """Rows that are measured by the script bench-NAME and kept in NAME.json."""

    name: str
    cases: list  # each with the name of its row and what that measures
    bound: Callable  # of a case: what it is held to, as text
    steps: Callable  # of cases and whether to be quick: pairs of a title and what measures it, which returns rows
    table: Callable  # of rows: the table for people
    notes: dict = field(default_factory=dict)  # further keys of the document

    def main(self):
        """Runs the script to its end."""
        try:
            sys.exit(self._run())
        except KeyboardInterrupt:
            sys.exit(130)

    def _options(self):
        parser = argparse.ArgumentParser(prog=f"scripts/bench-{self.name}")
        parser.add_argument("--quick", action="store_true")
        parser.add_argument("--only", action="append", default=[], metavar="WORD")
        parser.add_argument("--update", action="store_true")
        parser.add_argument("--json", action="store_true")
        parser.add_argument("--list", action="store_true")
        options = parser.parse_args()
        cases = [case for case in self.cases if not options.only or any(word in case.name for word in options.only)]
        if not cases:
            parser.error("no row has such a name (--list prints them all)")
        if options.update and (options.quick or not options.only):
            parser.error("--update goes with --only, and not with --quick")
        return options, cases

    def _run(self):
        options, cases = self._options()
        if options.list:
            self._list(cases)
            return 0
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that brokers are stopped then, too
        started = time.monotonic()
        rows, failed = measured(self.steps(cases, options.quick))
        if not rows:
            return 1
        part = options.quick or (options.only and not options.update)
        path = ROOT / ("build/bench" if part else "results/bench") / f"{self.name}.json"
        document = self._document(rows, options.quick, time.monotonic() - started)
        if options.update:
            document = updated(path, document)
        text = json.dumps(document, indent=2)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
        print(text if options.json else self.table(rows))
        missed = sum(bool(row.missed_by) for row in rows)
        unjudged = sum(row.verdict.startswith("no verdict") for row in rows)
        print(f"bench-{self.name}: rows={len(rows)} missed={missed} unjudged={unjudged} failed={failed} written to {path.relative_to(ROOT)}",
              file=sys.stderr)
        return 1 if failed else 0

    def _list(self, cases):
        lines = [(case.name, self.bound(case), case.what) for case in cases]
        name, bound = (max(len(line[column]) for line in lines) for column in (0, 1))
        for line in lines:
            print(f"{line[0]:{name}}  {line[1]:{bound}}  {line[2]}")

    def _document(self, rows, quick, seconds):
        return {"command": f"scripts/bench-{self.name}" + (" --quick" if quick else ""), "quick": quick,
                "seconds": round(seconds), "machine": machine.profile(), "rows": [row.document() for row in rows], **self.notes}


def measured(steps):
    """Returns the rows of all steps and the number of failed ones; a failure is reported, and the next step begins."""
    rows, failed = [], 0
    for number, (title, measure) in enumerate(steps, 1):
        print(f"[{number}/{len(steps)}] {title} ...", file=sys.stderr, flush=True)
        try:
            rows += measure()
        except RuntimeError as error:
            failed += 1
            print(f"    FAILED: {error}", file=sys.stderr)
    return rows, failed


def updated(path, new):
    """The document at the path, with the new one's rows in the places of the old ones."""
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else new | {"rows": []}
    fresh = {row["name"]: row for row in new["rows"]}
    rows = [fresh.pop(row["name"], row) for row in old["rows"]]
    return old | {"rows": rows + list(fresh.values())}

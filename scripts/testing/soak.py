"""Runs single system tests in random order under load, and reports flaky ones: see scripts/soak."""

import argparse
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

from . import system_tests
from .command import PORTS, PORTS_EACH, ROOT, Commands, end_on_signals, lock
from .repeat import run_again

PAGE = ROOT / "build/reports/soak.md"
CORES = len(os.sched_getaffinity(0))


@dataclass
class Row:
    name: str
    runs: int = 0
    failures: list = field(default_factory=list)
    seconds: float = 0


class Soak:
    def __init__(self, groups, minutes):
        self.groups, self.deadline = groups, time.monotonic() + 60 * minutes
        self.rows = {group.name: Row(group.name) for group in groups}
        self.lock, self.commands = threading.Lock(), Commands()
        self.queue, self.running = [], set()

    def next(self):
        """A group that does not run at the moment; each runs once before any runs again."""
        with self.lock:
            if time.monotonic() > self.deadline:
                return None
            if not self.queue:
                self.queue = random.sample(self.groups, len(self.groups))
            free = [group for group in self.queue if group.name not in self.running]
            if not free:
                return False
            self.queue.remove(free[0])
            self.running.add(free[0].name)
            return free[0]

    def work(self):
        while (group := self.next()) is not None:
            if not group:
                time.sleep(0.2)
                continue
            row = self.rows[group.name]
            started = time.monotonic()
            counts = run_again(group, self.commands, ROOT / "build/log", f"soak-{row.runs + 1}")
            if self.commands.stopped:
                return
            with self.lock:
                self.running.discard(group.name)
                row.runs += 1
                row.seconds += time.monotonic() - started
                row.failures += counts.failures
            for failure in counts.failures:
                print(f"FAILED {failure}", flush=True)

    def table(self):
        rows = sorted((row for row in self.rows.values() if row.runs), key=lambda row: (-len(row.failures), row.name))
        lines = ["| test | runs | failures | seconds each | first message |", "| --- | --- | --- | --- | --- |"]
        for row in rows:
            message = str(row.failures[0]).replace("|", "\\|") if row.failures else ""
            lines.append(f"| {row.name} | {row.runs} | {len(row.failures)} | {row.seconds / row.runs:.1f} | {message} |")
        return "\n".join(lines) + "\n"


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/soak", add_help=False)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--load", type=int, default=CORES)
    parser.add_argument("--side-by-side", type=int, default=CORES + 1)
    chosen = parser.parse_args()
    chosen.side_by_side = min(chosen.side_by_side, len(PORTS) // PORTS_EACH)
    return chosen


def chosen_groups(words):
    words = [word.lower() for word in words]
    return [group for stage, groups in system_tests.known().items() for group in sorted(groups, key=lambda group: group.name)
            if not words or any(word in f"{stage} {group.name}".lower() for word in words)]


def main():
    chosen = arguments()
    groups = chosen_groups(chosen.only)
    if not groups:
        print("soak: no system test is known by that name: `make test` finds out which there are", file=sys.stderr)
        return 2
    if chosen.load and not shutil.which("stress-ng"):
        print("soak: stress-ng is missing: run scripts/setup --soak, or soak without load by --load 0", file=sys.stderr)
        return 2
    locked = lock()
    end_on_signals()
    load = subprocess.Popen(["stress-ng", "--quiet", "--cpu", str(chosen.load), "--timeout", f"{int(60 * chosen.minutes) + 900}s"], start_new_session=True) if chosen.load else None
    print(f"soak: {len(groups)} system tests, {chosen.side_by_side} side by side, {chosen.load} processes of load, "
          f"{chosen.minutes:g} minutes", flush=True)
    soak = Soak(groups, chosen.minutes)
    threads = [threading.Thread(target=soak.work) for _ in range(chosen.side_by_side)]
    try:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.5)
    finally:
        soak.deadline = 0
        if load:
            load.terminate()
            load.wait()
        soak.commands.stop()
        locked.close()
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(soak.table())
        print(soak.table(), end="")
    runs = sum(row.runs for row in soak.rows.values())
    failed = sum(bool(row.failures) for row in soak.rows.values())
    print(f"soak: {runs} runs of {sum(row.runs > 0 for row in soak.rows.values())} system tests, "
          f"{failed} of them failed; table: {PAGE.relative_to(ROOT)}")
    return 1 if failed or not runs else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

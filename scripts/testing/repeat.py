"""Repeats each failed system test alone at the end, at most twice. A test that passes then is flaky: the run passes and reports
it, unless there are too many of them or one was flaky in the previous run."""

import json
from dataclasses import dataclass

from .command import ROOT
from .results import Counts

ATTEMPTS = 2
MOST_FLAKY = 3
LIMIT_S = 900
RECORD = ROOT / "build/reports/flaky.json"


@dataclass(frozen=True)
class Flaky:
    name: str
    attempt: int  # the one that passed
    reason: str  # of the failure before

    def __str__(self):
        return f"flaky: {self.name} ({self.attempt} of {ATTEMPTS})"


def repeat(counts, commands, log_folder):
    """Runs again what may be; moves what passes from the failures to the passed ones. Returns the flaky groups."""
    flaky = []
    for group in sorted({failure.group for failure in counts.failures if failure.group}, key=lambda group: group.name):
        failures = [failure for failure in counts.failures if failure.group == group]
        if any(failure.never_repeated for failure in failures):
            continue
        for attempt in range(1, ATTEMPTS + 1):
            again = run_again(group, commands, log_folder, attempt)
            if again.passed and not again.failures and not again.skipped:  # skipped is not passed
                counts.failures = [failure for failure in counts.failures if failure.group != group]
                # All that passed now, also tests that a failure before them had kept from running.
                counts.succeed(group, max(again.passed - counts.passed_of[group], len(failures)))
                flaky.append(Flaky(group.name, attempt, str(failures[0])))
                break
            if defects := [failure for failure in again.failures if failure.never_repeated]:
                counts.failures += defects
                break
    return flaky


def run_again(group, commands, log_folder, attempt):
    log = log_folder / f"again-{''.join(c if c.isalnum() else '-' for c in group.name)}-{attempt}.log"
    ended = commands.run(group.command, log, LIMIT_S)
    counts = read(group.count, log)
    if ended.problem and not counts.failures:
        counts.fail(group.name, ended.problem)
    elif not counts.total:
        counts.fail(group.name, "no test ran")
    for failure in counts.failures:
        failure.group = group
    return counts


def read(count, log):
    """What a report says. One that cannot be read is a failure: its program died while it wrote."""
    try:
        return count(log)
    except Exception as failure:
        counts = Counts()
        counts.fail(log.stem, f"its report cannot be read: {failure!r}")
        return counts


def judge(flaky, stages_run):
    """Records what was flaky, and returns why the run fails for it, if it does. `flaky` is a dictionary from a stage's name; the
    record keeps what other stages than those of this run had before."""
    try:
        before = json.loads(RECORD.read_text())
    except (OSError, ValueError):
        before = {}
    now = {name: [vars(each) for each in flaky.get(name, [])] for name in stages_run}
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    RECORD.write_text(json.dumps({**before, **now}, indent=1) + "\n")

    problems = Counts()
    all_of_them = [each for group in flaky.values() for each in group]
    if len(all_of_them) > MOST_FLAKY:
        problems.fail("flaky", f"{len(all_of_them)} tests in one run; {MOST_FLAKY} is the limit")
    for stage, group in flaky.items():
        known = {each["name"] for each in before.get(stage, [])}
        for each in group:
            if each.name in known:
                problems.fail(each.name, f"flaky in two runs in a row: {each.reason}")
    return problems

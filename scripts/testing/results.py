"""What tests did: how many passed, which failed and why, and how a system test is run again alone."""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

# A failure that shows one of these is a defect wherever it appears, so no later success excuses it. The words of tools are
# theirs; `wrong books` and `wrong decoding` are those of our own tests, for events that are missing, doubled or changed.
NEVER_REPEATED = {
    "sanitizer": r"(?:Address|Thread|Leak|Memory|UndefinedBehavior)Sanitizer|:\d+:\d+: runtime error: |WARNING: DATA RACE",
    "hang": r"\btimed out after\b|\bhas timed out\b|\bnot done after \d+|\*\*\* Test killed",
    "crash": r"\bSIG(?:SEGV|ABRT|BUS|ILL|FPE|SYS)\b|(?i:segmentation fault|bus error|illegal instruction|floating point exception)"
             r"|\bAborted\b|\bcore dumped\b|\bkilled by signal\b|^CRASHED:|^\s*(?:\S+\.go:\d+: )?panic: |^fatal error: "
             r"|^goroutine \d+ \[|double free|stack smashing|free\(\): invalid|ended badly"
             r"|The forked VM terminated|A fatal error has been detected by the Java Runtime",
    "books": r"\bwrong books\b",
    "decoding": r"\bwrong decoding\b",
}


@dataclass(frozen=True)
class Group:
    """The smallest set of system tests that one command runs alone: a C program, a test in Go, a class in Java, a page."""
    name: str
    command: str = field(compare=False)  # for bash, from the repository's root
    count: Callable[[Path], "Counts"] = field(compare=False)  # reads the command's log, or the reports that it wrote


@dataclass
class Failure:
    name: str
    reason: str = ""
    output: str = ""  # all that is known of it, to see whether it may be run again
    group: Group | None = None  # of a system test

    def __str__(self):
        return f"{self.name}: {self.reason}" if self.reason else self.name

    @property
    def never_repeated(self):
        """Why it is not run again, or None."""
        if self.group is None:
            return "no system test"
        text = f"{self.reason}\n{self.output}"
        return next((kind for kind, pattern in NEVER_REPEATED.items() if re.search(pattern, text, re.MULTILINE)), None)


@dataclass
class Counts:
    passed: int = 0
    skipped: int = 0
    failures: list[Failure] = field(default_factory=list)
    groups: set[Group] = field(default_factory=set)  # the system tests that ran
    passed_of: Counter = field(default_factory=Counter)  # how many of the passed ones are a group's

    @property
    def total(self):
        return self.passed + self.skipped + len(self.failures)

    def add(self, other):
        self.passed += other.passed
        self.skipped += other.skipped
        self.failures += other.failures
        self.groups |= other.groups
        self.passed_of += other.passed_of

    def succeed(self, group, number=1):
        self.passed += number
        if group:
            self.passed_of[group] += number

    def fail(self, name, reason):
        self.failures.append(Failure(name, reason))

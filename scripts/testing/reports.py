"""What each test tool's own report says: how many passed, which failed, how many were skipped."""

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

LONGEST_REASON = 200


@dataclass
class Counts:
    passed: int = 0
    skipped: int = 0
    failures: list = field(default_factory=list)

    @property
    def total(self):
        return self.passed + self.skipped + len(self.failures)

    def add(self, other):
        self.passed += other.passed
        self.skipped += other.skipped
        self.failures += other.failures


def junit(paths):
    """JUnit's XML, as Maven's surefire writes it."""
    counts = Counts()
    for path in paths:
        for case in ElementTree.parse(path).iter("testcase"):
            outcomes = {child.tag: child for child in case}
            if (bad := outcomes.get("failure", outcomes.get("error"))) is not None:
                counts.failures.append(f"{case.get('classname', '')} {case.get('name')}{_reason(bad)}".strip())
            elif "skipped" in outcomes:
                counts.skipped += 1
            else:
                counts.passed += 1
    return counts


def _reason(bad: ElementTree.Element):
    lines = [line.strip() for line in (bad.get("message") or bad.text or "").splitlines()]
    return ": " + " ".join(filter(None, lines))[:LONGEST_REASON] if any(lines) else ""


def ctest(path: Path):
    """CTest's JUnit file, in which a program written with cmocka counts through its own tests."""
    counts = Counts()
    if not path.exists():
        return counts
    for case in ElementTree.parse(path).iter("testcase"):
        output = case.findtext("system-out") or ""
        failed = re.findall(r"^\[  FAILED  \] (\w+)$", output.partition("listed below")[2], re.MULTILINE)
        if case.find("failure") is not None and not failed:
            failed = ["ended badly"]
        counts.failures += [f"{case.get('name')} {name}" for name in failed]
        if case.find("skipped") is not None:
            counts.skipped += 1
        elif "[==========]" in output:
            counts.passed += sum(map(int, re.findall(r"^\[  PASSED  \] (\d+) test", output, re.MULTILINE)))
            counts.skipped += sum(map(int, re.findall(r"^\[  SKIPPED \] (\d+) test", output, re.MULTILINE)))
        elif not failed:
            counts.passed += 1
    return counts


def go(log: Path):
    """The events of `go test -json`. A test with subtests counts through them; a package that fails without a failing
    test (it does not compile, it panics outside of one) is a failure too. The reason is what a test said last."""
    ends, messages, broken_packages, parents = {}, {}, set(), set()
    for line in log.read_text(errors="replace").splitlines():
        event = _go_event(line)
        package, test = event.get("Package", event.get("ImportPath", "")), event.get("Test")
        if message := go_progress(line):
            messages[package, test] = message
        if event.get("Action") not in ("pass", "fail", "skip"):
            continue
        if test:
            ends[package, test] = event["Action"]
            parents.update((package, test[:cut.start()]) for cut in re.finditer("/", test))
        elif event["Action"] == "fail":
            broken_packages.add(package)
    counts = Counts()
    leaves = {key: action for key, action in ends.items() if key not in parents or action == "fail"}
    for (package, test), action in leaves.items():
        failed_below = any(p == package and a == "fail" and t.startswith(test + "/") for (p, t), a in leaves.items())
        if action == "fail" and not failed_below:
            reason = messages.get((package, test))
            counts.failures.append(f"{package} {test}" + (f": {reason[:LONGEST_REASON]}" if reason else ""))
        elif action == "pass":
            counts.passed += 1
        elif action == "skip":
            counts.skipped += 1
    explained = {name.split(" ")[0] for name in counts.failures}
    counts.failures += [f"{package} (whole package)" for package in sorted(broken_packages - explained)]
    return counts


def _go_event(line):
    """One event of `go test -json`; empty for what else is printed among them."""
    try:
        event = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def output_of_go(line):
    """What a test printed, of one event of `go test -json`."""
    event = _go_event(line)
    return event.get("Output", "") if event.get("Action") == "output" else ""


def go_progress(line):
    """What a test said with t.Logf or t.Errorf, without the file and line that it was called at."""
    match = re.match(r"\s+\w+\.go:\d+: (.*)", output_of_go(line))
    return match[1] if match else None


def chaos(log: Path):
    """The line that adds up all kills and outages."""
    lines = [output_of_go(line) for line in log.read_text(errors="replace").splitlines()]
    return next((line.strip() for line in reversed(lines) if line.startswith("chaos: ")), None)


def tap(log: Path):
    """Lines of the Test Anything Protocol: `ok - name`, `not ok - name`, `ok - name # skip why`."""
    counts = Counts()
    for line in log.read_text(errors="replace").splitlines():
        match = re.match(r"(not )?ok\b[ \d]*-? *(.*)", line)
        if not match:
            continue
        if match[1]:
            counts.failures.append(match[2])
        elif re.search(r"# skip", match[2], re.IGNORECASE):
            counts.skipped += 1
        else:
            counts.passed += 1
    return counts


def vectors(log: Path):
    """The vectors' runner: a test per vector and per pair of producer and consumer, less the failures that it names."""
    text = log.read_text(errors="replace")
    failures = re.findall(r"^FAILED (.*)", text, re.MULTILINE)
    closing = re.search(r"^vectors: valid=(\d+) invalid=(\d+) pairs=(\d+) failed=\d+$", text, re.MULTILINE)
    held = sum(map(int, closing.groups())) if closing else 0
    return Counts(passed=max(0, held - len(failures)), failures=failures)

"""Parses the reports of the test tools: passed tests, failures with causes, and system tests."""

import functools
import json
import re
import shlex
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from .command import ROOT
from .results import Counts, Failure, Group

LONGEST_REASON = 200


def shortened(text):
    return " ".join(text.split())[:LONGEST_REASON]


# --- JUnit -----------------------------------------------------------------------------------------------------------

def junit(paths, command=None):
    """JUnit's XML, as Maven's surefire writes it. `command` makes, of a report's path and a class, the command that runs the
    class again: of system tests."""
    counts = Counts()
    for path in paths:
        for case in ElementTree.parse(path).iter("testcase"):
            name = case.get("classname", "")
            group = None
            if command:
                group = Group(name, command(path, name), functools.partial(junit_again, path))
                counts.groups.add(group)
            outcomes = {child.tag: child for child in case}
            if (bad := outcomes.get("failure", outcomes.get("error"))) is not None:
                output = "\n".join(filter(None, [bad.get("type"), bad.text, case.findtext("system-out"), case.findtext("system-err")]))
                counts.failures.append(Failure(f"{name} {case.get('name')}".strip(),
                                               shortened(bad.get("message") or bad.text or ""), output, group))
            elif "skipped" in outcomes:
                counts.skipped += 1
            else:
                counts.succeed(group)
    return counts


def junit_again(path, _log):
    """What a class that was run again left; it removed its report before."""
    return junit([path]) if path.exists() else Counts()


def surefire_again(path, name):
    """The command that runs one class of system tests of the module that the report lies in."""
    module = path.relative_to(ROOT).parents[2]
    return (f"rm -f {shlex.quote(str(path))}; scripts/test-java system --module {shlex.quote(str(module))} "
            f"--test {shlex.quote(name)}")


# --- CTest -----------------------------------------------------------------------------------------------------------

def ctest(build, report, tests=None):
    """CTest's JUnit file, in which a program written with cmocka or Python's unittest counts through its own tests. `tests` is
    what `ctest --show-only=json-v1` wrote, which alone has the labels."""
    counts = Counts()
    if not report.exists():
        return counts
    system = labelled(tests, "system") if tests else set()
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("skipped") is not None:
            counts.skipped += 1
            continue
        name, end = case.get("name"), case.find("failure")
        group = ctest_group(build, name) if name in system else None
        output = case.findtext("system-out") or ""
        passed, skipped, failed = python_unittest(output) or cmocka(output) or (int(end is None), 0, {})
        if end is not None and not failed:
            failed = {"ended badly": cmocka_reason(output) or end.get("message", "")}  # a crash or a time-out: CTest says no more
        counts.failures += [Failure(f"{build}: {name} {test}", reason, f"{output}\n{test}", group) for test, reason in failed.items()]
        counts.succeed(group, passed)
        counts.skipped += skipped
        if group:
            counts.groups.add(group)
    return counts


def labelled(tests, label):
    return {test["name"] for test in json.loads(tests.read_text())["tests"]
            for its in test.get("properties", []) if its["name"] == "LABELS" and label in its["value"]}


def cmocka(output):
    """Of a program written with cmocka: how many tests passed, how many were skipped, and those that failed with their reasons."""
    if "[==========]" not in output:
        return None
    failed = re.findall(r"^\[  FAILED  \] (\w+)$", output.partition("listed below")[2], re.MULTILINE)
    return (sum(map(int, re.findall(r"^\[  PASSED  \] (\d+) test", output, re.MULTILINE))),
            sum(map(int, re.findall(r"^\[  SKIPPED \] (\d+) test", output, re.MULTILINE))),
            {test: cmocka_reason(output, test) for test in failed})


def cmocka_reason(output, test=""):
    """The last complaint before the test's own FAILED line, or at all."""
    before = re.split(rf"^\[  FAILED  \] {re.escape(test)}$", output, maxsplit=1, flags=re.MULTILINE)[0]
    said = [line for line in before.rpartition("[ RUN      ]")[2].splitlines()[1:] if line.strip()]
    return shortened("\n".join(said[-3:]))


UNITTEST_END = re.compile(r"^Ran (\d+) tests? in [\d.]+s$(?:\s+^\w[\w ]* \(.*?skipped=(\d+).*\)$)?", re.MULTILINE)
UNITTEST_FAILURE = re.compile(r"^={70}\n(?:FAIL|ERROR): (\S+) \((\S+)\)([^\n]*)\n(.*?)(?=^={70}$|^-{70}\nRan )", re.MULTILINE | re.DOTALL)


def python_unittest(output):
    """The same of a Python program that came to the end of its unittest; one that did not has crashed or hung."""
    end = UNITTEST_END.search(output)
    if not end:
        return None
    failed = {}
    for test, path, subtest, trace in UNITTEST_FAILURE.findall(output):
        path = path.removeprefix("__main__.").removesuffix(f".{test}")  # which has the test's name since Python 3.11
        failed[f"{path}.{test}{subtest}"] = shortened(re.split(r"^  File .*\n(?:    .*\n)*", trace, flags=re.MULTILINE)[-1])
    skipped = int(end[2] or 0)
    return max(0, int(end[1]) - skipped - len({name.partition(" ")[0] for name in failed})), skipped, failed


def ctest_group(build, name):
    report = f"build/reports/again-{build}-{name}.xml"
    command = (f"ctest --test-dir build/{build} --output-on-failure --no-tests=error -R {shlex.quote(f'^{re.escape(name)}$')} "
               f"--output-junit {shlex.quote(str(ROOT / report))} --test-output-size-passed 1000000 --test-output-size-failed 1000000")
    return Group(f"{build}: {name}", f"rm -f {shlex.quote(report)}; {command}", functools.partial(ctest_again, build, ROOT / report))


def ctest_again(build, report, _log):
    return ctest(build, report)


# --- Go --------------------------------------------------------------------------------------------------------------

def go(folder, options, log):
    """The events of `go test -json`. A test with subtests counts through them; a package that fails without a failing
    test (it does not compile, it panics outside of one) is a failure too. The reason is what a test last said of wrong books, or
    at all. A test that gave itself the attribute tag=system is a system test, with its subtests."""
    ends, outputs, broken_packages, parents, system, begun = {}, {}, set(), set(), set(), set()
    for line in log.read_text(errors="replace").splitlines():
        event = _go_event(line)
        package, test = event.get("Package", event.get("ImportPath", "")), event.get("Test")
        if event.get("Action") == "output":
            outputs.setdefault((package, test), []).append(event["Output"])
        elif event.get("Action") == "attr" and (event.get("Key"), event.get("Value")) == ("tag", "system"):
            system.add((package, test.partition("/")[0]))
        elif event.get("Action") == "run":
            begun.add((package, test))
        elif event.get("Action") in ("pass", "fail", "skip"):
            if test:
                ends[package, test] = event["Action"]
                parents.update((package, test[:cut.start()]) for cut in re.finditer("/", test))
            elif event["Action"] == "fail":
                broken_packages.add(package)
    counts = Counts()
    leaves = {key: action for key, action in ends.items() if key not in parents or action == "fail"}
    for (package, test), action in leaves.items():
        top = test.partition("/")[0]
        group = go_group(folder, options, package, top) if (package, top) in system else None
        if group and ends.get((package, top)) != "skip":
            counts.groups.add(group)
        failed_below = any(p == package and a == "fail" and t.startswith(test + "/") for (p, t), a in leaves.items())
        if action == "fail" and not failed_below:
            messages = [match[1] for text in outputs.get((package, test), []) if (match := GO_MESSAGE.match(text))]
            said = [text for (p, t), texts in outputs.items() for text in texts if p == package and (t or top).split("/")[0] == top]
            reasons = [message for message in messages if "wrong books" in message] or messages
            counts.failures.append(Failure(f"{package} {test}", shortened(reasons[-1]) if reasons else "", "".join(said), group))
        elif action == "pass":
            counts.succeed(group)
        elif action == "skip":
            counts.skipped += 1
    for package, test in sorted(begun - ends.keys()):
        counts.failures.append(Failure(f"{package} {test}", "began and did not end"))
    explained = {failure.name.split(" ")[0] for failure in counts.failures}
    for package in sorted(broken_packages - explained):
        counts.failures.append(Failure(f"{package} (whole package)", "", "".join(outputs.get((package, None), []))))
    return counts


GO_MESSAGE = re.compile(r"\s+\w+\.go:\d+: (.*)")  # of t.Logf or t.Errorf, behind the file and line that it was called at


def go_group(folder, options, package, test):
    command = f"cd {folder} && go test -json {options} -run {shlex.quote(f'^{test}$')} {shlex.quote(package)}"
    return Group(f"{package} {test}", command, functools.partial(go, folder, options))


def _go_event(line):
    """One event of `go test -json`; empty for other output."""
    try:
        event = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def output_of_go(line):
    """What a test printed, of one event of `go test -json`."""
    event = _go_event(line)
    return event.get("Output", "") if event.get("Action") == "output" else ""


def chaos(log: Path):
    """The line that adds up all kills and outages."""
    lines = [output_of_go(line) for line in log.read_text(errors="replace").splitlines()]
    return next((line.strip() for line in reversed(lines) if line.startswith("chaos: ")), None)


# --- TAP and others --------------------------------------------------------------------------------------------------

def tap(log: Path, group=None, command=None):
    """Lines of the Test Anything Protocol: `ok - name`, `not ok - name`, `ok - name # skip why`. All of a log are one group, or,
    with `command`, each line with the mark `# system` is a group of its own that command(name) runs."""
    counts = Counts()
    last, said = None, []  # the lines since the last result belong to the next one, but for comments
    for line in log.read_text(errors="replace").splitlines():
        match = re.match(r"(not )?ok\b[ \d]*-? *(.*)", line)
        if not match:
            if last and line.startswith("#"):
                last.output += line[1:].lstrip() + "\n"
            else:
                said.append(line)
            continue
        name, _, mark = match[2].partition(" # ")
        of_line = group
        if command and mark == "system":
            of_line = Group(name, command(name), functools.partial(tap, command=command))
        if of_line:
            counts.groups.add(of_line)
        last = None
        if match[1]:
            last = Failure(name, output="".join(f"{each}\n" for each in said), group=of_line)
            counts.failures.append(last)
        elif mark.lower().startswith("skip"):
            counts.skipped += 1
        else:
            counts.succeed(of_line)
        said.clear()
    for failure in counts.failures:
        failure.reason = shortened(failure.output[-LONGEST_REASON:])
    return counts


def page(name):
    """The group of the commands of one page, which stand on each other."""
    command = f"scripts/test-readme {shlex.quote(name)}"
    return Group(f"{name}'s commands", command, tap)


ODD_MACHINE = Group("README.md's commands on an odd machine", "scripts/odd-machine scripts/test-readme README.md odd", tap)


PAGE = Group("the console's page", "scripts/test-page", tap)  # its tests share a broker, an archive and a browser
API = Group("the console's service over HTTP", "scripts/test-api", tap)  # its tests share a broker and an archive


def vectors(log: Path):
    """The vectors' runner: a test per vector and per pair of producer and consumer, less the failures that it names."""
    text = log.read_text(errors="replace")
    failures = [Failure(name) for name in re.findall(r"^FAILED (.*)", text, re.MULTILINE)]
    closing = re.search(r"^vectors: valid=(\d+) invalid=(\d+) pairs=(\d+) failed=\d+$", text, re.MULTILINE)
    held = sum(map(int, closing.groups())) if closing else 0
    return Counts(passed=max(0, held - len(failures)), failures=failures)

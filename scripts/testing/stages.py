"""The stages of each tier: command, dependencies and report format."""

import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from . import reports
from .command import ROOT
from .results import Counts
from .schedule import WAITING, WORKING

BUILD = ROOT / "build"
REPORTS = BUILD / "reports"
CONTAINER_TESTS = 9  # as many have to run; count a new one here
KSQLDB_REPORTS = "stream-jobs/ksql/udf/target/surefire-reports/TEST-*.StandingQueriesTest.xml"


@dataclass(frozen=True)
class Stage:
    name: str
    kind: str  # WORKING: uses a core all the time; WAITING: mostly waits for brokers and other processes
    needs: tuple[str, ...]  # parts of scripts/build
    command: str  # for bash, from the repository's root
    count: Callable[[Path], Counts]  # reads the log or the files that the command wrote
    log_name: str
    limit_s: int = 2400  # when it is ended: a guard against what hangs, no test of speed
    after: tuple[str, ...] = ()  # stages that end before it starts, where they run at all
    explained: tuple[str, ...] = ("exit code 1",)  # how its command ends when tests failed; else something else failed, too
    inputs: tuple[str, ...] = ()  # `check` runs it only if something in these folders changed since it passed
    closing: Callable[[Path], str | None] | None = None  # the line or lines that sum the stage up
    missing: Callable[[Path], str | None] | None = None  # what did not run, asked after repetitions
    alone: bool = False  # needs the machine for itself, and runs after the others

    @property
    def log(self):
        return BUILD / "log" / f"test-{self.log_name}.log"


# --- C ---------------------------------------------------------------------------------------------------------------

def c_tests(name, kind, build, jobs, *options, inputs=()):
    report, tests = f"build/reports/ctest-{build}.xml", f"build/reports/ctest-{build}.json"
    command = (f"rm -f {report} {tests}; ctest --test-dir build/{build} --show-only=json-v1 >{tests}; "
               f"ctest --test-dir build/{build} -j{jobs} --output-on-failure --no-tests=error {' '.join(options)} "
               f"--output-junit '{ROOT}/{report}' --test-output-size-passed 1000000 --test-output-size-failed 1000000")
    part = {"emitter": "c"}.get(build, build)
    return Stage(name, kind, (part,), command, lambda _log: reports.ctest(build, ROOT / report, ROOT / tests), f"ctest-{build}",
                 explained=("exit code 8",), inputs=inputs)


# --- Java ------------------------------------------------------------------------------------------------------------

ARCHIVES = ("io.lifeline.jobs.archive",)
KAFKA = ("io.lifeline.jobs.kafka", "io.lifeline.connect")


def java_reports(tier, packages=(), all_but=()):
    """Of all tests; or of those in these packages; or of those in no such package."""
    def is_in(path, some):
        return any(path.match(f"TEST-{package}.*") for package in some)

    return sorted(path for path in ROOT.glob(f"**/target/{'surefire' if tier == 'unit' else 'system'}-reports/TEST-*.xml")
                  if not path.is_relative_to(ROOT / "tests/containers") and not path.is_relative_to(BUILD)
                  and not path.match("*.StandingQueriesTest.xml")
                  and (not packages or is_in(path, packages)) and not is_in(path, all_but))


def java_tests(name, kind, tier, log_name, packages=(), all_but=(), **others):
    again = reports.surefire_again if tier == "system" else None
    command = " ".join(["scripts/test-java", tier, *(f"--package {each}" for each in packages), *(f"--all-but {each}" for each in all_but)])
    return Stage(name, kind, ("java",), command, lambda _log: reports.junit(java_reports(tier, packages, all_but), again), log_name, **others)


def container_again(path, name):
    return f"rm -f '{path}'; scripts/test-containers {name.rpartition('.')[2]}"


def line_of(subject, log):
    """What the log's line `subject: ...` says, or nothing."""
    found = re.search(rf"^{subject}: (.*)", log.read_text(errors="replace"), re.MULTILINE)
    return found[1] if found else ""


def container_reports():
    return sorted(ROOT.glob("tests/containers/target/surefire-reports/TEST-*.xml"))


def missing_container_tests(log):
    """Where there is an engine all have to run, but for ksqlDB's, whose image may be missing."""
    counts = reports.junit(container_reports())
    ran = counts.total - counts.skipped
    return None if "LEFT OUT" in line_of("containers", log) or ran >= CONTAINER_TESTS else f"only {ran} of {CONTAINER_TESTS} tests ran"


def container_tests(log):
    """No engine, no tests: they count as skipped."""
    counts = reports.junit(container_reports(), container_again)
    if "LEFT OUT" in line_of("containers", log):
        counts.skipped += CONTAINER_TESTS
    counts.add(reports.junit(sorted(ROOT.glob(KSQLDB_REPORTS))))
    if "LEFT OUT" in line_of("ksqldb", log):
        counts.skipped += 1
    return counts


def containers_line(log):
    if left_out := line_of("containers", log):
        return f"containers: {left_out}"
    return "\n".join(f"{subject}: {line_of(subject, log) or 'unknown'}" for subject in ("engine", "ksqldb"))


# --- Go and Python ---------------------------------------------------------------------------------------------------

def go_tests(name, kind, needs, folder, options, log_name, packages="./...", environment="", **others):
    return Stage(name, kind, needs, f"cd {folder} && {environment} go test -vet=off -json {options} {packages}",
                 functools.partial(reports.go, folder, options), log_name, **others)


def folders_with_python_tests():
    found = {path.parent.relative_to(ROOT) for path in ROOT.glob("*/**/test_*.py")}
    return sorted(str(folder) for folder in found if folder.parts[0] != "build" and "target" not in folder.parts)


def python_tests(*options):
    return f"python3 -m testing.tap_unittest {' '.join(options)} {' '.join(folders_with_python_tests())}"


def python_again(name):
    return python_tests("--test", name)


# --- The tiers -------------------------------------------------------------------------------------------------------

VECTORS = Stage("vectors: every producer against every consumer", WORKING, ("c", "go", "java"), "schemas/vectors/run.py",
                reports.vectors, "vectors", inputs=("schemas", "emitter", "pom.xml", "scripts"))
LINT = Stage("lint", WORKING, (), "scripts/lint", reports.tap, "lint", inputs=(".",))
JAVA_UNIT = java_tests("Java, unit tests", WORKING, "unit", "java-unit", inputs=("pom.xml", "schemas", "stream-jobs", "connectors", "console/service", "tests/cases", "tests/servers", "scripts"))
CODEC = go_tests("Go codec", WORKING, ("go",), "schemas/go", "-count=1", "go", inputs=("schemas", "scripts"))
PYTHON = Stage("Python", WAITING, ("c", "go", "java"), python_tests(), functools.partial(reports.tap, command=python_again), "python")
CHAOS_OPTIONS = "-count=1 -timeout 85m"
CHAOS = go_tests("chaos: kills and outages during millions of events", WAITING, ("c", "go", "java", "crash"), "tests",
                 CHAOS_OPTIONS, "chaos", "./chaos", limit_s=5400, closing=reports.chaos)
CHAOS_QUICK = go_tests("chaos, the short form", WAITING, ("c", "go", "java", "crash"), "tests", "-count=1 -short -timeout 38m",
                       "chaos", "./chaos", closing=reports.chaos)


def fuzzing(language, needs, **others):
    return Stage(f"fuzzing {language}, briefly", WORKING, needs, f"scripts/fuzz --seconds 5 {language.lower()}", reports.tap,
                 f"fuzz-{language.lower()}", **others)


def end_to_end(*packages):
    return go_tests("end to end", WAITING, ("c", "go", "java", "crash"), "tests", "-count=1 -short -timeout 38m", "end-to-end",
                    " ".join(packages))


# In start order, longest first; those that run alone are last.
WITHOUT_CHAOS = [
    java_tests("Java, with Kafka", WAITING, "system", "java-kafka", KAFKA),
    java_tests("Java, with brokers", WAITING, "system", "java-system", all_but=ARCHIVES + KAFKA),
    Stage("images for containers", WORKING, ("c", "go", "java"), "scripts/test-containers --images", reports.tap, "images"),
    java_tests("Java, with archives", WAITING, "system", "java-system-archives", ARCHIVES),
    JAVA_UNIT,
    c_tests("C under address and undefined behaviour sanitizers", WORKING, "asan", 2),
    end_to_end("./copy", "./demo", "./dev", "./kubernetes", "./unharmed"),
    # The sink for Kafka is tested where the sanitizers look on: half of the work is Kafka's, and would be done twice.
    c_tests("C", WAITING, "emitter", 2, "-E '^sink-kafka$'"),
    Stage("page", WAITING, ("c", "go", "java"), "scripts/test-page",
          functools.partial(reports.tap, group=reports.PAGE), "page"),
    c_tests("C under thread sanitizer", WORKING, "tsan", 2),
    go_tests("generator fleet", WAITING, ("go", "java"), "loadgen", "-count=1 -timeout 38m", "fleet"),
    # Early for its length: another stage waits for it.
    Stage("README commands", WAITING, ("c", "go", "java"), "scripts/test-readme README.md",
          functools.partial(reports.tap, group=reports.page("README.md")), "readme"),
    Stage("README commands of the connectors", WAITING, ("c", "go", "java"), "scripts/test-readme connectors/README.md",
          functools.partial(reports.tap, group=reports.page("connectors/README.md")), "readme-connectors"),
    PYTHON,
    LINT,
    Stage("console's service over HTTP", WAITING, ("c", "go", "java"), "scripts/test-api",
          functools.partial(reports.tap, group=reports.API), "api"),
    go_tests("generator fleet's study", WAITING, ("go", "java"), "loadgen/study", "-count=1 -timeout 38m", "study"),
    Stage("README commands on an odd machine", WAITING, ("c", "go", "java"), reports.ODD_MACHINE.command,
          functools.partial(reports.tap, group=reports.ODD_MACHINE), "readme-odd", after=("README commands",)),
    fuzzing("Java", ("java",), after=(JAVA_UNIT.name,)),  # it writes reports of the same tests
    fuzzing("C", ("c",)),
    fuzzing("Go", ("go",)),
    Stage("the installed package", WORKING, ("c", "go", "java"), "scripts/test-install", reports.tap, "install"),
    VECTORS,
    c_tests("C with crash points", WAITING, "crash", 2, "-R '^emitter[.](recovery|session|spool_kill)$'"),
    CODEC,
    Stage("containers", WAITING, ("c", "go", "java"),
          f"rm -rf tests/containers/target/surefire-reports {KSQLDB_REPORTS}; scripts/test-containers",
          container_tests, "containers", closing=containers_line, missing=missing_container_tests, alone=True),
]

UNIT = [
    LINT,
    c_tests("C, unit tests", WORKING, "emitter", 2, "-LE system", inputs=("emitter", "schemas", "examples", "tests", "scripts")),
    JAVA_UNIT,
    VECTORS,
    CODEC,
    go_tests("generator fleet, unit tests", WORKING, ("go",), "loadgen", "", "fleet-unit", environment="LIFELINE_TESTS=unit", inputs=(".",)),
    go_tests("generator fleet's study, unit tests", WORKING, ("go",), "loadgen/study", "", "study-unit", environment="LIFELINE_TESTS=unit",
             inputs=(".",)),
    Stage("Python, unit tests", WORKING, ("c", "go"), python_tests("--unit"), reports.tap, "python-unit", inputs=(".",)),
]

TIERS = {
    "check": UNIT,
    "quick": WITHOUT_CHAOS[:3] + [CHAOS_QUICK] + WITHOUT_CHAOS[3:],
    "chaos": [CHAOS],
    "chaos-quick": [CHAOS_QUICK],
    "all": [CHAOS] + WITHOUT_CHAOS,
}

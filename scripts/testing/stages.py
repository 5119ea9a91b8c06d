"""The stages of each tier: what runs, how its report is read, and how long it may take on 2 cores."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from . import reports

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
CONTAINER_TESTS = 12  # as many have to run; whoever writes one more counts it here
KSQLDB_REPORTS = "stream-jobs/ksql/udf/target/surefire-reports/TEST-*.StandingQueriesTest.xml"
REPORTS = BUILD / "reports"


@dataclass(frozen=True)
class Stage:
    name: str
    budget_s: int  # what it should take at most on 2 cores
    command: str  # for bash, from the repository's root
    count: Callable[[Path], reports.Counts]  # reads the log or the files that the command wrote
    log_name: str
    progress: Callable[[str], str | None] | None = None  # what of a line of the log is shown while the stage runs
    closing: Callable[[Path], str | None] | None = None  # the line or lines that sum the stage up

    @property
    def log(self):
        return BUILD / "log" / f"test-{self.log_name}.log"

    @property
    def limit_s(self):
        """When it is ended. A guard against what hangs and no test of speed: a slow machine must not fail a good change."""
        return max(600, 6 * self.budget_s)


def builds_only(_log):
    return reports.Counts()


def c_tests(name, build, budget_s):
    report = REPORTS / f"ctest-{build}.xml"
    command = (f"ctest --test-dir build/{build} -j2 --output-on-failure --no-tests=error --output-junit {report} "
               "--test-output-size-passed 1000000 --test-output-size-failed 1000000")
    return Stage(name, budget_s, f"rm -f {report}; {command}", lambda _log: reports.ctest(report), f"ctest-{build}")


def surefire_reports(_log):
    return reports.junit(sorted(ROOT.glob("**/target/surefire-reports/TEST-*.xml")))


def container_reports():
    """What ran in containers, and how many that is. Skipped ones have not run."""
    counts = reports.junit(sorted(ROOT.glob("tests/containers/target/surefire-reports/TEST-*.xml")))
    return counts, counts.total - counts.skipped


def container_tests(log):
    """An engine or an image that is missing must not look like success. Only ksqlDB's may be, of which a line tells."""
    counts, ran = container_reports()
    if ran < CONTAINER_TESTS:
        counts.failures.append(f"only {ran} of {CONTAINER_TESTS} tests in containers ran")
    counts.add(reports.junit(sorted(ROOT.glob(KSQLDB_REPORTS))))
    if "LEFT OUT" in line_of("ksqldb", log):
        counts.skipped += 1
    return counts


def line_of(subject, log):
    """What the log's line `subject: ...` says, or nothing."""
    found = re.search(rf"^{subject}: (.*)", log.read_text(errors="replace"), re.MULTILINE)
    return found[1] if found else ""


def containers_line(log):
    _, ran = container_reports()
    lines = [f"containers: {ran} tests ran, {CONTAINER_TESTS} have to; {line_of('engine', log) or 'no engine'}",
             f"ksqldb: {line_of('ksqldb', log) or 'its tests did not run'}"]
    return "\n".join(lines)


def folders_with_python_tests():
    found = {path.parent.relative_to(ROOT) for path in ROOT.glob("*/**/test_*.py")}
    return sorted(str(folder) for folder in found if folder.parts[0] != "build" and "target" not in folder.parts)


def go_test(folder, options, packages="./..."):
    return f"(cd {folder} && go test -json {options} {packages})"


QUICK = [
    Stage("build", 150, "scripts/build c go java asan tsan crash", builds_only, "build"),
    Stage("vectors: every producer against every consumer", 10, "schemas/vectors/run.py",
          reports.vectors, "vectors"),
    c_tests("C", "emitter", 200),
    c_tests("C under address and undefined behaviour sanitizers", "asan", 150),
    c_tests("C under thread sanitizer", "tsan", 120),
    Stage("Go codec", 10, go_test("schemas/go", "-vet=all"), reports.go, "go"),
    Stage("generator fleet", 140, go_test("loadgen", "-count=1 -timeout 10m -vet=all"), reports.go, "fleet"),
    Stage("Java", 540,
          "find . -path '*/target/surefire-reports/TEST-*.xml' -delete; "
          "mvn -q -B -Dstyle.color=never --fail-at-end verify", surefire_reports, "java"),
    Stage("Python", 20, f"python3 -m testing.tap_unittest {' '.join(folders_with_python_tests())}",
          reports.tap, "python"),
    Stage("the installed package", 10, "scripts/test-install", reports.tap, "install"),
    Stage("end to end, with the short form of chaos", 230, go_test("tests", "-count=1 -short -timeout 14m"), reports.go,
          "end-to-end", closing=reports.chaos),
    Stage("containers", 460, f"rm -rf tests/containers/target/surefire-reports {KSQLDB_REPORTS}; scripts/test-containers",
          container_tests, "containers", closing=containers_line),
    Stage("README commands", 50, "scripts/test-readme", reports.tap, "readme"),
    Stage("README commands of the connectors", 75, "scripts/test-readme connectors/README.md", reports.tap,
          "readme-connectors"),
    Stage("fuzzing, briefly", 80, "scripts/fuzz --seconds 10", reports.tap, "fuzz"),
    Stage("lint", 20, "scripts/lint", reports.tap, "lint"),
]

CHAOS = [
    Stage("build", 180, "scripts/build c go java crash", builds_only, "build"),
    Stage("chaos: kills and outages during millions of events", 2100,
          go_test("tests", "-count=1 -timeout 85m", "./chaos"), reports.go, "chaos", reports.go_progress, reports.chaos),
]

CHAOS_QUICK = [
    CHAOS[0],
    Stage("chaos, the short form", 180, go_test("tests", "-count=1 -short -timeout 14m", "./chaos"), reports.go, "chaos",
          reports.go_progress, reports.chaos),
]

TIERS = {"quick": QUICK, "chaos": CHAOS, "chaos-quick": CHAOS_QUICK}

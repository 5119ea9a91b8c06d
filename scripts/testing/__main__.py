"""Builds the stages' dependencies, runs the stages in parallel, repeats failed system tests, and prints the sum."""

import argparse
import json
import sys
import time
from dataclasses import dataclass

from . import repeat, system_tests, unchanged
from .command import ROOT, Commands, end_on_signals, lock
from .pressure import Meter
from .results import Counts
from .schedule import run_all
from .stages import BUILD, REPORTS, TIERS

BUILD_LIMIT_S = 3600


@dataclass
class Result:
    counts: Counts
    seconds: float
    cpu_s: float

    def __str__(self):
        parts = [f"{self.counts.passed} passed"]
        if self.counts.failures:
            parts.append(f"{len(self.counts.failures)} FAILED")
        if self.counts.skipped:
            parts.append(f"{self.counts.skipped} skipped")
        return ", ".join(parts)


def run(stage, commands, mark):
    """`mark` is the fingerprint of the stage's inputs before they were built, to know them again."""
    ended = commands.run(stage.command, stage.log, stage.limit_s)
    counts = repeat.read(stage.count, stage.log)
    problem = ended.problem or (None if counts.total else "no test ran")
    if problem and (not counts.failures or problem not in stage.explained):
        counts.fail(stage.name, problem)
    if mark and not counts.failures and (not counts.skipped or "LIFELINE_TESTS=unit" in stage.command):
        unchanged.record(stage, mark)
    return Result(counts, ended.seconds, ended.cpu_s)


def build(stages, commands):
    """Why nothing can run, or None."""
    parts = [part for part in ("c", "go", "java", "asan", "tsan", "crash") if any(part in stage.needs for stage in stages)]
    if not parts:
        return None
    print(f"build ({' '.join(parts)}) ... ", end="", flush=True)
    log = BUILD / "log/test-build.log"
    ended = commands.run(f"scripts/build --before-tests {' '.join(parts)}", log, BUILD_LIMIT_S)
    print(f"FAILED: {ended.problem}" if ended.problem else f"{ended.seconds:.0f} s", flush=True)
    if ended.problem:
        print("".join(f"    {line}\n" for line in log.read_text(errors="replace").splitlines()[-30:]), end="")
        return f"the build: {ended.problem}; its log is {log.relative_to(ROOT)}"
    return None


def run_stages(stages, commands, marks):
    """The results by the stages' names. Says how each went, in the order in which they end."""
    results = {}

    def on_end(stage, result, running):
        results[stage.name] = result
        others = f"   [still: {', '.join(running)}]" if running else ""
        print(f"[{len(results)}/{len(stages)}] {stage.name}: {result}, {result.seconds:.0f} s, {result.cpu_s:.0f} s of processor{others}", flush=True)
        for failure in result.counts.failures:
            print(f"    FAILED {failure}", flush=True)

    run_all(stages, lambda stage: run(stage, commands, marks.get(stage.name)), on_end)
    return results


def run_again(stages, results, commands):
    """Flaky tests by stage. Moves them from the failures to the passed tests."""
    flaky = {}
    for stage in stages:
        counts = results[stage.name].counts
        if any(failure.never_repeated is None for failure in counts.failures):
            print(f"again, alone: {stage.name} ...", flush=True)
            flaky[stage.name] = repeat.repeat(counts, commands, BUILD / "log")
    return flaky


def summary(stages, results):
    """A line per stage, in order, with what it took."""
    width = max(len(stage.name) for stage in stages)
    for stage in stages:
        result = results[stage.name]
        print(f"{stage.name:{width}}  {result.seconds:6.0f} s {result.cpu_s:6.0f} s of processor  {result}")
    document = [{"stage": stage.name, "seconds": round(results[stage.name].seconds, 1), "processor_seconds": round(results[stage.name].cpu_s, 1),
                 "passed": results[stage.name].counts.passed, "failed": [str(each) for each in results[stage.name].counts.failures],
                 "skipped": results[stage.name].counts.skipped} for stage in stages]
    (REPORTS / "stages.json").write_text(json.dumps(document, indent=1) + "\n")


def close(tier, stages, results, flaky, times):
    total = Counts()
    for stage in stages:
        total.add(results[stage.name].counts)
        if stage.missing and (missing := stage.missing(stage.log)):
            total.fail(stage.name, missing)
    total.add(repeat.judge(flaky, [stage.name for stage in stages]))
    print()
    summary(stages, results)
    print(times)
    for failure in total.failures:
        print(f"FAILED {failure}")
    for each in (each for group in flaky.values() for each in group):
        print(each)
    closing = [stage.closing(stage.log) for stage in stages if stage.closing]
    sums = [f"{total.passed} passed, {len(total.failures)} failed, {total.skipped} skipped"]
    # the tier's own line comes last: chaos is known by its figures, everything else by what passed
    print("\n".join(filter(None, sums + closing if tier.startswith("chaos") else closing + sums)), flush=True)
    return 1 if total.failures else 0


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/test")
    parser.add_argument("--tier", choices=TIERS, default="quick")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--list", action="store_true")
    chosen = parser.parse_args()
    words = [word.lower() for word in chosen.only]
    stages = [stage for stage in TIERS[chosen.tier] if not words or any(word in stage.name.lower() for word in words)]
    if not stages:
        parser.error(f"no stage has such a name: {', '.join(chosen.only)}; see --list")
    return chosen, stages


def main():
    chosen, stages = arguments()
    if chosen.list:
        print("\n".join(f"{stage.kind:8}  {stage.name}" for stage in stages))
        return 0
    if chosen.tier == "check":
        skipped = [stage.name for stage in stages if unchanged.is_unchanged(stage)]
        stages = [stage for stage in stages if stage.name not in skipped]
        if skipped:
            print(f"unchanged since it passed: {', '.join(skipped)}", flush=True)
        if not stages:
            print("0 passed, 0 failed, 0 skipped")
            return 0

    locked = lock()
    REPORTS.mkdir(parents=True, exist_ok=True)
    commands = Commands()
    end_on_signals()
    marks = {stage.name: unchanged.fingerprint(stage) for stage in stages if stage.inputs}
    started, pressure = time.monotonic(), Meter()
    try:
        if problem := build(stages, commands):
            print(f"FAILED {problem}\n0 passed, 1 failed, 0 skipped")
            return 1
        built = time.monotonic()
        results = run_stages(stages, commands, marks)
        flaky = run_again(stages, results, commands)
    finally:
        commands.stop()
        locked.close()
    times = (f"{(time.monotonic() - built) / 60:.1f} minutes, after {(built - started) / 60:.1f} for the build; "
             f"logs in {BUILD.relative_to(ROOT)}/log\n{pressure}")
    status = close(chosen.tier, stages, results, flaky, times)
    system_tests.record({stage.name: results[stage.name].counts.groups for stage in stages})
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

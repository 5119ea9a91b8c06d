"""Runs the stages one after the other, says how each went, and closes with the sum."""

import argparse
import os
import signal
import subprocess
import sys
import time

from .reports import Counts
from .stages import BUILD, REPORTS, ROOT, TIERS, builds_only


def run_logged(stage):
    """Runs the stage's command in a process group of its own, so that a stage that is ended leaves nothing behind.
    Returns why it failed, or None."""
    stage.log.parent.mkdir(parents=True, exist_ok=True)
    with stage.log.open("wb") as log:
        process = subprocess.Popen(["bash", "-c", stage.command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = wait(process, stage)
            return None if code == 0 else f"exit code {code}"
        except subprocess.TimeoutExpired:
            return f"not done after {stage.limit_s} s"
        finally:
            end_group(process)


def wait(process, stage):
    """The process's exit code. While it runs, what it says of its progress is shown."""
    if stage.progress is None:
        return process.wait(stage.limit_s)
    deadline = time.monotonic() + stage.limit_s
    print(flush=True)
    with stage.log.open(errors="replace") as log:
        rest = ""
        while True:
            ended = process.poll() is not None
            *lines, rest = (rest + log.read()).split("\n")
            for text in filter(None, map(stage.progress, lines)):
                print(f"    {text}", flush=True)
            if ended:
                return process.returncode
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(process.args, stage.limit_s)
            time.sleep(0.5)


def end_group(process):
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            continue
        time.sleep(0.2)
    process.wait()


def run(stage):
    failure = run_logged(stage)
    counts = stage.count(stage.log)
    if counts.total == 0 and stage.count is not builds_only and not failure:
        failure = "no test ran"
    if failure and not counts.failures:
        counts.failures.append(f"{stage.name}: {failure}")
    return counts


def describe(stage, counts, seconds):
    parts = [f"{seconds:.0f} s"]
    if counts.total:
        parts.append(f"{counts.passed} passed")
    if counts.failures:
        parts.append(f"{len(counts.failures)} FAILED")
    if counts.skipped:
        parts.append(f"{counts.skipped} skipped")
    if seconds > stage.budget_s:
        parts.append(f"over its budget of {stage.budget_s} s")
    return ", ".join(parts)


def main():
    parser = argparse.ArgumentParser(prog="scripts/test")
    parser.add_argument("--tier", choices=TIERS, default="quick")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    stages = [stage for stage in TIERS[arguments.tier]
              if not arguments.only or any(word in stage.name for word in arguments.only)]
    if not stages:
        parser.error("no stage has such a name: see --list")
    if arguments.list:
        for stage in stages:
            print(f"{stage.budget_s:5d} s  {stage.name}")
        return 0

    REPORTS.mkdir(parents=True, exist_ok=True)
    total = Counts()
    closing_lines = []
    started = time.monotonic()
    for number, stage in enumerate(stages, 1):
        print(f"[{number}/{len(stages)}] {stage.name} ... ", end="", flush=True)
        stage_started = time.monotonic()
        counts = run(stage)
        print(("    " if stage.progress else "") + describe(stage, counts, time.monotonic() - stage_started), flush=True)
        if stage.closing and stage.closing(stage.log):
            closing_lines.append(stage.closing(stage.log))
        for failure in counts.failures:
            print(f"    FAILED {failure}")
        if counts.failures:
            print(f"    log: {stage.log.relative_to(ROOT)}")
        total.add(counts)
        if stage.name == "build" and counts.failures:
            print("    nothing else can run without the build")
            break
    print(f"{(time.monotonic() - started) / 60:.1f} minutes; logs in {BUILD.relative_to(ROOT)}/log")
    sums = [f"{total.passed} passed, {len(total.failures)} failed, {total.skipped} skipped"]
    # the tier's own line comes last: chaos is known by its figures, everything else by what passed
    print("\n".join(sums + closing_lines if arguments.tier.startswith("chaos") else closing_lines + sums), flush=True)
    return 1 if total.failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

"""The rate at which `lifeline-jobs tail` prints what a broker holds."""

import re
import subprocess
import time

from .. import machine
from ..processes import ROOT, broker, emit
from ..processors import Others
from ..figures.row import Row

EVENTS, EVENTS_QUICK = 10_000_000, 100_000  # enough for the second in which a Java process starts not to matter
LIMIT_S = 900
OPTIONS = {"tail.rate.columns": [], "tail.rate.json": ["--json"]}


def printed(url, events, options):
    """Seconds from the start to the end of a `tail` that prints so many events."""
    command = [ROOT / "scripts/lifeline-jobs", "tail", "--broker", url, "--from", "0", "--count", str(events), *options]
    started = time.monotonic()
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"lifeline-jobs tail did not print {events:,} events within {LIMIT_S} s") from error
    seconds = time.monotonic() - started
    if done.returncode or not re.search(rf"^events={events} skipped=0 ", done.stderr, re.MULTILINE):
        raise RuntimeError(f"lifeline-jobs tail ended with {done.returncode}, of {events:,} events: {done.stderr[-2000:]}")
    return seconds


def row(case, server, events, runs, commit):
    with Others(server.pid) as others:
        seconds = [printed(server.url, events, OPTIONS[case.name]) for _ in range(runs)]
    return Row(case, [events / each for each in seconds], events, {"seconds": [round(each, 2) for each in seconds]}, others.share,
               commit)


def measure(chosen, runs, quick):
    commit = machine.profile()["commit"]
    events = EVENTS_QUICK if quick else EVENTS
    with broker("nats") as server:
        emit(server.url, events)
        return [row(case, server, events, runs, commit) for case in chosen]

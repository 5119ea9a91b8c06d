"""Runs the benchmark's programs (emitter/bench): each prints rows as JSON."""

import json
import os

from ..processes import BIN, run
from .row import Row


def environment(**settings):
    """Ours, without what the caller may have set for Lifeline."""
    clean = {key: None for key in os.environ if key.startswith("LIFELINE")}
    return clean | {f"LIFELINE_{key}": str(value) for key, value in settings.items()}


def measure(case, program, *arguments, settings=None, path=BIN):
    """One row from a program that prints one."""
    output = run(path / program, "--name", case.name, *arguments, environment=environment(**(settings or {})))
    return parse(case, json.loads(output))


def parse(case, found):
    return Row(case, found["values"], found.get("floors", []), found["lost"], found["noise"], found.get("details", {}))


def measured_quietly(case, repetitions, once):
    """Rows of single repetitions: once() again for those that others disturbed, at most twice as often in all."""
    quiet, all_rows = [], []
    while len(quiet) < repetitions and len(all_rows) < 2 * repetitions:
        all_rows.append(once())
        if not all_rows[-1].noise["disturbed"]:
            quiet.append(all_rows[-1])
    return quiet if 2 * len(quiet) >= repetitions else all_rows

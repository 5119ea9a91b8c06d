"""Runs rounds of all modes until the time is used up, and keeps every value in results/bench/file-server.json."""

import argparse
import json
import os
import random
import shlex
import signal
import sys
import tempfile
import time
from pathlib import Path

from .. import machine
from ..machine import ROOT
from ..processes import run
from .measure import SIZE, measure
from .servers import IDLE, MODES, lacking

FETCHES = {1: 400, 5: 80, 20: 50}  # clients -> files of 4 MiB that each fetches: at least the paper's 200 MB in a session, for a second or more
LEAST_ROUNDS = 3


def cells():
    return [(server, clients) for server in IDLE for clients in FETCHES]


def measured(minutes, divisor):
    """Rounds, each with every cell in every mode, in random order within a cell: what slows the machine down slows all modes of a
    cell down. Gives cell -> mode -> a value per round."""
    values = {cell: {mode: [] for mode in MODES} for cell in cells()}
    began, longest, rounds = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory(prefix="lifeline-file-server.", dir="/dev/shm") as name:
        folder = Path(name)
        (folder / "data").mkdir()
        (folder / "data/file").write_bytes(os.urandom(SIZE))
        (folder / "data").chmod(0o555)
        while rounds < LEAST_ROUNDS or time.monotonic() - began + longest <= minutes * 60:
            started = time.monotonic()
            for server, clients in values:
                for mode in random.sample(list(MODES), len(MODES)):
                    values[server, clients][mode].append(measure(server, clients, mode, FETCHES[clients] // divisor, folder))
            rounds += 1
            longest = max(longest, time.monotonic() - started)
            print(f"round {rounds}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return values


def main():
    parser = argparse.ArgumentParser(prog="scripts/results-fileserver")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if why := lacking():
        raise SystemExit(f"results-fileserver: {why}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers are stopped then, too
    began = time.monotonic()
    try:
        values = measured(0, 10) if options.quick else measured(options.minutes, 1)
    except RuntimeError as error:
        raise SystemExit(f"results-fileserver: {error}") from error
    document = {"command": shlex.join(["scripts/results-fileserver", *sys.argv[1:]]), "seconds": round(time.monotonic() - began),
                "machine": machine.profile(), "file_bytes": SIZE,
                "cells": [{"server": server, "clients": clients, "fetches": FETCHES[clients], "values": modes} for (server, clients), modes in values.items()]}
    path = ROOT / ("build/bench" if options.quick else "results/bench") / "file-server.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document) + "\n", encoding="utf-8")
    print(f"results-fileserver: {path.relative_to(ROOT)} written")
    if not options.quick:
        print(run(ROOT / "scripts/results"), end="")


if __name__ == "__main__":
    main()

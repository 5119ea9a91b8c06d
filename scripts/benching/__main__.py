"""Runs the measurements, saves each, and prints the table."""

import argparse
import shlex
import sys

from . import archive, brokers, decode
from .machine import ROOT, Noise
from .measurement import save, table

SUITES = {
    "decode": decode.measure,
    "archive": archive.measure,
    "nats": lambda quick, _earlier: brokers.measure("nats", quick),
    "kafka": lambda quick, _earlier: brokers.measure("kafka", quick),
}


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    arguments = parser.parse_args()
    chosen = [name for name in SUITES if not arguments.only or any(word in name for word in arguments.only)]
    if not chosen:
        parser.error(f"no such measurement; there are {', '.join(SUITES)}")
    folder = ROOT / ("build/bench" if arguments.quick else "results/bench")
    command = shlex.join(["scripts/bench", *sys.argv[1:]])
    measurements, failed = [], []
    for number, name in enumerate(chosen, 1):
        print(f"[{number}/{len(chosen)}] {name} ...", file=sys.stderr, flush=True)
        try:
            with Noise() as noise:
                found = SUITES[name](arguments.quick, {m.name: m for m in measurements})
        except RuntimeError as error:
            failed.append(f"{name}: {error}")
            continue
        for measurement in found:
            save(measurement, folder, command, noise)
        measurements += found
        if noise.foreign_share > 0.1:
            print(f"    {noise.foreign_share:.0%} of the processors went to others meanwhile: trust the ratios only",
                  file=sys.stderr)
    print(table(measurements))
    for failure in failed:
        print(f"FAILED {failure}", file=sys.stderr)
    print(f"bench: figures={len(measurements)} failed={len(failed)} written to {folder.relative_to(ROOT)}")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

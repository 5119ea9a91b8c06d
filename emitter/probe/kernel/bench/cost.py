#!/usr/bin/env python3
"""Cost of kernel events per context switch.

    cost.py --bin FOLDER [--pairs N] [--seconds S] [--views LIST] [--source NAME] [--mode futex|pipe] [--json]

Two threads wake each other as fast as they can (pingpong), in alternating runs without and with lifeline-probe --kernel.
Both are measured by the CPU time of the threads per switch, which includes what the kernel's programs cost; the probe's
own CPU time is added. Prints medians, the range of the middle half, and a 95 % confidence interval of the difference of
pairs (bootstrap), and what that is at 100,000 switches per second. Needs the rights that the source needs. Python's
standard library only.
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path


def run_pingpong(arguments):
    """CPU nanoseconds per switch, and the number of switches."""
    done = subprocess.run([arguments.bin / "pingpong", arguments.mode, str(arguments.seconds)], check=True,
                          capture_output=True, text=True)
    switches, _, cpu = map(float, done.stdout.split())
    return cpu / switches * 1e9, switches


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_idle(pid):
    """Loading the programs takes the kernel a moment."""
    time.sleep(0.5)
    used = -1
    while used != cpu_seconds(pid):
        used = cpu_seconds(pid)
        time.sleep(0.3)


def run_with_probe(arguments):
    """The same while the probe watches this process and its children; the probe's own CPU time is shared out."""
    probe = subprocess.Popen([arguments.bin / "lifeline-probe", "--url", "null:", "--sample", "process", "--pid",
                              str(os.getpid()), "--kernel", arguments.views, "--kernel-source", arguments.source],
                             stdout=subprocess.DEVNULL)
    try:
        wait_until_idle(probe.pid)
        before = cpu_seconds(probe.pid)
        cost, switches = run_pingpong(arguments)
        own = cpu_seconds(probe.pid) - before
    finally:
        probe.send_signal(signal.SIGTERM)
        if probe.wait() != 0:
            sys.exit("cost.py: the probe failed")
    return cost, own / switches * 1e9


def quartiles(values):
    low, _, high = statistics.quantiles(values, n=4)
    return {"median": statistics.median(values), "low": low, "high": high}


def interval(differences, random_numbers):
    medians = sorted(statistics.median(random_numbers.choices(differences, k=len(differences))) for _ in range(5000))
    return medians[int(0.025 * len(medians))], medians[int(0.975 * len(medians))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="folder with lifeline-probe and pingpong")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--views", default="sched,offcpu")
    parser.add_argument("--source", default="ebpf")
    parser.add_argument("--mode", choices=["futex", "pipe"], default="futex")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    without, with_probe, own = [], [], []
    for _ in range(arguments.pairs):
        without.append(run_pingpong(arguments)[0])
        cost, of_probe = run_with_probe(arguments)
        with_probe.append(cost)
        own.append(of_probe)
    differences = [b - a + c for a, b, c in zip(without, with_probe, own)]
    low, high = interval(differences, random.Random(1))
    result = {
        "mode": arguments.mode, "views": arguments.views, "source": arguments.source, "pairs": arguments.pairs,
        "without_ns": quartiles(without), "with_ns": quartiles(with_probe), "probe_ns": quartiles(own),
        "added_ns": {**quartiles(differences), "confidence": [low, high]},
        "added_least_ns": min(with_probe) - min(without),
        "percent_of_a_core_at_100000": statistics.median(differences) / 100,
    }
    if arguments.json:
        print(json.dumps(result))
        return
    print(f"{arguments.mode}, {arguments.views} by {arguments.source}, {arguments.pairs} pairs: CPU ns per switch")
    for name in ("without_ns", "with_ns", "probe_ns"):
        print("  {0:<12}{median:7.0f}  ({low:.0f} to {high:.0f})".format(name[:-3], **result[name]))
    print(f"  added       {statistics.median(differences):7.0f}  (95 %: {low:.0f} to {high:.0f}; "
          f"of the fastest runs {result['added_least_ns']:.0f})")
    print(f"  that is {result['percent_of_a_core_at_100000']:.1f} % of a core at 100,000 switches per second")


if __name__ == "__main__":
    main()

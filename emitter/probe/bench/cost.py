#!/usr/bin/env python3
"""Measures what lifeline-probe costs: CPU time of the whole process, as a share of one core.

    cost.py [--seconds N] [--runs N]

A program holds connections to itself on 127.0.0.1; a quarter of them sends 1,000 bytes ten times a second. Runs of all
rows alternate. Prints a Markdown table with the median and range over the runs.
"""

import argparse
import json
import os
import platform
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BIN = Path(os.environ.get("LIFELINE_BIN", Path(__file__).resolve().parents[3] / "build/emitter/bin"))

HOLD = """
import resource, socket, sys, time
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
server = socket.create_server(("127.0.0.1", 0), backlog=4096)
pairs = []
for i in range(int(sys.argv[1]) // 2):
    client = socket.create_connection(server.getsockname())
    pairs.append((client, server.accept()[0]))
print("ready", flush=True)
while True:
    for client, accepted in pairs[:len(pairs) // 4]:
        client.send(b"x" * 1000)
    time.sleep(0.1)
    for client, accepted in pairs[:len(pairs) // 4]:
        accepted.recv(65536)
"""

# name, connections of the chosen process, connections of another one, options
ROWS = [
    ("host only, 1 Hz", 0, 0, ["--every", "1s"]),
    ("host only, 10 Hz", 0, 0, ["--every", "100ms"]),
    ("1,000 connections, 1 Hz", 1000, 0, ["--every", "1s"]),
    ("1,000 connections, 10 Hz", 1000, 0, ["--every", "100ms"]),
    ("10,000 connections, 1 Hz", 10000, 0, ["--every", "1s"]),
    ("10,000 connections, 10 Hz", 10000, 0, ["--every", "100ms"]),
    ("10 connections, 10 Hz, beside 10,000 of others", 10, 10000, ["--every", "100ms"]),
]


def hold(count):
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(count)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def measure(connections, others, options, seconds):
    """CPU time of the probe over the wall time, events per second, skipped samples."""
    held = [hold(count) for count in (connections, others) if count]
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("LIFELINE")}
        environment |= {"LIFELINE_URL": "null:", "LIFELINE_RING_DIR": f"{folder}/rings", "LIFELINE_SESSION_DIR": folder}
        chosen = ["--pid", str(held[0].pid)] if connections else []
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        probe = subprocess.Popen([BIN / "lifeline-probe", "--json", *options, *chosen], env=environment,
                                 stdout=subprocess.PIPE, text=True)
        time.sleep(seconds)
        probe.send_signal(signal.SIGINT)
        totals = json.loads(probe.communicate()[0])
        after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    for process in held:
        process.kill()
        process.stdout.close()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    for process in held:
        process.wait()
    return cpu / (ended - began), totals["events"] / (ended - began), totals["skipped"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    found = {row[0]: [] for row in ROWS}
    for _ in range(arguments.runs):
        for name, connections, others, options in ROWS:
            found[name].append(measure(connections, others, options, arguments.seconds))
    print(f"{os.cpu_count()} CPUs, Linux {platform.release()}, {arguments.runs} runs of {arguments.seconds:g} s\n")
    print("| what is sampled | CPU of one core, median (range) | events/s | skipped |\n|---|---|---|---|")
    for name, runs in found.items():
        cpu = [100 * run[0] for run in runs]
        print(f"| {name} | {statistics.median(cpu):.2f} % ({min(cpu):.2f} to {max(cpu):.2f}) | "
              f"{statistics.median(run[1] for run in runs):,.0f} | {max(run[2] for run in runs)} |")


if __name__ == "__main__":
    main()
